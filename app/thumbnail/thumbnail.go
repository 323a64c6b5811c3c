// Package thumbnail makes small pictures for display: crops for reports, previews, contact sheets, recent files. Its
// input is always decoded by Blik: the imaging library neither opens files nor writes masters.
package thumbnail

import (
	"bytes"
	"context"
	"encoding/base64"
	"html/template"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"blik/app/colour"
	"blik/processing"

	"github.com/disintegration/imaging"
)

// quality is the quality of JPEG files for display.
const quality = 88

// oversampling is the minimum number of source pixels per thumbnail pixel in each direction.
const oversampling = 4

// Screen returns the conversion to the screen for a picture with the given profile. A nil profile stands for the
// default profile of untagged pictures.
func Screen(pic *processing.Picture, profile *colour.Profile) *colour.Screen {
	if profile == nil {
		profile = colour.FromPicture(pic)
	}
	return profile.Screen(pic.Depth())
}

// Crop returns the part of pic within area, converted for the screen.
func Crop(ctx context.Context, pic *processing.Picture, screen *colour.Screen, area image.Rectangle) (
	*image.NRGBA, error,
) {
	out := image.NewNRGBA(image.Rect(0, 0, area.Dx(), area.Dy()))
	for y := range area.Dy() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		Row(out, y, 0, pic, screen, area.Min.Y+y, area.Min.X, area.Dx())
	}
	return out, nil
}

// Row draws n pixels of pic, from (fromX, fromY), into out at (x, y).
func Row(out *image.NRGBA, y, x int, pic *processing.Picture, screen *colour.Screen, fromY, fromX, n int) {
	row := make([]uint32, n)
	screen.Row(row, pic, fromY, fromX)
	dst := out.Pix[out.PixOffset(x, y):]
	for i, v := range row {
		dst[4*i], dst[4*i+1], dst[4*i+2], dst[4*i+3] = uint8(v), uint8(v>>8), uint8(v>>16), 255
	}
}

// Make returns pic converted for the screen, upright, with at most size × size pixels. For much larger pictures only
// some rows and columns are read, which saves time and memory.
func Make(ctx context.Context, pic *processing.Picture, screen *colour.Screen, orientation, size int) (
	*image.NRGBA, error,
) {
	step := max(1, max(pic.Width, pic.Height)/(oversampling*size))
	middle := func(i, n int) int { return min(i*step+step/2, n-1) }
	out := image.NewNRGBA(image.Rect(0, 0, (pic.Width+step-1)/step, (pic.Height+step-1)/step))
	row := image.NewNRGBA(image.Rect(0, 0, pic.Width, 1))
	for y := range out.Rect.Dy() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		Row(row, 0, 0, pic, screen, middle(y, pic.Height), 0, pic.Width)
		for x := range out.Rect.Dx() {
			at := 4 * middle(x, pic.Width)
			copy(out.Pix[out.PixOffset(x, y):], row.Pix[at:at+4])
		}
	}
	return Upright(imaging.Fit(out, size, size, imaging.Lanczos), orientation), nil
}

// Fit reduces a picture that is larger than size × size pixels; each pixel is the mean of those that it replaces.
func Fit(m image.Image, size int) *image.NRGBA { return imaging.Fit(m, size, size, imaging.Box) }

// Enlarge enlarges each pixel to zoom × zoom pixels, or fits the picture into size × size pixels if that would be
// larger.
func Enlarge(m image.Image, zoom, size int) *image.NRGBA {
	b := m.Bounds()
	if w, h := zoom*b.Dx(), zoom*b.Dy(); w <= size && h <= size {
		return imaging.Resize(m, w, h, imaging.NearestNeighbor)
	}
	scale := float64(size) / float64(max(b.Dx(), b.Dy()))
	w, h := max(1, int(scale*float64(b.Dx()))), max(1, int(scale*float64(b.Dy())))
	return imaging.Resize(m, min(w, size), min(h, size), imaging.Box)
}

// Upright rotates and mirrors a picture according to its EXIF orientation.
func Upright(m *image.NRGBA, orientation int) *image.NRGBA {
	turns := map[int]func(image.Image) *image.NRGBA{
		2: imaging.FlipH, 3: imaging.Rotate180, 4: imaging.FlipV, 5: imaging.Transpose,
		6: imaging.Rotate270, 7: imaging.Transverse, 8: imaging.Rotate90, // imaging turns to the left
	}
	if turn := turns[orientation]; turn != nil {
		return turn(m)
	}
	return m
}

// WriteJPEG encodes a picture for display.
func WriteJPEG(w io.Writer, m image.Image) error {
	return jpeg.Encode(w, m, &jpeg.Options{Quality: quality})
}

// JPEGURL returns a picture as a data URL with lossy compression.
func JPEGURL(m image.Image) (template.URL, error) { return dataURL("image/jpeg", m, WriteJPEG) }

// PNGURL returns a picture as a data URL, without loss.
func PNGURL(m image.Image) (template.URL, error) { return dataURL("image/png", m, png.Encode) }

func dataURL(kind string, m image.Image, encode func(io.Writer, image.Image) error) (template.URL, error) {
	var b bytes.Buffer
	err := encode(&b, m)
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes())), err
}
