package report

import (
	"context"
	"image"

	"blik/app/colour"
	"blik/app/imagefile"
	"blik/app/thumbnail"
	"blik/processing"
)

// The outline leaves a gap of gap pixels around a glint, so that the glint itself stays visible.
const gap = 2

// Marked returns an 8-bit RGB copy of pic for display, in which everything in the mask is outlined in red. The outline
// is a pixel wide, more on large pictures, and lies outside the mask. A nil profile stands for the default profile of
// untagged pictures.
func Marked(ctx context.Context, pic *processing.Picture, profile *colour.Profile, mask *processing.Mask) (
	*processing.Picture, error,
) {
	out, err := eightBit(ctx, pic, thumbnail.Screen(pic, profile))
	if err != nil {
		return nil, err
	}
	err = outline(ctx, mask, func(i int) { copy(out.U8[3*i:3*i+3], []uint8{255, 0, 0}) })
	return out, err
}

// Preview returns a picture like Marked of at most size × size pixels, upright. Its outlines are as wide as those of a
// picture of that size.
func Preview(ctx context.Context, f *imagefile.File, mask *processing.Mask, size int) (image.Image, error) {
	pic := f.Picture
	m, err := thumbnail.Make(ctx, pic, thumbnail.Screen(pic, f.Profile), 1, size)
	if err != nil {
		return nil, err
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	small := processing.NewMask(w, h)
	for i, v := range mask.Pix {
		if v >= processing.MaskLevel {
			small.Pix[i/pic.Width*h/pic.Height*w+i%pic.Width*w/pic.Width] = v
		}
	}
	err = outline(ctx, small, func(i int) { copy(m.Pix[4*i:4*i+4], []uint8{255, 0, 0, 255}) })
	return thumbnail.Upright(m, f.Orientation), err
}

// outline calls draw for each pixel of the outlines around the components of the mask.
func outline(ctx context.Context, mask *processing.Mask, draw func(i int)) error {
	free, err := widen(ctx, mask, gap)
	if err != nil {
		return err
	}
	thick := 1 + max(mask.Width, mask.Height)/3000
	line, err := widen(ctx, mask, gap+thick)
	if err != nil {
		return err
	}
	for i := range line {
		if line[i] && !free[i] {
			draw(i)
		}
	}
	return nil
}

// widen reports for each pixel whether the mask has a pixel within r rows and columns. Masks are sparse, so it paints
// the widened runs of the mask one by one.
func widen(ctx context.Context, m *processing.Mask, r int) ([]bool, error) {
	w, h := m.Width, m.Height
	out := make([]bool, w*h)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := m.Pix[y*w : (y+1)*w]
		for x := 0; x < w; x++ {
			if row[x] < processing.MaskLevel {
				continue
			}
			x0 := max(x-r, 0)
			for x < w && row[x] >= processing.MaskLevel {
				x++
			}
			x1 := min(x+r, w)
			for v := max(y-r, 0); v <= min(y+r, h-1); v++ {
				line := out[v*w+x0 : v*w+x1]
				for i := range line {
					line[i] = true
				}
			}
		}
	}
	return out, nil
}

// eightBit converts to the 8-bit RGB of the screen.
func eightBit(ctx context.Context, pic *processing.Picture, screen *colour.Screen) (*processing.Picture, error) {
	w := pic.Width
	out := &processing.Picture{Width: w, Height: pic.Height, Channels: 3, U8: make([]uint8, 3*w*pic.Height)}
	row := make([]uint32, w)
	for y := range pic.Height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		screen.Row(row, pic, y, 0)
		dst := out.U8[3*y*w : 3*(y+1)*w]
		for x, v := range row {
			dst[3*x], dst[3*x+1], dst[3*x+2] = uint8(v), uint8(v>>8), uint8(v>>16)
		}
	}
	return out, nil
}
