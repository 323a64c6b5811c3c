package tool_test

import (
	"testing"

	"blik/app/document"
	"blik/processing"
	"blik/ui/tool"
)

// surface records what a lasso does.
type surface struct {
	areas []*processing.Region
	ways  []document.Combine
	shown int
}

func (s *surface) FillShape(r *processing.Region, how document.Combine) {
	s.areas, s.ways = append(s.areas, r), append(s.ways, how)
}
func (s *surface) DraftChanged() { s.shown++ }

func TestLasso(t *testing.T) {
	s := &surface{}
	l := tool.NewLasso(s)
	// Nothing happens without a press.
	l.Move(at(3, 3))
	l.Release()
	secondary, shift := at(1, 1), at(1, 1)
	secondary.Secondary, shift.Shift = true, true
	for _, begin := range []tool.Event{at(1, 1), secondary, shift} {
		l.Press(begin)
		l.Move(at(20, 1))
		l.Move(at(20.1, 1)) // too near to count
		l.Move(at(20, -30)) // beside the picture
		if l.Draft() == nil || len(l.Draft().Points) != 3 {
			t.Fatalf("draft %v", l.Draft())
		}
		l.Release()
	}
	if len(s.areas) != 3 || len(s.areas[0].Points) != 3 || s.areas[0].Shape != processing.PolygonShape {
		t.Fatalf("areas %v", s.areas)
	}
	for i, want := range []document.Combine{document.Add, document.Subtract, document.Intersect} {
		if s.ways[i] != want {
			t.Errorf("area %d: way %d", i, s.ways[i])
		}
	}
	// A click and what is cancelled change nothing, and nothing stays to be seen.
	l.Press(at(1, 1))
	l.Move(at(2, 2))
	l.Release()
	l.Press(at(1, 1))
	l.Move(at(20, 1))
	l.Move(at(20, 20))
	shown := s.shown
	l.Cancel()
	if len(s.areas) != 3 || l.Draft() != nil || s.shown == shown {
		t.Errorf("%d areas, draft %v", len(s.areas), l.Draft())
	}
}
