package imagefile

import (
	"context"

	"blik/app/colour"
	"blik/app/imagefile/container"
	"blik/processing"
)

// Preview is a coarse picture shown while the whole file is read. It is not a File: nothing can be saved from it.
type Preview struct {
	// Picture holds one pixel of every few in every few rows, Profile and Orientation are those of the file.
	Picture     *processing.Picture
	Profile     *colour.Profile
	Orientation int
}

// minStep is the smallest step of a Preview. Files small enough for a smaller step are read whole almost as fast.
const minStep = 4

// ReadPreview reads a coarse version of the picture in the file at path, with at most side pixels in a row or a column.
// It returns nil without an error if reading all pixels takes about as long, as with small and with compressed files.
// It makes the same checks as Read before decoding, with the same errors.
func ReadPreview(ctx context.Context, path string, limits Limits, side int) (*Preview, error) {
	return runCancellable(ctx, func() (*Preview, error) {
		return readPreview(ctx, path, limits, side)
	})
}

func readPreview(ctx context.Context, path string, limits Limits, side int) (*Preview, error) {
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
	coarse, ok := opened.(container.CoarseDecoder)
	step := (max(info.Width, info.Height) + side - 1) / side
	if !ok || step < minStep {
		return nil, nil
	}
	pic, err := coarse.DecodeCoarse(ctx, step)
	if err != nil {
		return nil, f.fault(ctx, err)
	}
	if pic == nil {
		return nil, nil
	}
	p := &Preview{Picture: pic, Orientation: info.Meta.Orientation}
	p.Profile, _ = profileOf(info, pic)
	pic.Curve, pic.ToSRGB = p.Profile.Curve(), p.Profile.ToSRGB()
	return p, nil
}
