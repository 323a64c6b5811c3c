package imagefile

import (
	"context"

	"blik/app/colour"
	"blik/app/imagefile/container"
	"blik/processing"
)

// Glimpse is some pixels of a picture that is still to be read, to be looked at meanwhile. It is no File: nothing can
// be saved from it.
type Glimpse struct {
	// Width and Height are those of the picture in the file.
	Width, Height int
	// Picture holds each Step-th pixel of each Step-th row, Profile and Orientation are those of the file.
	Picture     *processing.Picture
	Step        int
	Profile     *colour.Profile
	Orientation int
}

// leastStep is the least step of a Glimpse: files that would need a smaller one are read in hardly more time.
const leastStep = 4

// ReadGlimpse reads some pixels of the picture in the file at path, at most side of them in a row or a column. It is
// nil, without an error, where all pixels would take as long or nearly so: for small files, and for compressed ones. It
// checks what Read checks before decoding, and gives the same errors.
func ReadGlimpse(ctx context.Context, path string, limits Limits, side int) (*Glimpse, error) {
	return runCancellable(ctx, func() (*Glimpse, error) {
		return readGlimpse(ctx, path, limits, side)
	})
}

func readGlimpse(ctx context.Context, path string, limits Limits, side int) (*Glimpse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, stat, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &File{Path: path, Size: stat.Size()}
	format, opened, err := open(cancelReader{ctx, file}, f.Size)
	f.Format = format
	if err != nil {
		return nil, f.fault(ctx, err)
	}
	info := opened.Info()
	if err := check(info, limits, f.Size, machineMemory().available); err != nil {
		return nil, f.fault(ctx, err)
	}
	coarse, ok := opened.(container.Coarse)
	step := (max(info.Width, info.Height) + side - 1) / side
	if !ok || step < leastStep {
		return nil, nil
	}
	pic, err := coarse.DecodeCoarse(ctx, step)
	if err != nil {
		return nil, f.fault(ctx, err)
	}
	if pic == nil {
		return nil, nil
	}
	g := &Glimpse{Width: info.Width, Height: info.Height, Picture: pic, Step: step, Orientation: info.Meta.Orientation}
	g.Profile = profileOf(info, pic)
	pic.Curve, pic.ToSRGB = g.Profile.Curve(), g.Profile.ToSRGB()
	return g, nil
}
