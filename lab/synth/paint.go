package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"blik/processing"
)

// MaxPixels is the largest picture that Paint makes.
const MaxPixels = 400_000_000

// PaintOptions are the options of Paint. With the zero value the seed chooses the scene.
type PaintOptions struct {
	Seed uint64
	// Scene is one of Scenes, or empty for the seed's choice.
	Scene string
	// SizeMM is the length of the painting's long side in millimetres, 20 to 5000; 0 means 450. Brush strokes, canvas
	// and cracks have real sizes, so that a picture of more pixels shows finer detail of the same painting, and a
	// larger painting has more strokes.
	SizeMM float64
	// Fresh leaves out the effects of age: craquelure and the tone of the varnish.
	Fresh bool
	// Noiseless leaves out the noise of the sensor.
	Noiseless bool
	// Grey makes one channel of linear luminance instead of three.
	Grey bool
	// Workers limits the goroutines; 0 means as many as processors. It does not change the result.
	Workers int
}

// Scenes lists the scenes that Paint can paint.
func Scenes() []string { return []string{"coast", "still-life", "portrait"} }

// Paint returns an oil painting of w × h pixels with 8 or 16 bits a sample, sRGB encoded and without glare: a
// composition laid down in several layers of brush strokes that follow its flow (Litwinowicz 1997; Hertzmann 1998),
// each with bristle streaks, colour jitter and wet edges; their relief and the canvas lit from the side; craquelure
// along the edges of Voronoi cells (Worley 1996); varnish, vignetting and noise. It also holds bright details that
// belong to the painting: stars, foam, lace, pearls, highlights on glass and metal, thin white strokes, a bright
// horizon.
//
// Tiles are painted independently of each other in parallel, in time proportional to the pixels and with little memory
// beyond the result, which depends on size, depth, scene and seed only. Paint returns the context's error when
// cancelled, and an error for a size, depth or option out of range.
func Paint(ctx context.Context, w, h, depth int, opt PaintOptions) (*processing.Picture, error) {
	if w < 1 || h < 1 || w > MaxPixels/h {
		return nil, fmt.Errorf("paint: %d × %d pixels; both sides must be at least 1 and the picture at most %d "+
			"megapixels", w, h, MaxPixels/1_000_000)
	}
	if depth != 8 && depth != 16 {
		return nil, fmt.Errorf("paint: depth of %d bits; 8 or 16 expected", depth)
	}
	if opt.SizeMM == 0 {
		opt.SizeMM = 450
	}
	if !(opt.SizeMM >= 20 && opt.SizeMM <= 5000) {
		return nil, fmt.Errorf("paint: size of %g mm; 20 to 5000 expected", opt.SizeMM)
	}
	if opt.Scene == "" {
		opt.Scene = Scenes()[stream(opt.Seed, 10).IntN(len(Scenes()))]
	}
	if !slices.Contains(Scenes(), opt.Scene) {
		return nil, fmt.Errorf("paint: no scene is called %q; there are %q", opt.Scene, Scenes())
	}
	channels := 3
	if opt.Grey {
		channels = 1
	}
	out, err := newPicture(w, h, channels, depth, processing.TransferSRGB)
	if err != nil {
		return nil, err
	}
	p := newPainter(out, opt)
	across, down := (w+tileSide-1)/tileSide, (h+tileSide-1)/tileSide
	err = each(ctx, across*down, opt.Workers, func() func(i int) {
		t := newTile(p)
		return func(i int) { t.paint(ctx, i%across*tileSide, i/across*tileSide) }
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// tileSide is the side of the tiles in pixels, tileFrame the frame around them that the relief's gradient needs.
const (
	tileSide  = 256
	tileFrame = 1
)

// layer is one round of brush strokes on a jittered grid; lengths in millimetres.
type layer struct {
	spacing, length, width float64
	thick                  float64
	jitter                 float64
	// Strokes are left out where the detail of the scene is below a random threshold between least and detail.
	least, detail float64
	// follows: strokes near an edge of the composition run along it.
	follows bool
}

// painter is the state of one call of Paint. It is read-only while tiles are painted.
type painter struct {
	opt PaintOptions
	out *processing.Picture
	// scale is in pixels per millimetre; width and height are in millimetres.
	scale, width, height float64
	layers               []layer
	scene                scene
	details              []stroke
	bristles             *bristles
	curve                *curve
	normals              []float32
}

func newPainter(out *processing.Picture, opt PaintOptions) *painter {
	scale := float64(max(out.Width, out.Height)) / opt.SizeMM
	p := &painter{
		opt: opt, out: out, scale: scale,
		width: float64(out.Width) / scale, height: float64(out.Height) / scale,
		bristles: newBristles(opt.Seed),
		curve:    newCurve(out.Depth(), out.Transfer),
	}
	if !opt.Noiseless {
		p.normals = normals()
	}
	switch opt.Scene {
	case "coast":
		p.scene = newCoast(opt.Seed, p.width, p.height)
	case "still-life":
		p.scene = newStillLife(opt.Seed, p.width, p.height)
	default:
		p.scene = newPortrait(opt.Seed, p.width, p.height)
	}
	p.details = p.scene.details()
	for _, l := range []layer{
		{spacing: 13, length: 42, width: 15, thick: 0.03, jitter: 0.10},
		{spacing: 5.5, length: 22, width: 6.5, thick: 0.07, jitter: 0.09},
		{spacing: 2.3, length: 10, width: 2.8, thick: 0.10, jitter: 0.08, detail: 0.35, follows: true},
		{spacing: 1.2, length: 5, width: 1.3, thick: 0.08, jitter: 0.05, detail: 1, follows: true},
		{spacing: 0.55, length: 2.2, width: 0.6, thick: 0.04, jitter: 0.03, least: 0.8, detail: 1, follows: true},
	} {
		// Strokes narrower than a pixel would cost time and show nothing.
		if l.width*scale >= 1.3 {
			p.layers = append(p.layers, l)
		}
	}
	return p
}

// tile holds the wet paint of a tile with its frame, in linear light, and its relief in millimetres.
type tile struct {
	*painter
	// (x0, y0) is the pixel of the first entry, w × h the number of pixels in use, including the frame, and side the
	// length of a row.
	x0, y0, w, h, side int
	pix                []float32
	relief             []float32
	strokes            []stroke
	cracks             cracks
	row                []float32
	// shiftX, one for each row, and shiftY, one for each column, bend canvas and cracks; in millimetres.
	shiftX, shiftY []float32
	// crackX and crackY bend the cracks in addition.
	crackX, crackY []float32
}

func newTile(p *painter) *tile {
	side := tileSide + 2*tileFrame
	return &tile{
		painter: p, side: side,
		pix:    make([]float32, 3*side*side),
		relief: make([]float32, side*side),
		row:    make([]float32, 3*tileSide),
		shiftX: make([]float32, side),
		shiftY: make([]float32, side),
		crackX: make([]float32, side),
		crackY: make([]float32, side),
	}
}

// paint paints the tile whose first pixel is (x0, y0) into the picture, or stops if ctx is cancelled.
func (t *tile) paint(ctx context.Context, x0, y0 int) {
	t.x0, t.y0 = x0-tileFrame, y0-tileFrame
	t.w = min(x0+tileSide, t.out.Width) + tileFrame - t.x0
	t.h = min(y0+tileSide, t.out.Height) + tileFrame - t.y0
	t.ground()
	for i := range t.layers {
		if t.gather(ctx, i); ctx.Err() != nil {
			return
		}
		for j := range t.strokes {
			t.brush(&t.strokes[j])
		}
	}
	for i := range t.details {
		t.brush(&t.details[i])
	}
	t.surface()
	t.develop()
}

// ground fills the tile with the composition itself. The first layer covers it, except on pictures with so few pixels
// that every stroke would be narrower than one.
func (t *tile) ground() {
	clear(t.relief)
	if len(t.layers) > 0 {
		g := srgb(0x8a7455)
		for i := 0; i < len(t.pix); i += 3 {
			t.pix[i], t.pix[i+1], t.pix[i+2] = float32(g[0]), float32(g[1]), float32(g[2])
		}
		return
	}
	for j := range t.h {
		for i := range t.w {
			s := t.scene.at((float64(t.x0+i)+0.5)/t.scale, (float64(t.y0+j)+0.5)/t.scale)
			k := 3 * (j*t.side + i)
			t.pix[k], t.pix[k+1], t.pix[k+2] = float32(s.colour[0]), float32(s.colour[1]), float32(s.colour[2])
		}
	}
}

// gather collects the strokes of a layer that may touch the tile, in the order in which they were painted. Every stroke
// depends only on its cell, so that neighbouring tiles agree on it.
func (t *tile) gather(ctx context.Context, n int) {
	l := &t.layers[n]
	t.strokes = t.strokes[:0]
	reach := l.length*0.75 + l.width + l.spacing
	x0, y0 := float64(t.x0)/t.scale-reach, float64(t.y0)/t.scale-reach
	x1, y1 := float64(t.x0+t.w)/t.scale+reach, float64(t.y0+t.h)/t.scale+reach
	for j := int(math.Floor(y0 / l.spacing)); j <= int(math.Floor(y1/l.spacing)) && ctx.Err() == nil; j++ {
		for i := int(math.Floor(x0 / l.spacing)); i <= int(math.Floor(x1/l.spacing)); i++ {
			if s, ok := t.stroke(n, i, j); ok && t.touches(&s) {
				t.strokes = append(t.strokes, s)
			}
		}
	}
	slices.SortFunc(t.strokes, func(a, b stroke) int { return cmp.Compare(a.order, b.order) })
}

// stroke returns the stroke of cell (i, j) of layer n, or false if there is none.
func (p *painter) stroke(n, i, j int) (stroke, bool) {
	l := &p.layers[n]
	key := mix(p.opt.Seed ^ mix(uint64(n)<<58^uint64(uint32(i))<<29^uint64(uint32(j))))
	part := func(k uint64) float64 { return float64(mix(key+k)>>11) / (1 << 53) }
	x := (float64(i) + part(1)) * l.spacing
	y := (float64(j) + part(2)) * l.spacing
	// The composition ends at the picture's edge; strokes that begin beyond it continue the edge.
	look := func(x, y float64) spot {
		return p.scene.at(math.Max(0, math.Min(x, p.width)), math.Max(0, math.Min(y, p.height)))
	}
	at := look(x, y)
	if l.detail > 0 && at.detail < l.least+part(3)*(l.detail-l.least) {
		return stroke{}, false
	}
	half := l.length / 2 * (0.6 + 0.8*part(4)) * (1 - 0.45*at.detail)
	s := stroke{
		x: x, y: y, angle: at.angle + (part(5)-0.5)*0.5,
		half: half, wide: l.width / 2 * (0.7 + 0.6*part(6)),
		thick: l.thick * (0.4 + at.body) * (0.6 + 0.8*part(7)),
		dry:   part(8) * part(8), streak: 0.25 + 0.3*part(9),
		order: key,
	}
	if l.follows {
		d := l.width
		gx := look(x+d, y).colour.tone() - look(x-d, y).colour.tone()
		gy := look(x, y+d).colour.tone() - look(x, y-d).colour.tone()
		if math.Hypot(gx, gy) > 0.08 {
			s.angle = math.Atan2(gx, -gy) + (part(5)-0.5)*0.2
		}
	}
	// A careful painter stays on one side of an edge (Litwinowicz 1997): strokes end where the composition changes,
	// except in the first layer, which covers the ground.
	sin, cos := math.Sincos(s.angle)
	ahead := look(x+cos*s.half, y+sin*s.half)
	for i := 0; i < 3 && n > 0; i++ {
		if at.colour.differs(ahead.colour) || at.colour.differs(look(x-cos*s.half, y-sin*s.half).colour) {
			s.half *= 0.6
			ahead = look(x+cos*s.half, y+sin*s.half)
		} else {
			break
		}
	}
	for i := 0; i < 2 && n > 0; i++ {
		if at.colour.differs(look(x-sin*s.wide, y+cos*s.wide).colour) ||
			at.colour.differs(look(x+sin*s.wide, y-cos*s.wide).colour) {
			s.wide *= 0.6
		}
	}
	turn := math.Remainder(ahead.angle-at.angle, math.Pi)
	s.bend = math.Max(-0.5, math.Min(0.5, turn)) / s.half
	light := 1 + l.jitter*2*(part(10)+part(11)-1)
	for c := range s.colour {
		s.colour[c] = float32(math.Max(0, at.colour[c]*light*(1+l.jitter*(part(12+uint64(c))-0.5))))
	}
	return s, true
}
