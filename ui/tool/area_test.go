package tool_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/app/document"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/ui/tool"
)

// surface records what an area does.
type surface struct {
	areas []*processing.Region
	ways  []document.Combine
	shown int
}

func (s *surface) FillShape(r *processing.Region, how document.Combine) {
	s.areas, s.ways = append(s.areas, r), append(s.ways, how)
}
func (s *surface) DraftChanged() { s.shown++ }

// beginnings are presses that add, subtract and intersect an area.
func beginnings(x, y float64) []tool.Event {
	mark, take, keep := at(x, y), at(x, y), at(x, y)
	take.Secondary, keep.Shift = true, true
	return []tool.Event{mark, take, keep}
}

// ways are the meanings of beginnings.
var ways = []document.Combine{document.Add, document.Subtract, document.Intersect}

func TestLasso(t *testing.T) {
	t.Parallel()
	s := &surface{}
	l := tool.NewArea(tool.Freehand, s)
	// A move without a press does nothing.
	l.Move(at(3, 3))
	l.Release()
	for _, begin := range beginnings(1, 1) {
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
	if !slices.Equal(s.ways, ways) {
		t.Errorf("ways %v", s.ways)
	}
	// A click and a cancelled drag change nothing and leave no outline.
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

// A dragged rectangle or ellipse has whole pixels, whatever the direction; one without an inside is dropped.
func TestDraggedAreas(t *testing.T) {
	t.Parallel()
	for shape, want := range map[tool.AreaShape]string{
		tool.Rectangle: "rect:11,5,29,36", tool.Ellipse: "ellipse:11,5,29,36",
	} {
		s := &surface{}
		a := tool.NewArea(shape, s)
		for _, begin := range beginnings(40.4, 5.2) {
			a.Press(begin)
			a.Move(at(70, 70))
			a.Move(at(10.6, 41.3))
			a.Release()
		}
		a.Press(at(5, 5))
		a.Move(at(50, 5.3))
		a.Release()
		a.Press(at(5, 5))
		a.Release()
		if !slices.Equal(s.ways, ways) {
			t.Fatalf("%s: ways %v", want, s.ways)
		}
		for _, r := range s.areas {
			if r.String() != want {
				t.Errorf("%s, want %s", r, want)
			}
		}
	}
}

// A polygon is clicked corner by corner; the first press decides how it changes the mask.
func TestPolygonArea(t *testing.T) {
	t.Parallel()
	const triangle = "polygon:10,10,50,10,30,40"
	corner := func(a *tool.Area, x, y float64) {
		a.Hover(at(x, y))
		a.Press(at(x, y))
		a.Release()
	}
	for i, begin := range beginnings(10, 10) {
		for name, end := range map[string]func(a *tool.Area){
			"first corner": func(a *tool.Area) { corner(a, 10.5, 10) },
			"right click":  func(a *tool.Area) { a.Press(beginnings(90, 90)[1]); a.Release() },
			"Enter":        func(a *tool.Area) { a.Hover(at(99, 99)); a.Finish() },
			"corner back": func(a *tool.Area) {
				corner(a, 80, 80)
				a.Back()
				a.Finish()
			},
		} {
			s := &surface{}
			a := tool.NewArea(tool.Polygon, s)
			a.Press(begin)
			a.Release()
			corner(a, 50, 10)
			corner(a, 30, 40)
			a.Cancel()
			end(a)
			if len(s.areas) != 1 || s.areas[0].String() != triangle || s.ways[0] != ways[i] {
				t.Errorf("%s: %v, ways %v", name, s.areas, s.ways)
			}
			if a.Open() || a.Draft() != nil {
				t.Errorf("%s: a draft remains", name)
			}
		}
	}
	s := &surface{}
	a := tool.NewArea(tool.Polygon, s)
	for range 3 {
		corner(a, 10, 10)
		corner(a, 50, 10)
		a.Back()
		a.Back()
		a.Back()
		corner(a, 10, 10)
		a.Finish()
		corner(a, 10, 10)
		corner(a, 50, 10)
		corner(a, 30, 40)
		a.Abandon()
		a.Finish()
	}
	if len(s.areas) > 0 || a.Open() {
		t.Errorf("areas %v from polygons without corners, or dropped ones", s.areas)
	}
}

// After any sequence of events, a document either accepts or refuses each area, and no draft is left.
func TestAreasSurviveAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const side = 40
		d, err := document.New("", testpic.Flat(side, side, 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		s := &surface{}
		a := tool.NewArea(tool.AreaShape(rapid.IntRange(0, 3).Draw(t, "shape")), s)
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			e := at(rapid.Float64Range(-1e9, 1e9).Draw(t, "far"), rapid.Float64Range(-5, 50).Draw(t, "y"))
			if rapid.Bool().Draw(t, "near") {
				e.At.X = rapid.Float64Range(-5, 50).Draw(t, "x")
			}
			e.Secondary, e.Shift = rapid.Bool().Draw(t, "secondary"), rapid.Bool().Draw(t, "shift")
			do := rapid.SampledFrom([]func(){func() { a.Press(e) }, func() { a.Move(e) }, a.Release, a.Cancel,
				func() { a.Hover(e) }, a.Finish, a.Back}).Draw(t, "event")
			do()
			tool.Outline(a.Draft())
		}
		a.Finish()
		a.Release()
		if a.Open() || a.Draft() != nil {
			t.Fatal("a draft remains")
		}
		for i, r := range s.areas {
			// An area outside the picture is refused without a change.
			before := d.Generation()
			if _, err := d.FillShape(r, s.ways[i]); err != nil && d.Generation() != before {
				t.Fatalf("%s changed the mask, with the error %v", r, err)
			}
		}
	})
}
