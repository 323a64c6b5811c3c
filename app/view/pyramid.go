package view

import (
	"context"
	"image"

	"blik/app/colour"
	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/detect"
)

// chunkRows is the number of rows that a goroutine takes at a time: few enough to respond quickly to a cancel.
const chunkRows = 32

// Pyramid holds reduced copies of a picture for display. Level l ≥ 1 has sides ⌈w/2^l⌉ × ⌈h/2^l⌉ and consists of packed
// opaque 8-bit sRGB pixels. Level 0 is the picture itself; its samples are converted whenever they are drawn, so that a
// 16-bit master needs no second copy. The other levels together take 4/3 bytes per pixel of the picture.
//
// A pixel is the mean of 2 × 2 pixels in linear light, so that a small glint keeps the brightness that the eye would
// see from further away. Means of encoded values would make it too dark.
//
// The levels have the orientation of the file. The Renderer applies Turn to what it has drawn.
//
// A Pyramid is immutable and may be used on any goroutine.
type Pyramid struct {
	pic    *processing.Picture
	screen *colour.Screen
	turn   Turn
	// origin is the position of its first pixel in the picture that the Renderer shows; zero unless the pyramid is a
	// layer.
	origin image.Point
	levels []level
	// patched holds the tiles of level 0 that With has changed, in this pyramid since unpatched, nil if it has none.
	patched   tiles[processing.Picture]
	unpatched *Pyramid
}

// level is a reduced copy; levels[0] of a Pyramid is level 1.
type level struct {
	w, h int
	pix  []packed
	// patched holds the tiles that differ from pix.
	patched tiles[[tileSide * tileSide]packed]
}

// packed is an opaque or premultiplied pixel: red in the lowest byte, then green, blue and alpha. In little-endian
// order these are the bytes of image.RGBA.
type packed = uint32

// opaque is the alpha of a packed pixel.
const opaque packed = 255 << 24

// PyramidOption is an option of NewPyramid.
type PyramidOption func(*Pyramid)

// WithProfile converts the samples from a colour profile, after Profile.For has adapted it to the picture. Without it,
// or with nil, the picture's transfer curve and the primaries of sRGB are used.
func WithProfile(profile *colour.Profile) PyramidOption {
	return func(p *Pyramid) {
		if profile != nil {
			p.screen = profile.For(p.pic.Channels).Screen(p.pic.Depth())
		}
	}
}

// WithOrientation turns the picture upright according to an EXIF orientation, 1…8. Other values have no effect.
func WithOrientation(orientation int) PyramidOption {
	return func(p *Pyramid) { p.turn = NewTurn(orientation, image.Pt(p.pic.Width, p.pic.Height)) }
}

// NewLayer returns the pyramid of a layer in false colours, for Renderer.SetLayer. It keeps the map's samples, which
// must not change afterwards. Its errors are those of NewPyramid.
func NewLayer(ctx context.Context, m *detect.LayerMap) (*Pyramid, error) {
	pic := &processing.Picture{Width: m.Rect.Dx(), Height: m.Rect.Dy(), Channels: 1, U16: m.Pix}
	return NewPyramid(ctx, pic, func(p *Pyramid) { p.screen, p.origin = colour.FalseColour(&m.Spec), m.Rect.Min })
}

// NewPyramid builds the levels of pic, which must not change afterwards. The error is that of Picture.Validate, or
// ctx.Err() soon after a cancel.
func NewPyramid(ctx context.Context, pic *processing.Picture, options ...PyramidOption) (*Pyramid, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	p := &Pyramid{pic: pic}
	for _, set := range options {
		set(p)
	}
	if p.screen == nil {
		WithProfile(colour.FromPicture(pic))(p)
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

// Area returns the part of the shown picture that the pyramid covers: all of it unless it is a layer.
func (p *Pyramid) Area() image.Rectangle {
	return image.Rect(0, 0, p.pic.Width, p.pic.Height).Add(p.origin)
}

// Turn returns the turn that makes the picture upright.
func (p *Pyramid) Turn() Turn { return p.turn }

// lanes holds the channels of a pixel in 16 bits each, red lowest, then blue, green and alpha, for arithmetic on all of
// them at once. A value times a weight of at most 256 fits its lane.
type lanes uint64

const (
	laneMask lanes = 0x00ff00ff00ff00ff
	// half is added before a division by 256, which then rounds to nearest.
	half lanes = 0x0080008000800080
)

func unpack(p packed) lanes { return lanes(p&0x00ff00ff) | lanes(p&0xff00ff00)<<24 }

func (l lanes) pack() packed { return packed(l)&0x00ff00ff | packed(l>>24)&0xff00ff00 }

// mix returns the weighted mean a·(256−f)/256 + b·f/256, rounded to nearest, for 0 ≤ f ≤ 256. The mean of equal pixels
// is exact. In b − a lanes may borrow from each other; the sum cancels that, and one multiplication is enough.
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
