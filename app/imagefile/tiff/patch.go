package tiff

import (
	"context"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// Patch refuses: changed pixels cannot be written yet.
func (f *File) Patch(ctx context.Context, file codec.File, patches []processing.Patch) error {
	return codec.Unsupported("TIFF files cannot be changed yet", "файлы TIFF пока нельзя изменять")
}
