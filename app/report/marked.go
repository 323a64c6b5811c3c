package report

import (
	"context"
	"image"

	"blik/app/colour"
	"blik/app/imagefile"
	"blik/app/thumbnail"
	"blik/internal/span"
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
	w, h := mask.Width, mask.Height
	spans := span.Append(nil, mask.Pix, w, 0, h, processing.MaskLevel)
	free, line := span.NewSet(w, h), span.NewSet(w, h)
	free.Mark(gap, spans)
	thick := 1 + max(w, h)/3000
	line.Mark(gap+thick, spans)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return err
		}
		for x := range w {
			if line.Has(x, y) && !free.Has(x, y) {
				draw(y*w + x)
			}
		}
	}
	return nil
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
