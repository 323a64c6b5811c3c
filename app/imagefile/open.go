package imagefile

import (
	"context"
	"io"
	"os"

	"blik/app/imagefile/codec"
	"blik/processing"
)

// openFile opens the file at path for reading. Opening a named pipe would wait for its other end, so it looks before.
func openFile(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	switch {
	case info.IsDir():
		return nil, nil, fault(path, ErrNotPicture, nil, "this is a folder, not a picture", "это папка, а не изображение")
	case !info.Mode().IsRegular():
		return nil, nil, fault(path, ErrNotPicture, nil, "this is a device or a pipe, not a picture file",
			"это устройство или канал, а не файл изображения")
	case info.Size() == 0:
		return nil, nil, fault(path, ErrNotPicture, nil, "the file is empty", "файл пуст")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	if info, err = file.Stat(); err != nil {
		file.Close()
		return nil, nil, openError(path, err)
	}
	return file, info, nil
}

// open knows the container by its first bytes.
func open(path string, r io.ReaderAt, size int64) (Format, codec.Container, error) {
	return "", nil, unsupported("this container cannot be written yet", "этот контейнер пока не записывается")
}

// encode writes a new file of the given format.
func encode(ctx context.Context, w io.Writer, f Format, pic *processing.Picture, m codec.Metadata) error {
	return encodePNG(ctx, w, pic, 1<<20)
}
