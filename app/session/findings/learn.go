package findings

import (
	"context"
	"image"
	"maps"
	"slices"

	"blik/app/document"
	"blik/app/session"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
	"blik/processing/learn"
	"blik/processing/network"
)

// Teaching is the result of learning from decisions.
type Teaching struct {
	*learn.Result
	// Pictures is the number of pictures whose decisions were learned from.
	Pictures int
	// Effect is how it changes scores, and the findings of the open picture; zero if nothing was learned.
	Effect learn.Effect

	spots []learn.Spot
}

// Values of the mask that decided returns; see learn.Decide.
const (
	decidedPaint, undecided, decidedGlare = 0, 128, 255
)

// decided returns the decisions as a mask: what was kept or painted by hand is glare, what was ignored is paint, and
// about everything else nothing is known.
func decided(doc *document.Document) *processing.Mask {
	size := doc.Size()
	m := processing.NewMask(size.X, size.Y)
	for i := range m.Pix {
		m.Pix[i] = undecided
	}
	set := func(runs []processing.Run, v uint8) {
		for _, r := range runs {
			row := m.Pix[r.Y*m.Width:]
			for x := r.X0; x < r.X1; x++ {
				row[x] = v
			}
		}
	}
	for _, s := range doc.Ignored() {
		set(s.Runs, decidedPaint)
	}
	for _, s := range doc.Spots() {
		if s.Decision == document.Kept || !s.Detected {
			at := doc.FirstPixel(s)
			set(doc.SpotRuns(at.X, at.Y), decidedGlare)
		}
	}
	return m
}

// Learner adapts what counts as glare to the user's decisions.
type Learner struct {
	s      *session.Session
	engine session.Engine
	// lessons holds the decisions that were learned from, by the path of the picture.
	lessons map[string][]learn.Spot
}

// NewLearner returns a Learner for the pictures of a session.
func NewLearner(s *session.Session, e session.Engine) *Learner { return &Learner{s: s, engine: e} }

// Learn adapts what counts as glare to the user's decisions about the findings of this picture, and of pictures opened
// before on which Learn was called. It changes nothing until preview.Preview.UseLearned.
func (l *Learner) Learn(done func(*Teaching, error)) {
	l.s.Settle()
	doc, sensitivity, table := l.s.Document(), l.s.Settings().Params.Sensitivity, l.s.Table()
	marked := decided(doc)
	lessons := maps.Clone(l.lessons)
	if lessons == nil {
		lessons = map[string][]learn.Spot{}
	}
	work := func(ctx context.Context, report processing.Progress) (*Teaching, error) {
		if table == nil || !table.Described {
			var err error
			table, _, err = l.engine.Search(ctx, doc.Picture(), detect.Options{Progress: report, Vectors: true})
			if err != nil {
				return nil, err
			}
		}
		decision, err := processing.DefaultDecision()
		if err != nil {
			return nil, err
		}
		lessons[doc.Path()] = learn.Decide(table, decision, marked, sensitivity, learn.Parts(marked))
		t, err := teach(ctx, lessons)
		if err == nil && t.Learned != nil {
			t.Effect = learn.EffectOn(t.Learned, t.spots, table, decision, sensitivity)
		}
		return t, err
	}
	session.Begin(l.s, session.Other, work, func(*Teaching) (image.Rectangle, error) {
		l.lessons = lessons
		l.s.KeepTable(table)
		return image.Rectangle{}, nil
	}, done)
}

// teach learns from decisions, given by the path of the picture. The error says if there are too few.
func teach(ctx context.Context, lessons map[string][]learn.Spot) (*Teaching, error) {
	var spots []learn.Spot
	t := &Teaching{}
	glare := 0
	for i, path := range slices.Sorted(maps.Keys(lessons)) {
		if len(lessons[path]) > 0 {
			t.Pictures++
		}
		for _, spot := range lessons[path] {
			if len(lessons) > 1 {
				spot.Group = i
			}
			if spot.Glare {
				glare++
			}
			spots = append(spots, spot)
		}
	}
	if glare < learn.Least || len(spots)-glare < learn.Least {
		return nil, message.Errorf("nothing can be learned yet: %d decisions say glare and %d paint, at least %d of "+
			"each are needed; keep findings that are glare and ignore those that are paint", glare, len(spots)-glare,
			learn.Least)
	}
	model, err := network.Default()
	if err != nil {
		return nil, err
	}
	basis, _ := processing.LearnedBasis(model)
	t.spots = spots
	t.Result, err = learn.From(ctx, spots, basis)
	return t, err
}
