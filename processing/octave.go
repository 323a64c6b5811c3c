package processing

import (
	"cmp"
	"context"
	"image"
	"iter"
	"math"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing/internal/span"
)

// Large glints, and those of blurred pictures, are unlike anything that the network was trained on. At half or a
// quarter of the picture's size they look like others, so these sizes are searched as well.
const (
	// octaveCount is how many times the picture is halved.
	octaveCount = 2
	// leastOctave is the length that the shorter side of a reduced picture must have, in pixels.
	leastOctave = 48
	// octaveDoubt is subtracted from the score of what is found in a reduced picture, in steps of the sensitivity: what
	// looks like a glint only there is more often paint.
	octaveDoubt = 1
	// knownShare is the share of its core that must be known already for what a reduced picture shows to be left out.
	knownShare = 0.3
	// sheetDoubt is subtracted as well, twice at most, from what is even or steep, and so more likely a sheet of
	// paper, a card or overexposed paint (see look.sheet): from sheetArea pixels of the reduced picture on, fully from
	// e times as many; from an evenness of evenFrom and a steepness of steepFrom on, fully at 1.
	sheetDoubt, sheetArea = 8, 40
	evenFrom, steepFrom   = 0.88, 0.72
)

// octave is a picture reduced to half or a quarter of its size, or a part of one.
type octave struct {
	pic *Picture
	// side is the side of the squares of the whole picture, in pixels, that became pixels of pic.
	side int
	// at is where pic begins, in pixels of the picture that is searched.
	at image.Point
	// shown is what the network must see of pic; empty for all of it.
	shown image.Rectangle
}

// cutting says where a picture was cut out of a whole one, of which the reduced pictures are made.
type cutting struct {
	whole *Picture
	// inside is where findings matter, at where the picture begins, both in pixels of the whole.
	inside image.Rectangle
	at     image.Point
	// reach is how far around inside candidates look in each size, network how far those of the network alone do; the
	// place of a part must be a multiple of grain.
	reach, network, grain int
	// light is what surrounds the picture in the whole, and decides how it is brightened.
	light image.Rectangle
}

// around returns what lies up to reach pixels of the picture at 1/side of its size around inside, in pixels of the
// whole.
func (c *cutting) around(reach, side int) image.Rectangle {
	r, unit := c.inside.Inset(-reach*side), c.grain*side
	r.Min.X, r.Min.Y = max(r.Min.X, 0)/unit*unit, max(r.Min.Y, 0)/unit*unit
	return r.Intersect(image.Rect(0, 0, c.whole.Width, c.whole.Height))
}

// shown returns what the network must see of the picture at 1/side of its size that begins at at in the whole.
func (c *cutting) shown(side int, at image.Point) image.Rectangle {
	return reduced(c.around(c.network, side).Sub(at), side)
}

// exposure returns how the w × h pixels that were cut out of the whole are brightened in it. tables are theirs.
func (c *cutting) exposure(
	ctx context.Context, tables *LuminanceTables, rule whiteRule, w, h int,
) (*exposure, error) {
	pic, area := c.whole, c.light
	if pic.ToSRGB != nil {
		var err error
		if pic, err = pic.Part(area.Min.X, area.Min.Y, area.Dx(), area.Dy()).inSRGB(ctx); err != nil {
			return nil, err
		}
		area = area.Sub(area.Min)
	}
	e := newExposure(area.Dx(), area.Dy())
	if err := e.measure(ctx, surveyor{pic: pic, tables: tables}, area, rule); err != nil {
		return nil, err
	}
	first := c.at.Sub(c.light.Min).Div(whiteSide)
	return e.part(first.X, first.Y, w, h), nil
}

// reduced returns a rectangle at 1/side of its size; the lower edges are rounded up.
func reduced(r image.Rectangle, side int) image.Rectangle {
	return image.Rectangle{r.Min.Div(side), r.Max.Add(image.Pt(side-1, side-1)).Div(side)}
}

// newOctaves reduces a picture, or what surrounds it in the whole that it was cut out of.
func newOctaves(ctx context.Context, pic *Picture, from *cutting) ([]octave, error) {
	size := image.Pt(pic.Width, pic.Height)
	if from != nil {
		size = image.Pt(from.whole.Width, from.whole.Height)
	}
	var list []octave
	for n := 1; n <= octaveCount && min(size.X, size.Y)>>n >= leastOctave; n++ {
		list = append(list, octave{side: 1 << n})
	}
	if len(list) == 0 {
		return nil, nil
	}
	// The part of the smallest size covers those of the others.
	area := image.Rectangle{Max: size}
	if from != nil {
		pic, area = from.whole, from.around(from.reach, list[len(list)-1].side)
	}
	first, in := area.Min, area
	for i := range list {
		o := &list[i]
		var err error
		if pic, err = pic.halved(ctx, in); err != nil {
			return nil, err
		}
		in = image.Rect(0, 0, pic.Width, pic.Height)
		if o.pic = pic; from == nil {
			continue
		}
		part := from.around(from.reach, o.side)
		if at := reduced(part.Sub(first), o.side).Intersect(in); at != in {
			o.pic = pic.Part(at.Min.X, at.Min.Y, at.Dx(), at.Dy())
		}
		o.at, o.shown = part.Min.Sub(from.at), from.shown(o.side, part.Min)
	}
	return list, nil
}

// halved returns an area of the picture at half its size, rounded up, in 16 bits, so that pictures of any depth give
// the same; floats are clipped to 0…1. Each sample is the mean of those of 2 × 2 pixels, as they are encoded, rounded
// to nearest; beyond the right and lower edges of the area its last pixels are repeated.
func (p *Picture) halved(ctx context.Context, area image.Rectangle) (*Picture, error) {
	out := *p
	out.Width, out.Height = (area.Dx()+1)/2, (area.Dy()+1)/2
	out.U8, out.F32 = nil, nil
	out.U16 = make([]uint16, out.Width*out.Height*p.Channels)
	const rows = 16
	err := parallel.Chunks(ctx, out.Height, rows, func(from, to int) {
		length := area.Dx() * p.Channels
		var above, below []uint16
		if p.F32 != nil {
			above, below = make([]uint16, length), make([]uint16, length)
		}
		for y := from; y < to; y++ {
			first := ((area.Min.Y+2*y)*p.Width + area.Min.X) * p.Channels
			second := (min(area.Min.Y+2*y+1, area.Max.Y-1)*p.Width + area.Min.X) * p.Channels
			dst := out.U16[y*out.Width*p.Channels:][:out.Width*p.Channels]
			switch {
			case p.U8 != nil:
				const unit = math.MaxUint16 / math.MaxUint8
				halveRow(dst, p.U8[first:][:length], p.U8[second:][:length], p.Channels, unit)
			case p.U16 != nil:
				halveRow(dst, p.U16[first:][:length], p.U16[second:][:length], p.Channels, 1)
			default:
				Quantise(above, p.F32[first:][:length])
				Quantise(below, p.F32[second:][:length])
				halveRow(dst, above, below, p.Channels, 1)
			}
		}
	})
	return &out, err
}

// halveRow writes a row of a halved picture with n channels from two of the picture, whose samples count unit each.
func halveRow[S uint8 | uint16](dst []uint16, above, below []S, n int, unit uint32) {
	below = below[:len(above)]
	last := len(dst)
	if len(above) < 2*len(dst) {
		last -= n
	}
	for i, k := 0, 0; i < last; i, k = i+n, k+2*n {
		for c := k; c < k+n; c++ {
			sum := uint32(above[c]) + uint32(above[c+n]) + uint32(below[c]) + uint32(below[c+n])
			dst[i+c-k] = uint16((unit*sum + 2) >> 2)
		}
	}
	for i := last; i < len(dst); i++ {
		k := len(above) - len(dst) + i
		dst[i] = uint16((unit*(uint32(above[k])+uint32(below[k])) + 1) >> 1)
	}
}

// searchesOctaves reports whether reduced pictures are searched as well. Only the network needs that: the windows of
// the classical search can be scaled.
func (d *detector) searchesOctaves() bool { return d.ruleID != RuleClassic && !d.reduced }

// searchOctaves returns the candidates of the reduced pictures, with their pixels in the whole one. A remote backend
// searches the next one while the host measures the candidates of the last.
func (d *detector) searchOctaves(list []octave) ([]candidate, error) {
	var waiting []func() ([]candidate, error)
	var tables *LuminanceTables
	var err error
	for i := 0; i < len(list) && err == nil; i++ {
		var finish func() ([]candidate, error)
		if finish, tables, err = d.beginOctave(&list[i], tables); err != nil {
			break
		}
		if d.remote == nil {
			// Memory is not needed for the planes of all sizes at once.
			found, failed := finish()
			err, finish = failed, func() ([]candidate, error) { return found, failed }
		}
		waiting = append(waiting, finish)
	}
	var all []candidate
	for _, finish := range waiting {
		found, failed := finish()
		all, err = append(all, found...), cmp.Or(err, failed)
	}
	return all, err
}

// beginOctave searches a reduced picture and also returns the tables that it used, which are the same for all of them;
// tables is nil if they are not known yet. finish, which must be called, returns the candidates.
func (d *detector) beginOctave(
	o *octave, tables *LuminanceTables,
) (finish func() ([]candidate, error), used *LuminanceTables, err error) {
	sub := &detector{
		ctx: d.ctx, be: d.be, w: o.pic.Width, h: o.pic.Height, p: d.p, decision: d.decision, rule: d.rule,
		ruleID: d.ruleID, model: d.model, vectors: d.vectors, frugal: d.frugal, remote: d.remote, known: new(float64),
		tables: tables,
		// A picture that is dark as a whole is brightened at full size only.
		exposure: newExposure(o.pic.Width, o.pic.Height), reduced: true, shown: o.shown,
	}
	work := d.ownWork() / d.wholeWork() / float64(o.side*o.side)
	if d.progress != nil {
		sub.progress = func(stage message.Message, done float64) { d.progress(stage, min(d.done+done*work, 1)) }
	}
	wait, err := sub.beginCandidates(o.pic)
	if err != nil {
		sub.release()
		return nil, nil, err
	}
	d.done += work
	return func() ([]candidate, error) {
		defer sub.release()
		cands, err := wait()
		return d.keepReduced(o, cands), err
	}, sub.tables, nil
}

// keepReduced turns the candidates of a reduced picture into those of the whole one, and returns those that may matter.
func (d *detector) keepReduced(o *octave, cands []candidate) []candidate {
	parallel.Split(len(cands), 512, func(from, to int) {
		for i := from; i < to; i++ {
			cands[i].spans = o.enlarged(cands[i].spans, d.w, d.h)
		}
	})
	var found []candidate
	for i := range cands {
		c := &cands[i]
		if len(c.spans) == 0 {
			continue
		}
		c.sheet = sheetDoubt * c.look.sheet()
		c.score -= octaveDoubt + c.sheet
		if c.score+c.sheet < d.least {
			d.hidden = append(d.hidden, c.spans)
			continue
		}
		// The rules of the search know only what it found at full size.
		c.searched, c.side = searched{}, o.side
		found = append(found, *c)
	}
	return found
}

// sheet returns how much a candidate of a reduced picture looks like a sheet, 0…2. A glint has a peak, and fades out on
// all sides: its core rises by less than its largest rise on average, and covers only a part of it.
func (t *look) sheet() float64 {
	if t.area <= sheetArea {
		return 0
	}
	above := func(v, from float64) float64 { return min(max((v-from)/(1-from), 0), 1) }
	even, steep := t.rise/math.Max(t.peakRise, 0.01), t.core/t.area
	return math.Min(math.Log(t.area/sheetArea), 1) * (above(even, evenFrom) + above(steep, steepFrom))
}

// enlarged returns the pixels of a w × h picture that spans of the reduced one, in reading order, cover.
func (o *octave) enlarged(spans []Span, w, h int) []Span {
	side, left, top := int32(o.side), int32(o.at.X), int32(o.at.Y)
	var large []Span
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].Y == spans[0].Y {
			n++
		}
		from := spans[0].Y*side + top
		for y := max(from, 0); y < min(from+side, int32(h)); y++ {
			for _, s := range spans[:n] {
				if x0, x1 := max(s.X0*side+left, 0), min(s.X1*side+left, int32(w)); x0 < x1 {
					large = append(large, Span{Y: y, X0: x0, X1: x1})
				}
			}
		}
		spans = spans[n:]
	}
	return large
}

// outlineOctaves gives the candidates of reduced pictures, found, their outlines in the picture itself, and appends to
// those of the picture what is not among them already.
func (d *detector) outlineOctaves(fine, found []candidate) ([]candidate, error) {
	if len(found) == 0 {
		return fine, nil
	}
	taken := span.NewSet(d.w, d.h)
	for _, list := range [][]candidate{fine, found} {
		parallel.Split(len(list), 512, func(from, to int) {
			for i := from; i < to; i++ {
				taken.Add(1, list[i].spans)
			}
		})
	}
	parallel.Split(len(d.hidden), 512, func(from, to int) { taken.Add(1, d.hidden[from:to]...) })
	for i := range found {
		found[i].shape = sumsOf(found[i].spans)
	}
	cores := make([][]Span, len(found))
	order, ends := surveyTasks(found)
	err := parallel.Workers(d.ctx, 0, len(ends)-1, func(tasks iter.Seq[int]) {
		s := surveyor{pic: d.seen, tables: d.tables, taken: taken, rule: d.outline(), exposure: d.exposure}
		for task := range tasks {
			for _, i := range order[ends[task]:ends[task+1]] {
				c := &found[i]
				c.look, c.spans, cores[i] = s.outlineAndCore(c.spans)
				c.shape = sumsOf(c.spans)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	all := fine
	for side := 2; side <= 1<<octaveCount; side *= 2 {
		above := make([]int, d.h+1) // how many rows above each one matter
		for i := range found {
			for _, s := range cores[i] {
				if found[i].side == side {
					above[s.Y+1] = 1
				}
			}
		}
		for y := range d.h {
			above[y+1] += above[y]
		}
		finer := newOverlay(d.h, all, func(c *candidate) bool {
			return c.score+c.sheet >= d.least && d.fits(c) && above[c.shape.Base] > above[c.shape.Top]
		})
		for i := range found {
			c := &found[i]
			if c.side != side || finer.knows(cores[i], c.score) {
				continue
			}
			for k := range c.spans {
				c.spans[k].Label = uint32(len(all))
			}
			all = append(all, *c)
		}
	}
	return all, nil
}

// overlay finds the candidates that have a pixel, of those that may count as glare.
type overlay struct {
	cands []candidate
	// spans are in reading order; those of row y are spans[first[y]:first[y+1]].
	spans []Span
	first []int
}

// newOverlay returns that of the candidates of a picture with h rows for which may holds.
func newOverlay(h int, cands []candidate, may func(c *candidate) bool) *overlay {
	spans := spansOf(cands, func(i int) bool { return may(&cands[i]) })
	o := &overlay{cands: cands, spans: spans, first: make([]int, h+1)}
	for _, s := range o.spans {
		o.first[s.Y+1]++
	}
	for y := range h {
		o.first[y+1] += o.first[y]
	}
	return o
}

// knows reports whether at least knownShare of the pixels of the core of a candidate with that score belong to
// candidates that count as glare where it does, or at the default sensitivity, or would if they did not look like
// sheets: reduced further, a sheet looks less like one. As that does not depend on the sensitivity, a higher one never
// loses a finding. In a cluster of small glints, these are the core of what a reduced picture shows.
func (o *overlay) knows(core []Span, score float64) bool {
	least := min(score, 0)
	var pixels, known int
	for _, s := range core {
		pixels += int(s.X1 - s.X0)
		for _, f := range o.spans[o.first[s.Y]:o.first[s.Y+1]] {
			c := &o.cands[f.Label]
			if x0, x1 := max(s.X0, f.X0), min(s.X1, f.X1); x0 < x1 && c.score+c.sheet >= least {
				known += int(x1 - x0)
			}
		}
	}
	return float64(known) >= knownShare*float64(pixels)
}
