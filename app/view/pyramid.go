package view

import (
	"context"
	"image"

	"blik/app/colour"
	"blik/internal/parallel"
	"blik/processing"
)

// chunkRows is how many rows a goroutine takes at a time: few enough to answer a cancel at once.
const chunkRows = 32

// Pyramid holds the reduced copies of a picture for display: level l ≥ 1 has sides ⌈w/2^l⌉ × ⌈h/2^l⌉, opaque 8-bit
// sRGB in packed pixels. Level 0 is the picture itself, whose samples are converted when they are shown, so that a
// master of 16 bits is not held twice; the levels take 4/3 bytes per pixel of the picture.
//
// A pixel is the mean of 2 × 2 pixels in linear light: a point of glare then keeps the brightness that the eye would
// see from further away, where means of encoded values would drown it.
//
// The levels lie as the file does. Where the file is to be turned to stand upright, Turn says so, and the Renderer
// turns what it has drawn.
//
// A Pyramid is immutable and may be used from any goroutine.
type Pyramid struct {
	pic    *processing.Picture
	screen *colour.Screen
	turn   Turn
	// origin is where its first pixel lies in the picture that the Renderer shows; zero unless it covers a part of it.
	origin image.Point
	levels []level
	// patched are the tiles of level 0 that With changed: pictures of their own.
	patched tiles[processing.Picture]
}

// level is a reduced copy; levels[0] of a Pyramid is level 1.
type level struct {
	w, h int
	pix  []packed
	// patched are the tiles that differ from pix.
	patched tiles[[tileSide * tileSide]packed]
}

// packed is an opaque or premultiplied pixel: red in the lowest byte, then green, blue and alpha, which is the order
// of image.RGBA's bytes in little-endian order.
type packed = uint32

// opaque is the alpha of a packed pixel.
const opaque packed = 255 << 24

// PyramidOption says how a picture is to be shown.
type PyramidOption func(*pyramidOptions)

type pyramidOptions struct {
	profile     *colour.Profile
	orientation int
	screen      *colour.Screen
	origin      image.Point
}

// WithProfile shows the samples through a profile, as Profile.For fits it to the picture. Without it, or with nil, they
// are shown by the picture's transfer curve in the colours of sRGB.
func WithProfile(p *colour.Profile) PyramidOption {
	return func(o *pyramidOptions) { o.profile = p }
}

// WithOrientation sets the picture upright as EXIF's orientation 1…8 says; others leave it as it is.
func WithOrientation(orientation int) PyramidOption {
	return func(o *pyramidOptions) { o.orientation = orientation }
}

// NewLayer returns the pyramid of a layer in false colours, for Renderer.SetLayer. It keeps the map's samples.
func NewLayer(ctx context.Context, m *processing.LayerMap) (*Pyramid, error) {
	pic := &processing.Picture{Width: m.Rect.Dx(), Height: m.Rect.Dy(), Channels: 1, U16: m.Pix}
	return NewPyramid(ctx, pic, func(o *pyramidOptions) {
		o.screen, o.origin = colour.FalseColour(&m.Spec), m.Rect.Min
	})
}

// NewPyramid builds the levels of pic, which must not change afterwards. It returns ctx.Err() soon after a cancel, and
// an error for a picture that is not valid.
func NewPyramid(ctx context.Context, pic *processing.Picture, options ...PyramidOption) (*Pyramid, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	var o pyramidOptions
	for _, set := range options {
		set(&o)
	}
	if o.profile == nil {
		o.profile = colour.FromPicture(pic)
	}
	if o.screen == nil {
		o.screen = o.profile.For(pic.Channels).Screen(pic.Depth())
	}
	p := &Pyramid{
		pic:    pic,
		screen: o.screen,
		origin: o.origin,
		turn:   NewTurn(o.orientation, image.Pt(pic.Width, pic.Height)),
	}
	for w, h := pic.Width, pic.Height; w > 1 || h > 1; {
		w, h = (w+1)/2, (h+1)/2
		l := level{w: w, h: h, pix: make([]packed, w*h)}
		work := func(y int) { p.screen.HalfRow(l.pix[y*w:][:w], pic, y) }
		if len(p.levels) > 0 {
			finer := p.levels[len(p.levels)-1]
			work = func(y int) {
				p.screen.HalfPixels(l.pix[y*w:][:w], finer.pix[2*y*finer.w:][:finer.w],
					finer.pix[min(2*y+1, finer.h-1)*finer.w:][:finer.w])
			}
		}
		if err := parallel.Chunks(ctx, h, chunkRows, func(y0, y1 int) {
			for y := y0; y < y1; y++ {
				work(y)
			}
		}); err != nil {
			return nil, err
		}
		p.levels = append(p.levels, l)
	}
	return p, ctx.Err()
}

// Picture returns the picture that the pyramid was built from, without any patches.
func (p *Pyramid) Picture() *processing.Picture { return p.pic }

// Area returns the pixels that it covers of the picture that is shown.
func (p *Pyramid) Area() image.Rectangle {
	return image.Rect(0, 0, p.pic.Width, p.pic.Height).Add(p.origin)
}

// Turn returns how the picture is set upright.
func (p *Pyramid) Turn() Turn { return p.turn }

// Bytes returns the memory that the levels take, with the tiles that they may share with other pyramids.
func (p *Pyramid) Bytes() int64 {
	n := int64(0)
	for _, t := range p.patched.at {
		if t != nil {
			n += int64(t.Width * t.Height * t.Channels * t.Depth() / 8)
		}
	}
	for _, l := range p.levels {
		n += 4 * int64(len(l.pix))
		for _, t := range l.patched.at {
			if t != nil {
				n += 4 * tileSide * tileSide
			}
		}
	}
	return n
}

// lanes is a pixel spread out for arithmetic on all channels at once: 16 bits each, red lowest, then blue, green and
// alpha. A value times a weight of at most 256 stays in its lane.
type lanes uint64

const (
	laneMask lanes = 0x00ff00ff00ff00ff
	// half rounds a division by 256 to nearest.
	half lanes = 0x0080008000800080
)

func spread(p packed) lanes { return lanes(p&0x00ff00ff) | lanes(p&0xff00ff00)<<24 }

func (l lanes) pack() packed { return packed(l)&0x00ff00ff | packed(l>>24)&0xff00ff00 }

// mix returns the weighted mean a·(256−f)/256 + b·f/256, rounded to nearest, for 0 ≤ f ≤ 256. Equal pixels stay
// what they are. The lanes borrow from each other in b − a, which the sum makes good: it saves a multiplication.
func mix(a, b, f lanes) lanes {
	return (a<<8 + (b-a)*f + half) >> 8 & laneMask
}

// levelSize returns the sides of level l.
func (p *Pyramid) levelSize(l int) (w, h int) {
	if l == 0 {
		return p.pic.Width, p.pic.Height
	}
	return p.levels[l-1].w, p.levels[l-1].h
}

// row writes the pixels x0…x0+len(dst)−1 of row y of level l.
func (p *Pyramid) row(dst []packed, l, y, x0 int) {
	if l > 0 {
		p.levels[l-1].row(dst, y, x0)
		return
	}
	if p.patched.at == nil {
		p.screen.Row(dst, p.pic, y, x0)
		return
	}
	for x1 := x0 + len(dst); x0 < x1; {
		t, end := p.patched.run(x0, y, x1)
		if t == nil {
			p.screen.Row(dst[:end-x0], p.pic, y, x0)
		} else {
			p.screen.Row(dst[:end-x0], t, y%tileSide, x0%tileSide)
		}
		dst, x0 = dst[end-x0:], end
	}
}

func (l *level) row(dst []packed, y, x0 int) {
	copy(dst, l.pix[y*l.w+x0:])
	if l.patched.at == nil {
		return
	}
	for x1 := x0 + len(dst); x0 < x1; {
		t, end := l.patched.run(x0, y, x1)
		if t != nil {
			copy(dst[:end-x0], t[y%tileSide*tileSide+x0%tileSide:])
		}
		dst, x0 = dst[end-x0:], end
	}
}
