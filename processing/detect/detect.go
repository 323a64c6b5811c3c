// Package detect finds the glare on a picture. Its steps are functions of their arguments: the colours of the picture,
// the network's logits and kinds (Glints), their components (Label), what each sums up to (MeasureGlints), its outline,
// and the decision, which is a threshold of strength. The first four run on the device; a decision needs only the Table
// that they make, so that another sensitivity takes no second search. What backends do in different ways is a plan.
//
// It imports no correction and holds no state.
package detect

import (
	"context"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/network"
)

// Options of Detect besides the parameters.
type Options struct {
	// Region limits the search; nil is the whole picture. Detection sees the surroundings as well: the mask is that of
	// the whole picture, clipped.
	Region *processing.Region
	// Progress may be nil.
	Progress processing.Progress
	// Network finds the glints and Decision scores them; nil is what the program was built with.
	Network  *network.Model
	Decision *processing.Decision
	// Vectors: the components get vectors, for learning.
	Vectors bool
	// Table, if not nil, is that of an earlier detection of the same picture; the search is left out if it serves.
	Table *Table

	// scale is that of the picture of which this is a part; 0 if it is the whole.
	scale scale
}

// Result is what Detect returns.
type Result struct {
	Found
	// Table holds all components that a decision may accept; nil with the classical detector.
	Table *Table
}

// Detect finds the glare on pic. It returns ctx.Err() within 100 ms of a cancel, and an error for a picture, parameters
// or a region that are not valid.
func Detect(
	ctx context.Context, be processing.Backend, pic *processing.Picture, p processing.Params, o Options,
) (*Result, error) {
	if err := o.complete(pic, p); err != nil {
		return nil, err
	}
	be.Timings() // what an earlier, failed job left
	r := &Result{}
	r.Params, r.Device = p.Resolved(), be.Name()
	// The mask is cleared while the device works.
	mask := make(chan *processing.Mask, 1)
	go func() { mask <- processing.NewMask(pic.Width, pic.Height) }()
	var spans []processing.Span
	if p.UsesNetwork() {
		if r.Table = o.Table; !r.Table.Serves(p) {
			var err error
			if r.Table, err = Search(ctx, be, pic, o); err != nil {
				return nil, err
			}
		}
		spans, r.Findings = Decide(r.Table, o.Decision, p, o.Region)
	} else {
		c, err := DetectClassic(ctx, be, pic, p, o.Progress)
		if err != nil {
			return nil, err
		}
		if r.Params.Mode = processing.Manual; p.Mode == processing.Adaptive {
			r.Chosen = c.Chosen()
		}
		spans = c.Spans
		if r.Findings, err = classicFindings(ctx, pic, spans, o.Region); err != nil {
			return nil, err
		}
	}
	end := o.stage(be, message.Of("cleanup"), 0.97)
	r.Mask = <-mask
	err := CleanUp(ctx, be, r.Mask, spans, p, o.Region)
	end()
	r.Timings = be.Timings()
	return r, err
}

// Search makes the table of a picture.
func Search(ctx context.Context, be processing.Backend, pic *processing.Picture, o Options) (*Table, error) {
	if err := o.complete(pic, processing.DefaultParams()); err != nil {
		return nil, err
	}
	pic, seen, scale, err := o.seen(ctx, pic)
	if err != nil {
		return nil, err
	}
	s := newPlanes(ctx, be, o.Progress)
	defer s.release()
	colours, found, err := s.plan.find(s, seen, &o)
	if err != nil {
		return nil, err
	}
	found.spans = scale.enlarged(found.spans, pic.Width, pic.Height)
	end := o.stage(be, message.Of("outlines"), 0.96)
	defer end()
	t, err := outlined(ctx, pic, found, scale)
	if err == nil && o.Vectors {
		err = s.describe(t, colours, o.Network, scale)
	}
	return t, err
}

// complete checks the arguments of a detection and sets the defaults of the options.
func (o *Options) complete(pic *processing.Picture, p processing.Params) (err error) {
	if err := valid(pic, p); err != nil {
		return err
	}
	if o.Region != nil {
		if err := o.Region.Validate(pic.Width, pic.Height); err != nil {
			return err
		}
	}
	if o.Decision == nil {
		if o.Decision, err = processing.DefaultDecision(); err != nil {
			return err
		}
	}
	if o.Network == nil {
		if o.Network, err = network.Default(); err != nil {
			return err
		}
	}
	if p.Learned == nil {
		return nil
	}
	if !p.UsesNetwork() {
		return message.Errorf("the learned adjustment needs the network; choose the adaptive mode and the " +
			"detector auto")
	}
	o.Vectors = true
	return p.Learned.Validate(o.Network)
}

// stage starts a named stage of the backend and reports the progress; done is the share of the whole before it.
func (o *Options) stage(be processing.Backend, name message.Message, done float64) (end func()) {
	o.progress(name, done)
	return be.Stage(name.String())
}

// progress reports the progress if somebody wants to know it.
func (o *Options) progress(stage message.Message, done float64) {
	if o.Progress != nil {
		o.Progress(stage, done)
	}
}
