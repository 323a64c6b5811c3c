package view

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"sync"
	"sync/atomic"

	"blik/internal/message"
	"blik/internal/parallel"
	"blik/processing"
)

// Mode says what a viewport shows.
type Mode uint8

// The modes.
const (
	// PictureAndMask lays the mask over the picture in the overlay's colour.
	PictureAndMask Mode = iota
	// PictureOnly shows the picture as it is.
	PictureOnly
	// MaskOnly shows the mask in white on black.
	MaskOnly
	// Outlines draws the edge of the mask over the picture, one device pixel wide.
	Outlines
)

// GridZoom is the zoom from which the pixel grid is drawn.
const GridZoom = 8

// OverlayColour is a colour offered for the overlay.
type OverlayColour struct {
	// ID is what the settings store.
	ID     string
	Name   message.Message
	Colour color.RGBA
}

// OverlayColours returns the colours on offer, the default first. Blue and yellow are those of Okabe and Ito's palette
// (2008), which people with any colour vision tell apart from the browns and reds of a painting.
func OverlayColours() []OverlayColour {
	return []OverlayColour{
		{"red", message.Of("Red"), color.RGBA{255, 0, 0, 255}},
		{"blue", message.Of("Blue"), color.RGBA{0, 114, 178, 255}},
		{"yellow", message.Of("Yellow"), color.RGBA{240, 228, 66, 255}},
		{"green", message.Of("Green"), color.RGBA{0, 255, 0, 255}},
	}
}

// OverlayColourByID returns the colour with the given ID, the default one where there is none.
func OverlayColourByID(id string) OverlayColour {
	all := OverlayColours()
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	return all[0]
}

// Options say how a viewport looks.
type Options struct {
	Mode Mode
	// Colour of the overlay and of outlines; its alpha is ignored.
	Colour color.RGBA
	// Opacity of the overlay, 0…1; outlines are opaque.
	Opacity float64
	// Grid draws the edges of image pixels from GridZoom on.
	Grid bool
	// Compare says which of two pictures is shown.
	Compare Compare
	// Other is a second mask, of the picture's size, that the shown one is compared with: in place of the overlay, what
	// only one of the two marks and what both mark is shown in ComparedColours. nil compares with none.
	Other *MaskPyramid
	// Split is the device column, counted from the viewport's left edge, from which CompareSplit shows the second
	// picture.
	Split int
}

// Compare says which picture a viewport shows of two that differ: the original and the result.
type Compare uint8

// The ways to compare.
const (
	CompareAfter Compare = iota
	CompareBefore
	// CompareSplit shows the original left of a vertical line and the result from the line on.
	CompareSplit
)

// DefaultOptions returns the picture under a red mask of 60 % with the grid on.
func DefaultOptions() Options {
	return Options{Colour: OverlayColours()[0].Colour, Opacity: 0.6, Grid: true}
}

// Surround returns the grey around the picture: 18 % of white in linear light, which does not sway the eye.
func Surround() color.RGBA { return color.RGBA{118, 118, 118, 255} }

// Where a picture is sampled how.
const (
	// nearestZoom is the zoom from which pixels are shown as squares; at exactly 1:1 they are, too, so that nothing
	// is softened there.
	nearestZoom = 1.5
	// maxReduction is the largest reduction left to the bilinear interpolation of a level: beyond it pixels of the
	// level would begin to fall between the samples, far below 1 the picture would look soft.
	maxReduction = 1.5
	// bandRows is how many rows a goroutine takes at a time; it keeps converted rows within a band.
	bandRows = 32
	// gridStrength is the share of black or white in a line of the grid, in 1/256.
	gridStrength lanes = 56
)

// Renderer draws a picture and its mask into a viewport. It keeps its scratch memory between frames, so it allocates
// nothing per frame and may be used by one goroutine at a time.
//
// Interpolation works on encoded values: between neighbours on the screen the difference to linear light is not seen.
type Renderer struct {
	before, after *Pyramid
	mask          *MaskPyramid
	// layer is shown over after, where it lies; nil for none.
	layer *Pyramid
	// picture is the one that is being drawn.
	picture *Pyramid
	// lying holds a frame as it lies in the file, before it is turned upright.
	lying *image.RGBA

	frame   frame
	workers []worker
	// run[i] draws bands with workers[i]. They are made once because a go statement with arguments allocates.
	run  []func()
	next atomic.Int64
	wait sync.WaitGroup
}

// frame is what all rows of one frame share; columns are those of inside, counted from its left edge.
type frame struct {
	dst *image.RGBA
	t   Transform
	o   Options
	// bare leaves what is not in the picture as it is.
	bare bool
	// columns and rows lead to coordinates of the pyramid that is drawn, pictureX and pictureY to those of the picture.
	columns, rows, pictureX, pictureY axis
	// origin is the viewport's corner, rect what is drawn, inside the part of rect that shows the picture.
	origin       image.Point
	rect, inside image.Rectangle

	// exact says that pixels of level 0 are shown as squares; otherwise level is interpolated. scale is its size in
	// units of the picture's.
	exact bool
	level int
	scale float64
	// column is, for each device column, the pixel of the level under its middle, or left of it where not exact;
	// weight is then that of the next pixel. Columns span0…span1−1 of the level are needed.
	column       []int32
	weight       []lanes
	span0, span1 int

	// overlay is the level of the mask that is shown, if any. Its columns mask0…mask1−1 are in sight; column m of it
	// covers the device columns start[m−mask0]…start[m−mask0+1]−1. before and after are the columns of the mask just
	// left and right of inside, −1 where there is none.
	masked        bool
	maskSize      image.Point
	overlay       maskLevel
	overlayLevel  int
	mask0, mask1  int
	start         []int32
	before, after int
	// ink is the overlay's colour and share its weight for each value of the mask.
	ink   lanes
	share [256]lanes

	// grid are the device columns at which a pixel of the picture begins; nil without a grid.
	grid  []int32
	lines bool

	// other is the level of the mask that is compared with overlay; without pixels none is.
	other maskLevel
}

// worker is the scratch memory of one goroutine.
type worker struct {
	// top and bottom are rows topRow and bottomRow of the level, −1 where they hold none.
	top, bottom       []packed
	topRow, bottomRow int
	blended           []lanes
}

// NewRenderer returns a renderer that spreads rows over all processors. Until SetPicture it draws the surround.
func NewRenderer() *Renderer {
	n := parallel.Processors()
	r := &Renderer{workers: make([]worker, n)}
	for i := range r.workers {
		r.run = append(r.run, func() {
			defer r.wait.Done()
			r.bands(&r.workers[i])
		})
	}
	return r
}

// SetPicture sets what is shown. mask may be nil; otherwise it has the picture's size. A nil picture shows the
// surround only.
func (r *Renderer) SetPicture(picture *Pyramid, mask *MaskPyramid) {
	r.SetPictures(picture, picture, mask)
}

// SetPictures sets two pictures of the same size that Options.Compare chooses from.
func (r *Renderer) SetPictures(before, after *Pyramid, mask *MaskPyramid) {
	r.before, r.after, r.mask = before, after, mask
}

// SetLayer shows a layer of NewLayer over the second picture, under the mask; nil shows none.
func (r *Renderer) SetLayer(layer *Pyramid) { r.layer = layer }

// Render draws the whole of dst, whose bounds are the viewport in device pixels. Every pixel written is opaque.
func (r *Renderer) Render(dst *image.RGBA, t Transform, o Options) {
	r.RenderRect(dst, t, o, dst.Bounds())
}

// RenderRect draws only the device pixels of rect, exactly as Render would.
func (r *Renderer) RenderRect(dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	rect = rect.Intersect(dst.Bounds())
	left, right := rect, rect
	switch {
	case o.Compare == CompareAfter || r.before == r.after && r.layer == nil:
		left.Max.X = left.Min.X
	case o.Compare == CompareBefore:
		right.Max.X = right.Min.X
	default:
		left.Max.X = min(left.Max.X, dst.Rect.Min.X+o.Split)
		right.Min.X = max(right.Min.X, dst.Rect.Min.X+o.Split)
	}
	r.drawUpright(r.before, dst, t, o, left, false)
	if r.layer == nil || r.after == nil {
		r.drawUpright(r.after, dst, t, o, right, false)
		return
	}
	// A layer that covers all that is seen of the picture needs none under it.
	all := t.Visible(image.Pt(r.after.pic.Width, r.after.pic.Height), dst.Rect.Size())
	whole := all.In(r.layer.Area())
	if !whole {
		r.drawUpright(r.after, dst, t, o, right, false)
	}
	r.drawUpright(r.layer, dst, t, o, right, !whole)
}

// drawUpright draws a picture that may have to be turned: as it lies in the file first. Bare leaves the pixels beside
// it as they are.
func (r *Renderer) drawUpright(p *Pyramid, dst *image.RGBA, t Transform, o Options, rect image.Rectangle,
	bare bool,
) {
	if rect.Empty() {
		return
	}
	r.frame.bare = bare
	if t.Turn == (Turn{}) {
		r.draw(p, dst, t, o, rect)
		return
	}
	size, file, turn := t.turned(dst.Rect.Size())
	if r.lying == nil || r.lying.Rect.Size() != size {
		r.lying = image.NewRGBA(image.Rectangle{Max: size})
	}
	part := turn.inverse().rectangle(rect.Sub(dst.Rect.Min))
	r.draw(p, r.lying, file, o, part)
	turn.copyPixels(dst, r.lying, rect.Sub(dst.Rect.Min))
}

// draw draws a part of a picture as it lies in the file.
func (r *Renderer) draw(p *Pyramid, dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	r.picture = p
	r.prepare(dst, t, o, rect)
	// The frame holds the destination and the picture only while it is drawn.
	defer func() { r.frame.dst, r.picture = nil, nil }()
	r.next.Store(0)
	for i := range r.workers {
		r.workers[i].topRow, r.workers[i].bottomRow = -1, -1
	}
	n := 1
	// Below this many pixels starting goroutines costs more than they save.
	if rect.Dx()*rect.Dy() >= 1<<15 {
		n = min(len(r.workers), (rect.Dy()+bandRows-1)/bandRows)
	}
	r.wait.Add(n)
	for i := 1; i < n; i++ {
		go r.run[i]()
	}
	r.run[0]()
	r.wait.Wait()
}

// DirtyRect returns the device pixels of a viewport, of the given size, that may look different after the mask changed
// within the image rectangle dirty: what RenderRect has to redraw.
func (r *Renderer) DirtyRect(t Transform, dirty image.Rectangle, viewport image.Point) image.Rectangle {
	if r.mask == nil || dirty.Empty() {
		return image.Rectangle{}
	}
	m := r.mask.mask
	level := r.mask.levelFor(t.Zoom)
	w, h := r.mask.size(level)
	// A pixel of the level stands for all it covers; the last ones cover what is left over.
	widen := func(a, b, pixels, n int) (int, int) {
		a, b = min(a>>level, pixels-1)<<level, (min((b-1)>>level, pixels-1)+1)<<level
		if b>>level == pixels {
			b = n
		}
		return a, b
	}
	dirty = dirty.Intersect(image.Rect(0, 0, m.Width, m.Height))
	if dirty.Empty() {
		return image.Rectangle{}
	}
	dirty.Min.X, dirty.Max.X = widen(dirty.Min.X, dirty.Max.X, w, m.Width)
	dirty.Min.Y, dirty.Max.Y = widen(dirty.Min.Y, dirty.Max.Y, h, m.Height)
	// One more for the outline, which looks at the neighbours.
	return t.DeviceRect(dirty).Inset(-1).Intersect(image.Rectangle{Max: viewport})
}

// levelFor returns the first level whose pixels are at least one device pixel wide, so that none is left out.
func (p *MaskPyramid) levelFor(zoom float64) int {
	l := 0
	for ; l < len(p.levels) && math.Ldexp(zoom, l) < 1; l++ {
	}
	return l
}

// DirtyRect returns the device pixels of a viewport, of the given size, that may look different after the picture
// changed within the image rectangle changed.
func (p *Pyramid) DirtyRect(t Transform, changed image.Rectangle, viewport image.Point) image.Rectangle {
	changed = changed.Intersect(image.Rect(0, 0, p.pic.Width, p.pic.Height))
	if changed.Empty() {
		return image.Rectangle{}
	}
	// A pixel of the level stands for side pixels of the picture, and is mixed with its neighbours.
	side := 1 << p.levelFor(t.Zoom)
	changed.Min.X, changed.Min.Y = changed.Min.X/side*side-side, changed.Min.Y/side*side-side
	changed.Max.X, changed.Max.Y = (changed.Max.X+side-1)/side*side+side, (changed.Max.Y+side-1)/side*side+side
	return t.DeviceRect(changed).Inset(-1).Intersect(image.Rectangle{Max: viewport})
}

// levelFor returns the sharpest level that bilinear interpolation shows without leaving pixels out.
func (p *Pyramid) levelFor(zoom float64) int {
	l := 0
	for ; l < len(p.levels) && math.Ldexp(zoom, l)*maxReduction < 1; l++ {
	}
	return l
}

// prepare computes what all rows share.
func (r *Renderer) prepare(dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	f := &r.frame
	f.dst, f.t, f.o, f.rect, f.origin = dst, t, o, rect, dst.Rect.Min
	f.inside = image.Rectangle{}
	if r.picture == nil {
		return
	}
	pic := r.picture.pic
	f.columns, f.rows = newAxis(t.X, t.Zoom, r.picture.origin.X), newAxis(t.Y, t.Zoom, r.picture.origin.Y)
	f.pictureX, f.pictureY = newAxis(t.X, t.Zoom, 0), newAxis(t.Y, t.Zoom, 0)
	x0, x1 := f.columns.within(rect.Min.X-f.origin.X, rect.Max.X-f.origin.X, pic.Width)
	y0, y1 := f.rows.within(rect.Min.Y-f.origin.Y, rect.Max.Y-f.origin.Y, pic.Height)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	f.inside = image.Rect(x0, y0, x1, y1).Add(f.origin)
	f.prepareColumns(r.picture, x0, x1)
	f.prepareMask(r.mask, x0, x1)
	f.grid = f.grid[:0]
	f.lines = o.Grid && t.Zoom >= GridZoom
	if f.lines {
		for x := x0; x < x1; x++ {
			if f.imageX(x) != f.imageX(x-1) {
				f.grid = append(f.grid, int32(x-x0))
			}
		}
	}
	for i := range r.workers {
		w := &r.workers[i]
		w.top, w.bottom = grow(w.top, f.span1-f.span0), grow(w.bottom, f.span1-f.span0)
		w.blended = grow(w.blended, f.span1-f.span0)
	}
}

// grow returns s with length n, in memory of its own where it fits.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// axis leads from device columns, or rows, to coordinates of a picture.
type axis struct {
	// corner is the place of the viewport's corner in device pixels from the picture's origin, origin that of what is
	// drawn in pixels of the picture.
	corner, zoom, origin float64
}

// newAxis returns the axis of an offset in a Transform. An offset that lies on a whole device pixel is taken for that
// exactly, so that a picture that is moved by whole device pixels looks the same.
func newAxis(offset, zoom float64, origin int) axis {
	corner := offset * zoom
	if whole := math.Round(corner); math.Abs(corner-whole) < 1e-6 {
		corner = whole
	}
	return axis{corner, zoom, float64(origin)}
}

// position returns the coordinate under the middle of device column or row i. All sampling goes through it, so that a
// part of a frame is drawn as the whole would be.
func (a axis) position(i int) float64 { return (a.corner+float64(i)+0.5)/a.zoom - a.origin }

// pixel returns the pixel under device column or row i.
func (a axis) pixel(i int) int { return int(math.Floor(a.position(i))) }

func (f *frame) imageX(x int) int { return f.pictureX.pixel(x) }

func (f *frame) imageY(y int) int { return f.pictureY.pixel(y) }

// within shortens the device range [i0, i1) to what lies in a picture of n pixels.
func (a axis) within(i0, i1, n int) (int, int) {
	// An estimate that is at most one off, made exact by looking.
	device := func(u float64) int {
		i := (u+a.origin)*a.zoom - a.corner
		return int(math.Max(math.Min(i, math.MaxInt32), math.MinInt32))
	}
	i0, i1 = max(i0, device(0)-2), min(i1, device(float64(n))+2)
	for i0 < i1 && a.position(i0) < 0 {
		i0++
	}
	for i0 < i1 && a.position(i1-1) >= float64(n) {
		i1--
	}
	return i0, i1
}

// prepareColumns finds what each device column x0…x1−1 of the viewport samples.
func (f *frame) prepareColumns(p *Pyramid, x0, x1 int) {
	f.exact = f.t.Zoom >= nearestZoom || f.t.Zoom == 1
	f.level = 0
	if !f.exact {
		f.level = p.levelFor(f.t.Zoom)
	}
	f.scale = math.Ldexp(1, -f.level)
	w, _ := p.levelSize(f.level)
	f.column, f.weight = grow(f.column, x1-x0), grow(f.weight, x1-x0)
	for x := x0; x < x1; x++ {
		if f.exact {
			f.column[x-x0] = int32(min(f.columns.pixel(x), w-1))
			continue
		}
		i, weight := f.sample(f.columns.position(x), w)
		f.column[x-x0], f.weight[x-x0] = int32(i), weight
	}
	f.span0 = int(f.column[0])
	f.span1 = int(f.column[x1-x0-1]) + 1
	if !f.exact {
		f.span1++
	}
	for i := range f.column {
		f.column[i] -= int32(f.span0)
	}
}

// sample returns the pixel of the level, of n columns or rows, left of or above a coordinate of the pyramid, and the
// weight of the next one. Beyond the middles of the outermost pixels it is the outermost pixel only.
func (f *frame) sample(at float64, n int) (int, lanes) {
	u := at*f.scale - 0.5
	if u <= 0 {
		return 0, 0
	}
	left := int(u)
	if left >= n-1 {
		return n - 1, 0
	}
	return left, lanes((u-float64(left))*256 + 0.5)
}

// prepareMask finds which device columns each column of the mask covers, and the weights of its values.
func (f *frame) prepareMask(m *MaskPyramid, x0, x1 int) {
	f.masked = m != nil && f.o.Mode != PictureOnly
	if !f.masked {
		return
	}
	f.maskSize = image.Pt(m.mask.Width, m.mask.Height)
	f.overlayLevel = m.levelFor(f.t.Zoom)
	f.overlay = m.level(f.overlayLevel)
	f.other = maskLevel{}
	if o := f.o.Other; o != nil {
		f.other = o.level(f.overlayLevel)
	}
	f.mask0, f.mask1 = f.maskColumn(x0), f.maskColumn(x1-1)+1
	f.start = grow(f.start, f.mask1-f.mask0+1)
	last := f.mask0 - 1
	for x := x0; x < x1; x++ {
		for c := f.maskColumn(x); last < c; {
			last++
			f.start[last-f.mask0] = int32(x - x0)
		}
	}
	f.start[f.mask1-f.mask0] = int32(x1 - x0)
	f.before, f.after = f.maskColumn(x0-1), f.maskColumn(x1)

	c, opacity := f.o.Colour, f.o.Opacity
	if f.o.Mode == MaskOnly {
		c, opacity = color.RGBA{255, 255, 255, 255}, 1
	}
	f.ink = inkOf(c)
	if !(opacity > 0) {
		opacity = 0
	}
	for v := range f.share {
		f.share[v] = lanes(math.Min(opacity, 1)*float64(v)/255*256 + 0.5)
	}
}

// maskColumn returns the column of the mask's level under device column x, −1 outside the picture.
func (f *frame) maskColumn(x int) int {
	return maskIndex(f.imageX(x), f.maskSize.X, f.overlayLevel, f.overlay.w)
}

// maskRow does the same for rows.
func (f *frame) maskRow(y int) int {
	return maskIndex(f.imageY(y), f.maskSize.Y, f.overlayLevel, f.overlay.h)
}

// maskIndex returns the pixel of a level, of n pixels, that covers pixel i of a mask of size pixels, −1 outside.
func maskIndex(i, size, level, n int) int {
	if i < 0 || i >= size {
		return -1
	}
	return min(i>>level, n-1)
}

// bands draws bands of rows until none is left.
func (r *Renderer) bands(w *worker) {
	f := &r.frame
	for {
		y0 := f.rect.Min.Y + (int(r.next.Add(1))-1)*bandRows
		if y0 >= f.rect.Max.Y {
			return
		}
		r.band(w, y0, min(y0+bandRows, f.rect.Max.Y))
	}
}

// rowKey identifies device rows: two rows with the same key look the same.
type rowKey struct {
	picture, mask, above, below int
	line                        bool
}

func (r *Renderer) band(w *worker, y0, y1 int) {
	f := &r.frame
	surround := packed(118)*0x010101 | opaque
	var previous []uint8
	var previousKey rowKey
	for y := y0; y < y1; y++ {
		out := f.dst.Pix[f.dst.PixOffset(f.rect.Min.X, y):][:4*f.rect.Dx()]
		if y < f.inside.Min.Y || y >= f.inside.Max.Y {
			if !f.bare {
				fill(out, surround)
			}
			continue
		}
		left, right := f.inside.Min.X-f.rect.Min.X, f.inside.Max.X-f.rect.Min.X
		if !f.bare {
			fill(out[:4*left], surround)
			fill(out[4*right:], surround)
		}
		out = out[4*left : 4*right]

		v := y - f.origin.Y
		key := rowKey{}
		if f.exact {
			key.picture = min(f.rows.pixel(v), r.picture.pic.Height-1)
			key.line = f.lines && f.imageY(v) != f.imageY(v-1)
		}
		if f.masked {
			key.mask, key.above, key.below = f.maskRow(v), f.maskRow(v-1), f.maskRow(v+1)
		}
		if f.exact && previous != nil && key == previousKey {
			copy(out, previous)
			continue
		}
		r.row(w, out, v, key)
		previous, previousKey = out, key
	}
}

// row draws row y of the viewport; out are its pixels within the picture.
func (r *Renderer) row(w *worker, out []uint8, y int, key rowKey) {
	f := &r.frame
	switch {
	case f.o.Mode == MaskOnly:
		fill(out, opaque)
	case f.exact:
		line := w.top
		r.picture.row(line, 0, key.picture, f.span0)
		for i, c := range f.column {
			binary.LittleEndian.PutUint32(out[4*i:], line[c])
		}
	default:
		f.interpolate(r.blendRows(w, y), out)
	}
	if f.masked {
		if f.other.pix != nil {
			f.compareRow(out, key.mask)
		} else if f.o.Mode == Outlines {
			f.outline(out, key)
		} else {
			f.overlayRow(out, key.mask)
		}
	}
	if f.lines {
		if key.line {
			for i := range f.column {
				drawLine(out[4*i : 4*i+4])
			}
		} else {
			for _, i := range f.grid {
				drawLine(out[4*i : 4*i+4])
			}
		}
	}
}

// blendRows returns columns span0…span1−1 of the level, interpolated between the two rows about row y of the viewport.
func (r *Renderer) blendRows(w *worker, y int) []lanes {
	f := &r.frame
	_, h := r.picture.levelSize(f.level)
	row, weight := f.sample(f.rows.position(y), h)
	below := min(row+1, h-1)
	var a, b []packed
	if f.level == 0 || r.picture.levels[f.level-1].patched.at != nil {
		a, b = w.convert(r.picture, f.level, row, below, f.span0)
	} else {
		l := &r.picture.levels[f.level-1]
		// The last column of the span repeats the last one of the level.
		n := min(f.span1, l.w) - f.span0
		a, b = l.pix[row*l.w+f.span0:][:n], l.pix[below*l.w+f.span0:][:n]
	}
	out := w.blended
	b, out = b[:len(a)], out[:len(a)]
	for i, p := range a {
		out[i] = mix(spread(p), spread(b[i]), weight)
	}
	for i := len(out); i < len(w.blended); i++ {
		w.blended[i] = w.blended[i-1]
	}
	return w.blended
}

// convert returns rows a and b of a level from column x0 on, keeping those converted last.
func (w *worker) convert(p *Pyramid, level, a, b, x0 int) (top, bottom []packed) {
	if w.bottomRow == a {
		w.top, w.bottom, w.topRow, w.bottomRow = w.bottom, w.top, w.bottomRow, w.topRow
	}
	width, _ := p.levelSize(level)
	n := min(len(w.top), width-x0)
	if w.topRow != a {
		p.row(w.top[:n], level, a, x0)
		w.topRow = a
	}
	if w.bottomRow != b {
		p.row(w.bottom[:n], level, b, x0)
		w.bottomRow = b
	}
	return w.top[:n], w.bottom[:n]
}

// interpolate writes the device columns from a row of the level.
func (f *frame) interpolate(row []lanes, out []uint8) {
	weight := f.weight[:len(f.column)]
	for i, c := range f.column {
		pair := row[c : c+2 : c+2]
		binary.LittleEndian.PutUint32(out[4*i:], mix(pair[0], pair[1], weight[i]).pack())
	}
}

// overlayRow lays row y of the mask's level over a row of device pixels. What is empty costs an eighth of a look.
func (f *frame) overlayRow(out []uint8, y int) {
	row := f.overlay.pix[y*f.overlay.w:][f.mask0:f.mask1]
	for m := 0; m < len(row); {
		if m+8 <= len(row) && binary.LittleEndian.Uint64(row[m:]) == 0 {
			m += 8
			continue
		}
		v := row[m]
		n := m + 1
		if v != 0 {
			for n < len(row) && row[n] == v {
				n++
			}
			tint(out[4*f.start[m]:4*f.start[n]], f.ink, f.share[v])
		}
		m = n
	}
}

// tint mixes a colour into device pixels.
func tint(out []uint8, colour, share lanes) {
	ink := colour*share + half
	rest := 256 - share
	for i := 0; i+4 <= len(out); i += 4 {
		pixel := out[i : i+4 : i+4]
		p := spread(binary.LittleEndian.Uint32(pixel))
		binary.LittleEndian.PutUint32(pixel, ((p*rest + ink) >> 8 & laneMask).pack())
	}
}

// outline draws the device pixels of a row that are in the mask and have a neighbour, of four, that is not.
func (f *frame) outline(out []uint8, key rowKey) {
	l := f.overlay
	row := l.pix[key.mask*l.w:][:l.w]
	neighbour := func(y int) []uint8 {
		if y < 0 {
			return nil
		}
		return l.pix[y*l.w:][:l.w]
	}
	above, below := neighbour(key.above), neighbour(key.below)
	in := func(row []uint8, m int) bool { return row != nil && m >= 0 && row[m] >= processing.MaskLevel }
	full := f.ink.pack()
	for m := f.mask0; m < f.mask1; m++ {
		if row[m] < processing.MaskLevel {
			continue
		}
		a := m
		for m < f.mask1 && row[m] >= processing.MaskLevel {
			if !in(above, m) || !in(below, m) {
				fill(out[4*f.start[m-f.mask0]:4*f.start[m-f.mask0+1]], full)
			}
			m++
		}
		left, right := f.start[a-f.mask0], f.start[m-f.mask0]
		if a > f.mask0 || !in(row, f.before) {
			fill(out[4*left:4*left+4], full)
		}
		if m < f.mask1 || !in(row, f.after) {
			fill(out[4*right-4:4*right], full)
		}
	}
}

// drawLine darkens a bright device pixel and brightens a dark one.
func drawLine(out []uint8) {
	p := binary.LittleEndian.Uint32(out)
	to := opaque
	if out[1] < 128 {
		to = 0xffffffff
	}
	binary.LittleEndian.PutUint32(out, mix(spread(p), spread(to), gridStrength).pack())
}

// fill sets all pixels of out.
func fill(out []uint8, p packed) {
	if len(out) == 0 {
		return
	}
	binary.LittleEndian.PutUint32(out, p)
	for n := 4; n < len(out); n *= 2 {
		copy(out[n:], out[:n])
	}
}
