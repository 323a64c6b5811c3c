package processing

import (
	"slices"

	"blik/processing/network"
)

// Memory keeps what a detection measured of a picture: its candidates, and a byte for each pixel. A further Detect on
// the same picture, with changes only to parameters that leave the candidates as they are, such as the sensitivity,
// then only has to decide; its result is the same as without. The zero value is empty. It serves one Detect at a time.
type Memory struct {
	of       measured
	filled   bool
	cands    []candidate
	searched int
	noise    float64
	// exposure is how the picture was brightened; nil in manual mode.
	exposure *exposure
	// classes are those of the last pass of the search, grown the spans of its components; nil if there was no search.
	classes []uint8
	grown   []Span
}

// measured is everything that candidates depend on.
type measured struct {
	pic                                      *Picture
	device, rule                             string
	model                                    *network.Model
	decision                                 *Decision
	learned                                  *Learned
	mode                                     Mode
	vectors                                  bool
	scale, visible, relative, contrast, core float64
	window, level                            int
	// limits are what decides which candidates of reduced pictures are known already; zero where none are searched.
	limits limits
}

// limits bound the area and the elongation of findings.
type limits struct {
	minArea, maxArea int
	maxElongation    float64
}

func (p *Params) limits() limits { return limits{p.MinArea, p.MaxArea, p.MaxElongation} }

// measured returns what the candidates of this run depend on.
func (d *detector) measured(pic *Picture) measured {
	m := measured{
		pic: pic, device: d.be.Name(), rule: d.ruleID, mode: d.p.Mode, model: d.model, decision: d.decision,
		learned: d.p.Learned, vectors: d.vectors, scale: d.p.Scale, visible: d.p.Visible, relative: d.p.Relative,
		contrast: d.p.Contrast, core: d.p.Core, window: d.p.Window, level: d.p.Level,
	}
	if d.searchesOctaves() {
		m.limits = d.p.limits()
	}
	return m
}

// Serves reports whether a detection of pic with p only has to decide about the candidates that one with was left in
// the memory.
func (m *Memory) Serves(pic *Picture, was, p Params) bool {
	if m == nil || !m.filled || m.of.pic != pic {
		return false
	}
	of := func(p Params) Params {
		if p.Mode == Adaptive {
			p = adaptive(p)
		}
		q := Params{
			Mode: p.Mode, Detector: p.Detector, Scale: p.Scale, Window: p.Window, Visible: p.Visible,
			Relative: p.Relative, Contrast: p.Contrast, Level: p.Level, Core: p.Core, Learned: p.Learned,
		}
		if m.of.rule != RuleClassic {
			q.MinArea, q.MaxArea, q.MaxElongation = p.MinArea, p.MaxArea, p.MaxElongation
		}
		return q
	}
	return of(was) == of(p)
}

// exposed returns how a detection of pic by a rule brightened it, nil if that is not known.
func (m *Memory) exposed(pic *Picture, rule string, mode Mode) *exposure {
	if m == nil || !m.filled || m.of.pic != pic || m.of.rule != rule || m.of.mode != mode {
		return nil
	}
	return m.exposure
}

// recall takes candidates from the memory if it holds them, and makes the planes that the decision needs.
func (d *detector) recall(m *Memory, pic *Picture) (cands []candidate, ok bool, err error) {
	if m == nil || !m.filled || m.of != d.measured(pic) {
		return nil, false, nil
	}
	d.noise, d.searched, d.exposure = m.noise, m.searched, m.exposure
	if pic, err = d.allocate(pic); err != nil {
		return nil, false, err
	}
	if err := d.stage(stepLuminance(), func() error {
		return d.do(Luminance{Y: d.y, V: d.v, Picture: pic, Tables: d.tables})
	}); err != nil {
		return nil, false, err
	}
	if m.classes != nil {
		if err := d.be.Upload(d.ctx, d.cls, Samples{U8: m.classes}); err != nil {
			return nil, false, err
		}
		if err := d.stage(stepComponents(), d.label); err != nil {
			return nil, false, err
		}
		d.spans = m.grown
	}
	return m.cands, true, nil
}

// remember keeps candidates that were just measured.
func (d *detector) remember(m *Memory, pic *Picture, cands []candidate) error {
	if m == nil {
		return nil
	}
	*m = Memory{
		of: d.measured(pic), filled: true, cands: cands, searched: d.searched, noise: d.noise, exposure: d.exposure,
	}
	if d.grown == nil {
		return nil
	}
	var host Samples
	grown, err := Evaluate(d.ctx, d.be, Spans{Components: d.grown})
	if err == nil {
		host, err = d.be.Host(d.ctx, d.cls)
	}
	if err != nil {
		*m = Memory{}
		return err
	}
	m.classes, m.grown = slices.Clone(host.U8), slices.Clone(grown)
	return nil
}
