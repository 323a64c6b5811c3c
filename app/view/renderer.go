package view

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"slices"
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
	// PictureAndMask shows the mask over the picture in the overlay's colour.
	PictureAndMask Mode = iota
	// PictureOnly shows the picture without the mask.
	PictureOnly
	// MaskOnly shows the mask in white on black.
	MaskOnly
	// Outlines shows the edge of the mask over the picture, one device pixel wide.
	Outlines
	// Changed shows which pixels are changed, in ChangedColours.
	Changed
)

// GridZoom is the zoom from which the pixel grid is drawn.
const GridZoom = 32

// OverlayColour is a colour offered for the overlay.
type OverlayColour struct {
	// ID is what the settings store.
	ID     string
	Name   message.Message
	Colour color.RGBA
}

// OverlayColours returns the colours to choose from, the default first. Blue and yellow come from the palette of Okabe
// and Ito (2008): people with any colour vision can distinguish them from the browns and reds of a painting.
func OverlayColours() []OverlayColour {
	return []OverlayColour{
		{"red", message.Of("Red"), color.RGBA{255, 0, 0, 255}},
		{"blue", message.Of("Blue"), color.RGBA{0, 114, 178, 255}},
		{"yellow", message.Of("Yellow"), color.RGBA{240, 228, 66, 255}},
		{"green", message.Of("Green"), color.RGBA{0, 255, 0, 255}},
	}
}

// OverlayColourByID returns the colour with the given ID, or the default for an unknown one.
func OverlayColourByID(id string) OverlayColour {
	all := OverlayColours()
	for _, c := range all {
		if c.ID == id {
			return c
		}
	}
	return all[0]
}

// Options says what a viewport shows.
type Options struct {
	Mode Mode
	// Colour is that of the overlay and of outlines; its alpha is ignored. Over pixels of a like colour outlines are
	// black or white.
	Colour color.RGBA
	// Opacity is that of the overlay, 0…1; outlines are opaque.
	Opacity float64
	// Grid draws the edges of image pixels if the zoom is GridZoom or more.
	Grid bool
	// Compare says which of two pictures is shown, the original or the result.
	Compare Compare
	// Other is a second mask, of the picture's size, to compare with; it may be nil. ComparedColours then shows which
	// pixels are marked in only one of the masks and in both, instead of the overlay. In the mode Changed it is that of
	// document.Corrections.Changed.
	Other *MaskPyramid
	// Split is the device column, counted from the viewport's left edge, from which CompareSplit shows the second
	// picture.
	Split int
}

// Compare says which of two pictures a viewport shows: the original or the result.
type Compare uint8

// CompareAfter shows the result, CompareBefore the original.
const (
	CompareAfter Compare = iota
	CompareBefore
	// CompareSplit shows the original left of a vertical line and the result from the line on.
	CompareSplit
)

// DefaultOptions shows the picture under a red mask of 60 % opacity, with the grid.
func DefaultOptions() Options {
	return Options{Colour: OverlayColours()[0].Colour, Opacity: 0.6, Grid: true}
}

// Surround returns the grey around the picture: 18 % of white in linear light, as neutral surround for judging colours.
func Surround() color.RGBA { return color.RGBA{118, 118, 118, 255} }

// Constants of sampling and drawing.
const (
	// nearestZoom is the zoom from which pixels are shown as squares. At exactly 1:1 they are as well, because
	// interpolation would soften them.
	nearestZoom = 1.5
	// maxReduction is the most by which bilinear interpolation reduces a level. With a larger value, pixels of the
	// level would fall between the samples; with one far below 1 the picture would look soft.
	maxReduction = 1.5
	// bandRows is the number of rows that a goroutine draws at a time. Converted rows are reused only within a band.
	bandRows = 32
	// GridStrength is the share of black or white in a line of the grid, in 1/256.
	GridStrength lanes = 56
)

// Renderer draws a picture and its mask into a viewport. It reuses its scratch memory, so drawing a frame allocates
// nothing. Only one goroutine may use it at a time.
//
// Interpolation works on encoded values: between neighbouring pixels of the screen the difference from linear light is
// invisible.
type Renderer struct {
	before, after *Pyramid
	mask          *MaskPyramid
	// layer is shown over the part of after that it covers; nil for none.
	layer *Pyramid
	// picture is the one being drawn.
	picture *Pyramid
	// unturned holds a frame in the orientation of the file, before it is turned upright.
	unturned *image.RGBA

	frame   frame
	workers []worker
	// vectors is nil if the processor has no vector instructions that help.
	vectors *blender
	// run[i] draws bands with workers[i]. The functions are created once because a go statement with arguments
	// allocates.
	run  []func()
	next atomic.Int64
	wait sync.WaitGroup
}

// frame holds what all rows of one frame share. Device columns are counted from the left edge of inside.
type frame struct {
	dst *image.RGBA
	t   Transform
	o   Options
	// bare leaves device pixels outside the picture unchanged.
	bare bool
	// columns and rows map to coordinates of the pyramid being drawn, pictureX and pictureY to those of the picture.
	columns, rows, pictureX, pictureY axis
	// origin is the viewport's top left corner in dst, rect the part to draw, inside the part of rect that shows the
	// picture.
	origin       image.Point
	rect, inside image.Rectangle

	// exact is set if pixels of level 0 are shown as squares; otherwise level is interpolated. scale is the size of the
	// level divided by that of level 0.
	exact bool
	level int
	scale float64
	// column holds, for each device column, the column of the level to sample, less span0. If exact, it is the one
	// under the centre; otherwise the one left of the centre, and weight is that of the next column. Columns
	// span0…span1−1 of the level are needed.
	column       []int32
	weight       []lanes
	span0, span1 int
	// vector interpolates with vector instructions, nil for plain Go; pairs are the weights that it takes.
	vector *blender
	pairs  [][8]uint16

	// overlay is the level of the mask that is shown if masked is set. Its columns mask0…mask1−1 are visible; its
	// column m covers the device columns start[m−mask0]…start[m−mask0+1]−1. before and after are its columns just left
	// and right of inside, or −1.
	masked        bool
	maskSize      image.Point
	overlay       maskLevel
	overlayLevel  int
	mask0, mask1  int
	start         []int32
	before, after int
	// ink is the overlay's colour, share its weight, 0…256, for each value of the mask.
	ink   lanes
	share [256]lanes

	// grid holds the device columns at which a pixel of the picture begins. lines is set if the grid is drawn.
	grid  []int32
	lines bool

	// other is the level of the mask to compare with overlay; it has no pixels if there is none.
	other maskLevel
}

// blender interpolates with vector instructions, exactly as plain Go does.
type blender struct {
	// blend writes the mix of two rows, at least blenderColumns long, with lanes in the order of a pixel's bytes.
	blend func(out []lanes, a, b []packed, weight lanes)
	// interpolate writes at least blenderColumns device pixels from a row that blend has written. pairs holds the
	// weights of the lanes of each column and the next.
	interpolate func(row []lanes, column []int32, pairs [][8]uint16, out []uint8)
}

// blenderColumns is the least number of columns that a blender takes.
const blenderColumns = 8

// worker is the scratch memory of one goroutine.
type worker struct {
	// top and bottom hold the converted rows topRow and bottomRow of the level; −1 means none.
	top, bottom       []packed
	topRow, bottomRow int
	blended           []lanes
	// numbers holds those of the colours in a row of two masks.
	numbers []uint8
}

// NewRenderer returns a renderer that uses all processors. Until SetPicture is called it draws only the surround.
func NewRenderer() *Renderer {
	n := parallel.Processors()
	r := &Renderer{workers: make([]worker, n), vectors: vectorBlender()}
	for i := range r.workers {
		r.run = append(r.run, func() {
			defer r.wait.Done()
			r.bands(&r.workers[i])
		})
	}
	return r
}

// SetPicture sets the picture and its mask, which has the same size or is nil. With a nil picture only the surround is
// drawn.
func (r *Renderer) SetPicture(picture *Pyramid, mask *MaskPyramid) {
	r.SetPictures(picture, picture, mask)
}

// SetPictures sets two pictures of the same size; Options.Compare says which is shown.
func (r *Renderer) SetPictures(before, after *Pyramid, mask *MaskPyramid) {
	r.before, r.after, r.mask = before, after, mask
}

// SetLayer sets a layer, made by NewLayer, to show between the second picture and the mask; nil for none.
func (r *Renderer) SetLayer(layer *Pyramid) { r.layer = layer }

// Render draws all of dst, whose bounds are the viewport in device pixels. Every pixel that it writes is opaque.
func (r *Renderer) Render(dst *image.RGBA, t Transform, o Options) {
	r.RenderRect(dst, t, o, dst.Bounds())
}

// RenderRect draws only the device pixels of rect, exactly as Render would.
func (r *Renderer) RenderRect(dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	for _, p := range r.passes(dst.Rect, t, o, rect.Intersect(dst.Bounds())) {
		r.drawUpright(p.picture, dst, t, o, p.rect, p.bare)
	}
}

// pass is one picture of a frame and the part of the viewport in which it is drawn, which may be empty. bare leaves
// device pixels outside the picture unchanged.
type pass struct {
	picture *Pyramid
	rect    image.Rectangle
	bare    bool
}

// passes returns what is drawn, one after the other, in a part of a viewport.
func (r *Renderer) passes(viewport image.Rectangle, t Transform, o Options, rect image.Rectangle) (p [3]pass) {
	left, right := rect, rect
	switch {
	case o.Compare == CompareAfter || r.before == r.after && r.layer == nil:
		left.Max.X = left.Min.X
	case o.Compare == CompareBefore:
		right.Max.X = right.Min.X
	default:
		left.Max.X = min(left.Max.X, viewport.Min.X+o.Split)
		right.Min.X = max(right.Min.X, viewport.Min.X+o.Split)
	}
	p[0] = pass{picture: r.before, rect: left}
	if r.layer == nil || r.after == nil {
		p[1] = pass{picture: r.after, rect: right}
		return p
	}
	// If the layer covers all of the picture that is visible, the picture itself need not be drawn.
	all := t.Visible(image.Pt(r.after.pic.Width, r.after.pic.Height), viewport.Size())
	whole := all.In(r.layer.Area())
	if !whole {
		p[1] = pass{picture: r.after, rect: right}
	}
	p[2] = pass{picture: r.layer, rect: right, bare: !whole}
	return p
}

// drawUpright draws a picture and turns it upright if necessary. bare leaves device pixels outside the picture
// unchanged.
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
	if r.unturned == nil || r.unturned.Rect.Size() != size {
		r.unturned = image.NewRGBA(image.Rectangle{Max: size})
	}
	part := turn.inverse().rectangle(rect.Sub(dst.Rect.Min))
	r.draw(p, r.unturned, file, o, part)
	turn.copyPixels(dst, r.unturned, rect.Sub(dst.Rect.Min))
}

// draw draws a part of a picture in the orientation of the file.
func (r *Renderer) draw(p *Pyramid, dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	r.picture = p
	r.prepare(dst, t, o, rect)
	// Drop the references, so that destination and picture can become garbage.
	defer func() { r.frame.dst, r.picture = nil, nil }()
	r.next.Store(0)
	for i := range r.workers {
		r.workers[i].topRow, r.workers[i].bottomRow = -1, -1
	}
	n := 1
	// For fewer pixels, starting goroutines costs more than it saves.
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

// DirtyRect returns the device pixels that RenderRect must redraw after the mask has changed within the image rectangle
// dirty. They may lie outside the viewport: pixels that were drawn before may come back with the next move.
func (r *Renderer) DirtyRect(t Transform, dirty image.Rectangle) image.Rectangle {
	if r.mask == nil || dirty.Empty() {
		return image.Rectangle{}
	}
	m := r.mask.mask
	level := r.mask.levelFor(t.Zoom)
	w, h := r.mask.size(level)
	dirty = dirty.Intersect(image.Rect(0, 0, m.Width, m.Height))
	if dirty.Empty() {
		return image.Rectangle{}
	}
	// Widen to whole pixels of the level, whose last column and row reach to the edge.
	on := coarser(dirty, level, w, h)
	dirty = image.Rectangle{on.Min.Mul(1 << level), on.Max.Mul(1 << level)}
	if on.Max.X == w {
		dirty.Max.X = m.Width
	}
	if on.Max.Y == h {
		dirty.Max.Y = m.Height
	}
	// One more pixel, because an outline depends on the neighbours.
	return t.DeviceRect(dirty).Inset(-1)
}

// levelFor returns the first level whose pixels are at least one device pixel wide, so that sampling misses none.
func (p *MaskPyramid) levelFor(zoom float64) int {
	l := 0
	for ; l < len(p.levels) && math.Ldexp(zoom, l) < 1; l++ {
	}
	return l
}

// DirtyRect returns the device pixels to redraw after the picture has changed within the image rectangle changed, also
// those outside the viewport.
func (p *Pyramid) DirtyRect(t Transform, changed image.Rectangle) image.Rectangle {
	changed = changed.Intersect(image.Rect(0, 0, p.pic.Width, p.pic.Height))
	if changed.Empty() {
		return image.Rectangle{}
	}
	// A pixel of the level covers side × side pixels of the picture, and is interpolated with its neighbours.
	side := 1 << p.levelFor(t.Zoom)
	changed.Min.X, changed.Min.Y = changed.Min.X/side*side-side, changed.Min.Y/side*side-side
	changed.Max.X, changed.Max.Y = (changed.Max.X+side-1)/side*side+side, (changed.Max.Y+side-1)/side*side+side
	return t.DeviceRect(changed).Inset(-1)
}

// levelFor returns the sharpest level that bilinear interpolation samples without missing pixels.
func (p *Pyramid) levelFor(zoom float64) int {
	l := 0
	for ; l < len(p.levels) && math.Ldexp(zoom, l)*maxReduction < 1; l++ {
	}
	return l
}

// prepare fills the frame for drawing rect.
func (r *Renderer) prepare(dst *image.RGBA, t Transform, o Options, rect image.Rectangle) {
	f := &r.frame
	f.dst, f.t, f.o, f.rect, f.origin = dst, t, o, rect, dst.Rect.Min
	f.inside = image.Rectangle{}
	if r.picture == nil {
		return
	}
	pic := r.picture.pic
	whole, origin := r.after.pic, r.picture.origin
	f.columns, f.rows = newAxis(t.X, t.Zoom, origin.X, whole.Width), newAxis(t.Y, t.Zoom, origin.Y, whole.Height)
	f.pictureX, f.pictureY = newAxis(t.X, t.Zoom, 0, whole.Width), newAxis(t.Y, t.Zoom, 0, whole.Height)
	x0, x1 := f.columns.within(rect.Min.X-f.origin.X, rect.Max.X-f.origin.X, pic.Width)
	y0, y1 := f.rows.within(rect.Min.Y-f.origin.Y, rect.Max.Y-f.origin.Y, pic.Height)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	f.inside = image.Rect(x0, y0, x1, y1).Add(f.origin)
	f.prepareColumns(r.picture, x0, x1)
	f.prepareVector(r.vectors, r.picture)
	f.prepareMask(r.mask, x0, x1)
	f.grid = f.grid[:0]
	f.lines = o.Grid && t.Zoom >= GridZoom
	if f.lines {
		for x := x0; x < x1; x++ {
			if f.pictureX.pixel(x) != f.pictureX.pixel(x-1) {
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

// grow returns a slice of length n, which reuses the memory of s if it is large enough. Its content is undefined.
func grow[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// axis maps device columns, or rows, to coordinates of a picture.
type axis struct {
	// corner is the position of the viewport's corner relative to the picture's origin, in device pixels. origin is the
	// position of the pyramid being drawn, in pixels of the picture; size is the picture's, in its own pixels.
	corner, zoom, origin, size float64
	// only is the device column that shows a picture narrower than a device pixel, if narrow is set. Such a picture may
	// lie between the centres of two device pixels, and would disappear.
	narrow bool
	only   int
}

// newAxis returns the axis for an offset of a Transform, in pixels of the picture. Offsets that are whole device pixels
// but for rounding are rounded, so that a picture panned by whole device pixels looks exactly the same.
func newAxis(offset, zoom float64, origin, size int) axis {
	corner := offset * zoom
	if whole := math.Round(corner); math.Abs(corner-whole) < 1e-6 {
		corner = whole
	}
	a := axis{corner: corner, zoom: zoom, origin: float64(origin), size: float64(size)}
	if a.size*zoom < 1 {
		a.narrow, a.only = true, int(math.Floor(a.size/2*zoom-corner))
	}
	return a
}

// position returns the coordinate under the centre of device column or row i. All sampling uses it, so a part of a
// frame is drawn exactly like the whole.
func (a axis) position(i int) float64 {
	switch {
	case !a.narrow:
		return (a.corner+float64(i)+0.5)/a.zoom - a.origin
	case i < a.only:
		return -1 - a.origin
	case i > a.only:
		return a.size - a.origin
	}
	return a.size/2 - a.origin
}

// pixel returns the pixel under device column or row i.
func (a axis) pixel(i int) int { return int(math.Floor(a.position(i))) }

// within clips the device range [i0, i1) to a picture of n pixels.
func (a axis) within(i0, i1, n int) (int, int) {
	// An estimate with a margin, which the loops below make exact.
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

// prepareColumns computes what each device column x0…x1−1 of the viewport samples.
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
		i, weight := f.sample(f.columns, x, w)
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

// prepareVector chooses b, unless it is nil or there are too few columns for it, and computes its weights.
func (f *frame) prepareVector(b *blender, p *Pyramid) {
	w, _ := p.levelSize(f.level)
	f.vector = nil
	if b == nil || f.exact || min(len(f.column), min(f.span1, w)-f.span0) < blenderColumns {
		return
	}
	f.vector, f.pairs = b, grow(f.pairs, len(f.column))
	for i, next := range f.weight {
		a, b := uint16(256-next), uint16(next)
		f.pairs[i] = [8]uint16{a, a, a, a, b, b, b, b}
	}
}

// sample returns the pixel left of or above the centre of device column or row i, in a level of n columns or rows, and
// the weight of the next pixel. Beyond the centres of the outermost pixels the weight is 0. If pixels are shown as
// squares, it is the pixel under the centre.
func (f *frame) sample(a axis, i, n int) (int, lanes) {
	if f.exact {
		return min(a.pixel(i), n-1), 0
	}
	u := a.position(i)*f.scale - 0.5
	if u <= 0 {
		return 0, 0
	}
	left := int(u)
	if left >= n-1 {
		return n - 1, 0
	}
	return left, lanes((u-float64(left))*256 + 0.5)
}

// prepareMask computes which device columns each column of the mask covers, and the weights of the mask's values.
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

// maskColumn returns the column of the overlay under device column x, −1 outside the picture.
func (f *frame) maskColumn(x int) int {
	return maskIndex(f.pictureX.pixel(x), f.maskSize.X, f.overlayLevel, f.overlay.w)
}

// maskRow does the same for rows.
func (f *frame) maskRow(y int) int {
	return maskIndex(f.pictureY.pixel(y), f.maskSize.Y, f.overlayLevel, f.overlay.h)
}

// maskIndex returns the index, in a level of n columns or rows, of the pixel that covers pixel i of a mask that has
// size of them; −1 outside the mask.
func maskIndex(i, size, level, n int) int {
	if i < 0 || i >= size {
		return -1
	}
	return min(i>>level, n-1)
}

// bands takes and draws bands of rows until none is left.
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

// rowKey identifies the look of a device row if pixels are shown as squares: rows with equal keys are equal.
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
			key.picture, _ = f.sample(f.rows, v, r.picture.pic.Height)
			key.line = f.lines && f.pictureY.pixel(v) != f.pictureY.pixel(v-1)
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

// row draws row y of the viewport. out holds its pixels inside the picture.
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
	case f.vector != nil:
		f.vector.interpolate(r.blendRows(w, y), f.column, f.pairs, out)
	default:
		f.interpolate(r.blendRows(w, y), out)
	}
	if f.masked {
		switch {
		case f.o.Mode == Changed || f.other.pix != nil:
			f.inkRow(w, out, key.mask)
		case f.o.Mode == Outlines:
			f.outline(out, key)
		default:
			row := f.overlay.pix[key.mask*f.overlay.w:][f.mask0:f.mask1]
			f.tintRow(out, row, func(v uint8) (lanes, lanes) { return f.ink, f.share[v] })
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

// blendRows returns columns span0…span1−1 of the level, interpolated between the rows above and below the centre of row
// y of the viewport.
func (r *Renderer) blendRows(w *worker, y int) []lanes {
	f := &r.frame
	_, h := r.picture.levelSize(f.level)
	row, weight := f.sample(f.rows, y, h)
	below := min(row+1, h-1)
	var a, b []packed
	if f.level == 0 || r.picture.levels[f.level-1].patched.at != nil {
		a, b = w.convert(r.picture, f.level, row, below, f.span0)
	} else {
		l := &r.picture.levels[f.level-1]
		// The span may end one column beyond the level; the loop below repeats the last one.
		n := min(f.span1, l.w) - f.span0
		a, b = l.pix[row*l.w+f.span0:][:n], l.pix[below*l.w+f.span0:][:n]
	}
	out := w.blended
	b, out = b[:len(a)], out[:len(a)]
	if f.vector != nil {
		f.vector.blend(out, a, b, weight)
	} else {
		for i, p := range a {
			out[i] = mix(unpack(p), unpack(b[i]), weight)
		}
	}
	for i := len(out); i < len(w.blended); i++ {
		w.blended[i] = w.blended[i-1]
	}
	return w.blended
}

// convert returns rows a and b of a level from column x0 on. It reuses the rows of the last call.
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

// interpolate writes a row of device pixels from a row of the level.
func (f *frame) interpolate(row []lanes, out []uint8) {
	weight := f.weight[:len(f.column)]
	for i, c := range f.column {
		pair := row[c : c+2 : c+2]
		binary.LittleEndian.PutUint32(out[4*i:], mix(pair[0], pair[1], weight[i]).pack())
	}
}

// tintRow mixes the colours of the visible columns of a mask into a row of device pixels; ink returns colour and weight
// for a value. It skips empty parts eight columns at a time.
func (f *frame) tintRow(out, row []uint8, ink func(v uint8) (colour, share lanes)) {
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
			colour, share := ink(v)
			tint(out[4*f.start[m]:4*f.start[n]], colour, share)
		}
		m = n
	}
}

// tint mixes a colour into device pixels, with weight share of 256.
func tint(out []uint8, colour, share lanes) {
	ink := colour*share + half
	rest := 256 - share
	for i := 0; i+4 <= len(out); i += 4 {
		pixel := out[i : i+4 : i+4]
		p := unpack(binary.LittleEndian.Uint32(pixel))
		binary.LittleEndian.PutUint32(pixel, ((p*rest + ink) >> 8 & laneMask).pack())
	}
}

// AlikeInk is the least sum of the differences of the channels at which an outline in its own colour is seen on a
// pixel.
const AlikeInk = 220

// outlinePixels draws pixels of an outline in its colour, and over those of a like colour in black or white, whichever
// differs more.
func (f *frame) outlinePixels(out []uint8) {
	ink := f.ink.pack()
	var colour [4]uint8
	binary.LittleEndian.PutUint32(colour[:], ink)
	for i := 0; i+4 <= len(out); i += 4 {
		pixel, apart := out[i:i+4:i+4], 0
		for c := range 3 {
			apart += max(int(pixel[c])-int(colour[c]), int(colour[c])-int(pixel[c]))
		}
		p := ink
		if apart < AlikeInk {
			if p = opaque; pixel[1] < 128 {
				p = 0xffffffff
			}
		}
		binary.LittleEndian.PutUint32(pixel, p)
	}
}

// outline draws the pixels of a row that are in the mask and have a 4-neighbour that is not.
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
	for m := f.mask0; m < f.mask1; m++ {
		if row[m] < processing.MaskLevel {
			continue
		}
		// A pixel that was drawn must not be judged again, so that each is drawn once.
		from, to := f.start[m-f.mask0], f.start[m-f.mask0+1]
		left, right := m-1, m+1
		if m == f.mask0 {
			left = f.before
		}
		if right == f.mask1 {
			right = f.after
		}
		opens, ends := !in(row, left), !in(row, right)
		switch {
		case !in(above, m) || !in(below, m) || opens && ends && to-from <= 2:
			f.outlinePixels(out[4*from : 4*to])
		default:
			if opens {
				f.outlinePixels(out[4*from : 4*from+4])
			}
			if ends {
				f.outlinePixels(out[4*to-4 : 4*to])
			}
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
	binary.LittleEndian.PutUint32(out, mix(unpack(p), unpack(to), GridStrength).pack())
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
