package processing

import (
	"math"
	"slices"

	"blik/processing/internal/span"
	"blik/processing/internal/tones"
)

// look is what a candidate looks like in the picture itself: its rise over the ground around it, its colour and its
// form. It is measured on the host, from the picture's samples, and so is the same for every backend.
type look struct {
	// core counts the pixels whose rise is at least coreShare of the largest, area all pixels of the candidate.
	core, area float64
	// rise is the mean over the core, peakRise the largest rise, and ground the mean of the ground around: in linear
	// light, 0…1, of the luminance or, if that rises more, of the darkest channel.
	rise, peakRise, ground float64
	// spread is the standard deviation of the ground's luminance, flat that of the rise in the core.
	spread, flat float64
	// crowd is the share of the pixels around that rise by more than half of the largest rise.
	crowd float64
	// chroma is (max − min)/max of the mean rise of red, green and blue in the core; red and blue the logarithms of
	// their ratios to green.
	chroma, red, blue float64
	// saturation and groundSaturation are 1 − min/max of the mean colours of core and ground.
	saturation, groundSaturation float64
	// clipped is the share of the core whose darkest channel exceeds nearlyWhite, darkest its highest value.
	clipped, darkest float64
	// elongation and fill describe the form: the ratio of its axes and the share of its bounding box.
	elongation, fill float64
	// peak is the highest level of luminance before the picture was brightened, 8-bit sRGB.
	peak uint8
	// white is the level of white in the surroundings before the picture was brightened, as a share of white.
	white float64
}

const (
	coreShare   = 0.45
	nearlyWhite = 0.93
	// nearMargin is how far around a candidate the ground is measured, in pixels; wideMargin is used if other
	// candidates leave too little of it.
	nearMargin, wideMargin = 9, 25
	// enoughGround is the least number of pixels of ground within nearMargin.
	enoughGround = 40
)

// large returns ln(area/pixels), at least 0.
func (t *look) large(pixels float64) float64 { return math.Log(math.Max(t.area/pixels, 1)) }

// light is a pixel in linear light of 16 bits: colour, luminance and the darkest channel.
type light struct{ r, g, b, y, dark uint16 }

func (p *light) tone() tones.Tone { return tones.Of(p.y, p.dark) }

// surveyor measures the surroundings of candidates. One goroutine uses it at a time.
type surveyor struct {
	pic    *Picture
	tables *LuminanceTables
	// taken are the pixels of all candidates and their neighbours.
	taken *span.Set
	rule  outlineRule
	// exposure is how the picture was brightened; nil if it was not.
	exposure *exposure

	x0, y0, w, h int
	tones        []tones.Tone
	own          []uint8
	reader       tones.Reader
	// free has a bit for each pixel of the window that belongs to the ground.
	free    []uint64
	line    []light
	sixteen []uint16
	// touched keeps the reads of touch from being optimised away.
	touched uint8
}

// outlineRule decides which pixels of a component belong to the candidate: those that rise over the ground by more than
// the larger of absolute, a share of white, and relative, a share of the ground; or by more than share of the largest
// rise, if that is less.
type outlineRule struct {
	absolute, relative, share float64
}

// Values of surveyor.own.
const (
	beside = 1 << iota
	inside
)

// survey measures the candidate with the given pixels, in reading order. If trim is true it first drops the pixels
// outside the outline; it returns the pixels that are left.
func (s *surveyor) survey(spans []Span, trim bool) (look, []Span) {
	g := s.ground(spans)
	if trim {
		spans = s.outline(spans, g)
	}
	return s.measure(spans, g), spans
}

// outlineAndCore is survey with trim, and also returns the pixels of the core, without scraps.
func (s *surveyor) outlineAndCore(spans []Span) (t look, outline, core []Span) {
	g := s.ground(spans)
	core = s.trim(spans, g.half, levelAbove(g.at, coreShare*g.high))
	s.markInside(spans)
	outline = s.outline(spans, g)
	return s.measure(outline, g), outline, core
}

// outline returns the pixels of a candidate inside its outline, without scraps.
func (s *surveyor) outline(spans []Span, g ground) []Span {
	least := math.Min(math.Max(s.rule.absolute*white, s.rule.relative*g.at), s.rule.share*g.high)
	return s.trim(spans, g.half, levelAbove(g.at, least))
}

// ground is what lies around a candidate, and how high the candidate rises over it.
type ground struct {
	mean lightMean
	// at is the level of the ground and high the largest rise, of the luminance or of the darkest channel, whichever
	// rises more; half is the shift to that half of a tone: 16 or 0.
	at, high float64
	half     int
}

// ground reads the window around the candidate with the given pixels.
func (s *surveyor) ground(spans []Span) ground {
	shape := sumsOf(spans)
	sum := s.window(&shape, spans, nearMargin)
	if sum.N < enoughGround {
		sum = s.window(&shape, spans, wideMargin)
	}
	if sum.N == 0 {
		sum = s.sums(nil)
	}
	y, dark := s.most(spans)
	g := ground{mean: meanOf(&sum), half: 16}
	g.at, g.high = g.mean.y, math.Max(float64(y)-g.mean.y, 0)
	if dark := math.Max(float64(dark)-g.mean.dark, 0); dark > g.high {
		g.at, g.high, g.half = g.mean.dark, dark, 0
	}
	return g
}

// measure measures the candidate with the given pixels, which are marked in the window, over its ground.
func (s *surveyor) measure(spans []Span, g ground) look {
	at, high, half := g.at, g.high, g.half
	shape := sumsOf(spans)
	t := look{area: float64(shape.N), peakRise: high / white, ground: at / white, spread: g.mean.spread / white,
		elongation: shape.Elongation(),
		fill:       float64(shape.N) / (float64(shape.Right-shape.Left) * float64(shape.Base-shape.Top)),
		white:      s.exposure.whiteAt(s.x0+s.w/2, s.y0+s.h/2),
	}
	var core tones.Sum
	var squares, sum float64
	var clipped int
	for _, r := range spans {
		run := s.run(r)
		s.line = slices.Grow(s.line[:0], len(run))[:len(run)]
		s.read(s.line, int(r.X0), int(r.Y))
		for i, v := range run {
			d := float64(uint16(v>>half)) - at
			if d < coreShare*high || high <= 0 {
				continue
			}
			add(&core, &s.line[i])
			sum += d
			squares += float64(d * d)
			if float64(v.Dark()) > nearlyWhite*white {
				clipped++
			}
		}
	}
	if len(spans) > 0 {
		y, dark := s.most(spans)
		t.peak, t.darkest = s.tables.Encode8[uint16(float64(y)*t.white)], float64(s.tables.Encode8[dark])
	}
	crowd, around := s.reader.Count(s.own, s.tones[:len(s.own)], half, levelAbove(at, float64(high/2)))
	t.crowd = float64(crowd) / math.Max(float64(around), 1)
	if core.N > 0 {
		n := float64(core.N)
		t.core, t.rise = n, sum/n/white
		t.flat = math.Sqrt(math.Max(squares/n-float64(sum/n*(sum/n)), 0)) / white
		t.clipped = float64(clipped) / n
		t.colour(meanOf(&core), g.mean)
	}
	return t
}

// sumsOf returns the sums of the pixels of spans.
func sumsOf(spans []Span) Sums {
	s := NewSums()
	for _, r := range spans {
		s.Add(r)
	}
	return s
}

// run returns the tones of a span.
func (s *surveyor) run(r Span) []tones.Tone {
	at := (int(r.Y)-s.y0)*s.w - s.x0
	return s.tones[at+int(r.X0) : at+int(r.X1)]
}

// most returns the highest luminance and the highest level of the darkest channel on the spans.
func (s *surveyor) most(spans []Span) (y, dark uint16) {
	for _, r := range spans {
		for _, t := range s.run(r) {
			y, dark = max(y, t.Y()), max(dark, t.Dark())
		}
	}
	return y, dark
}

// marks returns the pixels of spans, which are in reading order, and their neighbours.
func marks(w, h int, sets ...[]Span) *span.Set {
	s := span.NewSet(w, h)
	s.Mark(1, sets...)
	return s
}

// levelAbove returns the least whole level, 0 … 65536, that exceeds the ground by more than rise.
func levelAbove(ground, rise float64) int {
	v := min(max(int(ground+rise)-2, 0), white+1)
	for v <= white && !(float64(v)-ground > rise) {
		v++
	}
	return v
}

// colour computes the figures of colour from the mean colours of core and ground.
func (t *look) colour(core, ground lightMean) {
	r, g, b := (core.r-ground.r)/white, (core.g-ground.g)/white, (core.b-ground.b)/white
	most, least := math.Max(r, math.Max(g, b)), math.Min(r, math.Min(g, b))
	t.chroma = (most - least) / math.Max(most, 0.03)
	ratio := func(a float64) float64 {
		return min(max(math.Log(math.Max(a, 0.01)/math.Max(g, 0.01)), -2), 2)
	}
	t.red, t.blue = ratio(r), ratio(b)
	t.saturation, t.groundSaturation = core.saturation(), ground.saturation()
}

// window reads the window of the given margin around the candidate, marks the candidate in it, and returns the sums of
// the ground: the pixels that neither belong to a candidate nor touch one.
func (s *surveyor) window(shape *Sums, spans []Span, margin int) tones.Sum {
	s.x0, s.y0 = max(int(shape.Left)-margin, 0), max(int(shape.Top)-margin, 0)
	s.w = min(int(shape.Right)+margin, s.pic.Width) - s.x0
	s.h = min(int(shape.Base)+margin, s.pic.Height) - s.y0
	n := s.w * s.h
	if cap(s.own) < n {
		s.own, s.tones = make([]uint8, n+n/2), make([]tones.Tone, n+n/2+tones.Slack)
	}
	s.own, s.tones = s.own[:n], s.tones[:n]
	clear(s.own)
	for _, r := range spans {
		s.mark(s.own, r, beside)
	}
	s.markInside(spans)
	return s.sums(s.taken)
}

// markInside marks the pixels of a candidate in its window.
func (s *surveyor) markInside(spans []Span) {
	for _, r := range spans {
		first := (int(r.Y)-s.y0)*s.w - s.x0
		for i := first + int(r.X0); i < first+int(r.X1); i++ {
			s.own[i] |= inside
		}
	}
}

// sums reads the pixels of the window and adds up those that are not taken.
func (s *surveyor) sums(taken *span.Set) tones.Sum {
	s.touch()
	words := (s.w + 63) / 64
	s.free = slices.Grow(s.free[:0], words*s.h)[:words*s.h]
	for y := range s.h {
		for i := range words {
			s.free[y*words+i] = ^taken.At(s.x0+64*i, s.y0+y)
		}
	}
	if p := s.pic; p.Channels == 3 {
		first := (s.y0*p.Width + s.x0) * 3
		switch {
		case p.U8 != nil:
			return s.reader.Read(s.tones, windowOf(s, p.U8[first:], s.tables.Linear8))
		case p.U16 != nil:
			return s.reader.Read16(s.tones, windowOf(s, p.U16[first:], s.tables.Linear16))
		}
	}
	var sum tones.Sum
	s.line = slices.Grow(s.line[:0], s.w)[:s.w]
	for y := range s.h {
		s.read(s.line, s.x0, s.y0+y)
		for x := range s.line {
			p := &s.line[x]
			s.tones[y*s.w+x] = p.tone()
			if s.free[y*words+x/64]>>(x%64)&1 != 0 {
				add(&sum, p)
			}
		}
	}
	return sum
}

// windowOf returns the window whose samples begin with those of pix.
func windowOf[S tones.Sample](s *surveyor, pix []S, linear []uint16) *tones.Window[S] {
	return &tones.Window[S]{Pix: pix, Stride: 3 * s.pic.Width, W: s.w, H: s.h, Free: s.free, Linear: linear}
}

// touch reads the ends of each row of the window, so that the processor fetches the rows, which lie far apart in
// memory, at the same time.
func (s *surveyor) touch() {
	p := s.pic
	if p.U8 == nil {
		return
	}
	for y := s.y0; y < s.y0+s.h; y++ {
		at := (y*p.Width + s.x0) * p.Channels
		s.touched ^= p.U8[at] ^ p.U8[at+s.w*p.Channels-1]
	}
}

// mark sets a bit in the pixels of a span and those beside them, as far as they lie in the window.
func (s *surveyor) mark(dst []uint8, r Span, bit uint8) {
	y := int(r.Y) - s.y0
	from, to := max(int(r.X0)-1-s.x0, 0), min(int(r.X1)+1-s.x0, s.w)
	for v := max(y-1, 0); v <= min(y+1, s.h-1); v++ {
		for i := v*s.w + from; i < v*s.w+to; i++ {
			dst[i] |= bit
		}
	}
}

// A piece of a trimmed candidate is a scrap if it has fewer than fewPixels, and less than smallPiece of the largest
// one's.
const (
	fewPixels  = 4
	smallPiece = 0.3
)

// trim returns the pixels whose tone reaches a level in the given half, without scraps, and unmarks the others.
func (s *surveyor) trim(spans []Span, half, from int) []Span {
	kept := make([]Span, 0, len(spans)+len(spans)/4+1)
	for _, r := range spans {
		at := (int(r.Y)-s.y0)*s.w + int(r.X0) - s.x0
		row := s.tones[at : at+int(r.X1-r.X0)]
		for x := 0; x < len(row); x++ {
			if int(uint16(row[x]>>half)) < from {
				s.own[at+x] = beside
				continue
			}
			x0 := x
			for x++; x < len(row) && int(uint16(row[x]>>half)) >= from; x++ {
			}
			kept = append(kept, Span{Y: r.Y, X0: r.X0 + int32(x0), X1: r.X0 + int32(x), Label: r.Label})
			x--
		}
	}
	return s.dropScraps(kept)
}

// chained reports whether each row has one span, which touches the one above, as in most candidates.
func chained(spans []Span) bool {
	for k := 1; k < len(spans); k++ {
		a, b := &spans[k-1], &spans[k]
		if b.Y != a.Y+1 || b.X0 > a.X1 || a.X0 > b.X1 {
			return false
		}
	}
	return true
}

// dropScraps returns the spans of a candidate without scraps, which it unmarks.
func (s *surveyor) dropScraps(spans []Span) []Span {
	if chained(spans) {
		return spans
	}
	label := spans[0].Label
	sizes := make([]int, span.Connect(spans, span.Eight))
	for _, r := range spans {
		sizes[r.Label] += int(r.X1 - r.X0)
	}
	enough := min(fewPixels, int(math.Ceil(smallPiece*float64(slices.Max(sizes)))))
	kept := spans[:0]
	for _, r := range spans {
		if sizes[r.Label] >= enough {
			kept = append(kept, Span{Y: r.Y, X0: r.X0, X1: r.X1, Label: label})
			continue
		}
		at := (int(r.Y)-s.y0)*s.w - s.x0
		for x := r.X0; x < r.X1; x++ {
			s.own[at+int(x)] = beside
		}
	}
	return kept
}

// read converts the pixels starting at (x, y) to linear light.
func (s *surveyor) read(dst []light, x, y int) {
	p, t := s.pic, s.tables
	at, n := (y*p.Width+x)*p.Channels, len(dst)*p.Channels
	if p.Channels == 3 {
		switch {
		case p.U8 != nil:
			readLight(dst, p.U8[at:at+n], t.Linear8)
			return
		case p.U16 != nil:
			readLight(dst, p.U16[at:at+n], t.Linear16)
			return
		}
	}
	s.sixteen = s.sixteen[:0]
	for i := at; i < at+n; i++ {
		s.sixteen = append(s.sixteen, p.sample(i))
	}
	linear := func(v uint16) uint16 {
		if p.U8 != nil {
			return t.Linear8[v]
		}
		return t.Linear16[v]
	}
	src := s.sixteen
	switch p.Channels {
	case 1:
		for i := range dst {
			v := linear(src[i])
			dst[i] = light{v, v, v, v, v}
		}
		return
	case 4:
		most := uint32(255)
		if p.U8 == nil {
			most = 65535
		}
		for i := range dst {
			for k := range 3 {
				src[3*i+k] = uint16(throughInk(uint32(src[4*i+k]), uint32(src[4*i+3]), most))
			}
		}
	}
	for i := range dst {
		dst[i] = mixed(linear(src[3*i]), linear(src[3*i+1]), linear(src[3*i+2]))
	}
}

// readLight converts pixels of three samples, whose values have the given linear light.
func readLight[S tones.Sample](dst []light, src []S, linear []uint16) {
	linear = linear[:int(^S(0))+1]
	for i := range dst {
		c := src[3*i : 3*i+3 : 3*i+3]
		dst[i] = mixed(linear[c[0]], linear[c[1]], linear[c[2]])
	}
}

// sample returns a sample with 8 or 16 bits, as LuminanceTables defines.
func (p *Picture) sample(i int) uint16 {
	switch {
	case p.U8 != nil:
		return uint16(p.U8[i])
	case p.U16 != nil:
		return p.U16[i]
	}
	var v [1]uint16
	Quantise(v[:], p.F32[i:i+1])
	return v[0]
}

func mixed(r, g, b uint16) light {
	y := (LuminanceRed*uint32(r) + LuminanceGreen*uint32(g) + LuminanceBlue*uint32(b) + 32768) >> 16
	return light{r, g, b, uint16(y), min(r, g, b)}
}

// add adds a pixel to a sum.
func add(s *tones.Sum, p *light) {
	s.Join(&tones.Sum{N: 1, R: uint64(p.r), G: uint64(p.g), B: uint64(p.b), Y: uint64(p.y), Dark: uint64(p.dark),
		Squares: uint64(p.y) * uint64(p.y)})
}

// lightMean holds means, and the standard deviation of the luminance.
type lightMean struct{ r, g, b, y, dark, spread float64 }

func meanOf(s *tones.Sum) lightMean {
	n := float64(s.N)
	m := lightMean{r: float64(s.R) / n, g: float64(s.G) / n, b: float64(s.B) / n, y: float64(s.Y) / n,
		dark: float64(s.Dark) / n}
	m.spread = math.Sqrt(math.Max(float64(s.Squares)/n-float64(m.y*m.y), 0))
	return m
}

func (m lightMean) saturation() float64 {
	most := math.Max(m.r, math.Max(m.g, m.b))
	return 1 - math.Min(m.r, math.Min(m.g, m.b))/math.Max(most, 0.02*white)
}
