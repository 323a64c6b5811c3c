package session_test

import (
	"context"
	"strings"
	"testing"

	"blik/app/document"
	"blik/app/session/findings"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// taught is an engine that returns the components of taughtDocument.
type taught struct {
	engineOf
	asked int
}

// spotsTaught is the number of findings of taughtDocument. Every other one is paint.
const spotsTaught = 40

func taughtRun(i int) processing.Run {
	x, y := 3+4*(i%20), 5+15*(i/20)
	return processing.Run{Y: y, X0: x, X1: x + 2}
}

func (e *taught) Search(_ context.Context, _ *processing.Picture, o detect.Options) (
	*detect.Table, *message.Message, error,
) {
	e.asked++
	decision, err := processing.DefaultDecision()
	if err != nil {
		return nil, nil, err
	}
	// By default all count as glare, with little certainty.
	strength := 1.1 * decision.Strengths[len(decision.Strengths)/2]
	t := &detect.Table{Width: 90, Height: 30, Described: o.Vectors}
	for i := range spotsTaught {
		v := make([]float64, 12)
		v[0], v[1] = float64(i%3), float64(i%5)
		if i%2 == 0 {
			v[2] = 4
		}
		r := taughtRun(i)
		t.Components = append(t.Components, detect.Component{Area: 2, Strength: strength, Vector: v,
			Spans: []processing.Span{{Y: int32(r.Y), X0: int32(r.X0), X1: int32(r.X1)}}})
	}
	return t, nil, nil
}

func taughtDocument(t *testing.T, path string) *document.Document {
	t.Helper()
	d, err := document.New(path, testpic.Flat(90, 30, 3, 90))
	if err != nil {
		t.Fatal(err)
	}
	r := &detect.Found{Mask: processing.NewMask(90, 30)}
	for i := range spotsTaught {
		run := taughtRun(i)
		r.Findings = append(r.Findings, detect.Finding{ID: i + 1, Left: run.X0, Top: run.Y, Width: 2, Height: 1, Area: 2,
			Runs: []processing.Run{run}})
		r.Mask.Pix[run.Y*90+run.X0], r.Mask.Pix[run.Y*90+run.X0+1] = 255, 255
	}
	if _, err := d.ApplyResult(r, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

// decideAll keeps glare and ignores paint among the first n findings.
func decideAll(d *document.Document, n int) {
	var keep, ignore []document.Spot
	for i, s := range d.Spots()[:n] {
		if i%2 == 0 {
			keep = append(keep, s)
		} else {
			ignore = append(ignore, s)
		}
	}
	d.Keep(keep)
	d.Ignore(ignore)
}

func TestLearn(t *testing.T) {
	s := newFake(t, func(m *made) { m.engine = &taught{} })
	learned := func() (*findings.Teaching, error) {
		var got *findings.Teaching
		var failed error
		s.Learn(func(l *findings.Teaching, err error) { got, failed = l, err })
		for s.Busy() {
			(<-s.queue)()
		}
		return got, failed
	}
	s.showDocument(taughtDocument(t, "/a.png"))
	if _, err := learned(); err == nil || !strings.Contains(err.Error(), "0 decisions say glare and 0 paint") {
		t.Errorf("without decisions: %v", err)
	}
	decideAll(s.Document(), 4)
	if _, err := learned(); err == nil {
		t.Error("learned from two decisions of each kind")
	}
	decideAll(taughtDocument(t, ""), 4)
	s.UseLearned(&processing.Learned{})
	s.rest()
	s.showDocument(taughtDocument(t, "/a.png"))
	decideAll(s.Document(), spotsTaught)
	got, err := learned()
	if err != nil {
		t.Fatal(err)
	}
	if got.Learned == nil || got.Glare != 20 || got.Paint != 20 || got.Pictures != 1 || got.Groups < 2 ||
		got.Effect.Glare <= got.Effect.Paint || got.Default.Wrong() != 20 ||
		got.Effect.Gained != 0 || got.Effect.Lost < 10 {
		t.Fatalf("learned %+v", got)
	}
	s.UseLearned(got.Learned)
	s.rest()
	if s.Settings().Params.Learned != got.Learned {
		t.Error("what was learned is not used")
	}
	// Decisions about the previous picture count as well.
	s.showDocument(taughtDocument(t, "/b.png"))
	decideAll(s.Document(), 8)
	if got, err = learned(); err != nil || got.Pictures != 2 || got.Glare != 24 || got.Groups != 2 {
		t.Errorf("from two pictures: %+v, %v", got, err)
	}
}
