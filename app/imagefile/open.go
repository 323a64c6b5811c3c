package imagefile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"blik/app/imagefile/codec"
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

// open knows the container by its first bytes, whatever the name. On an error the format is told all the same, where it
// is known.
func open(r io.ReaderAt, size int64) (Format, codec.Container, error) {
	magic := make([]byte, 12)
	n, err := r.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return "", nil, err
	}
	magic = magic[:n]
	if row, ok := byMagic(magic); ok {
		c, err := row.open(r, size)
		return row.name, c, err
	}
	return "", nil, notPicture(magic)
}

// notPicture names what a file is instead, as far as its first bytes tell.
func notPicture(magic []byte) error {
	for _, known := range []struct{ magic, en, ru string }{
		{"GIF8", "a GIF picture", "изображение GIF"},
		{"BM", "a BMP picture", "изображение BMP"},
		{"8BPS", "a Photoshop document", "документ Photoshop"},
		{"%PDF", "a PDF document", "документ PDF"},
		{"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture", "изображение JPEG 2000"},
		{"\xff\x0a", "a JPEG XL picture", "изображение JPEG XL"},
		{"\x00\x00\x00\x0cJXL ", "a JPEG XL picture", "изображение JPEG XL"},
		{"\x76\x2f\x31\x01", "an OpenEXR picture", "изображение OpenEXR"},
	} {
		if bytes.HasPrefix(magic, []byte(known.magic)) {
			return unknown(known.en, known.ru)
		}
	}
	switch {
	case len(magic) >= 12 && strings.HasPrefix(string(magic), "RIFF") && string(magic[8:12]) == "WEBP":
		return unknown("a WebP picture", "изображение WebP")
	case len(magic) >= 12 && string(magic[4:8]) == "ftyp":
		return unknown("a HEIF, AVIF or video file", "файл HEIF, AVIF или видео")
	}
	return &partial{ErrNotPicture, "this is not a picture: PNG, JPEG or TIFF expected",
		"это не изображение: нужен PNG, JPEG или TIFF"}
}

func unknown(en, ru string) error {
	return &partial{ErrNotPicture, "this is " + en + ", which cannot be read; save it as TIFF, PNG or JPEG",
		"это " + ru + ", такие файлы не читаются; сохраните его как TIFF, PNG или JPEG"}
}

// check refuses, before any sample is allocated, what is larger than the limits or than the memory that is available
// (0: not known), and what a file of this size cannot hold.
func check(i codec.Info, l Limits, size, available int64) error {
	w, h := int64(i.Width), int64(i.Height)
	if w < 1 || h < 1 {
		return codec.Damaged(fmt.Sprintf("the picture has no pixels: %d × %d", w, h), fmt.Sprintf("в изображении нет пикселей: %d × %d", w, h))
	}
	// Dividing keeps the product of two lying sides from overflowing.
	if h > l.Pixels/w {
		return &partial{ErrTooLarge,
			fmt.Sprintf("%d × %d pixels are more than the limit of %s", w, h, megapixels(l.Pixels, "MP")),
			fmt.Sprintf("%d × %d пикселей больше допустимых %s", w, h, megapixels(l.Pixels, "Мпкс"))}
	}
	if i.Expansion > 0 && i.Raw/i.Expansion > size {
		return codec.Damaged(
			fmt.Sprintf("the file is truncated: %d bytes cannot hold %d × %d pixels", size, w, h),
			fmt.Sprintf("файл обрезан: %d байт не вмещают %d × %d пикселей", size, w, h))
	}
	if w*h > bombPixels && i.Raw/bombRatio > size {
		return &partial{ErrTooLarge,
			fmt.Sprintf("%d bytes that unpack to %d × %d pixels are no picture of anything", size, w, h),
			fmt.Sprintf("%d байт, которые распаковываются в %d × %d пикселей, ничего не изображают", size, w, h)}
	}
	pixels := float64(w) * float64(h)
	samples := pixels * float64(i.Channels()*max(8, i.Depth)/8)
	need := samples + max(float64(i.Scratch), pixels*float64(l.Work))
	if need > float64(l.Bytes) {
		return &partial{ErrTooLarge,
			fmt.Sprintf("%d × %d pixels take %s of memory, more than the limit of %s", w, h, gibibytes(need, "GiB"), gibibytes(float64(l.Bytes), "GiB")),
			fmt.Sprintf("%d × %d пикселей займут %s памяти — больше допустимых %s", w, h, gibibytes(need, "ГиБ"), gibibytes(float64(l.Bytes), "ГиБ"))}
	}
	if available > 0 && need > float64(available) {
		return &partial{ErrTooLarge,
			fmt.Sprintf("%d × %d pixels take %s of memory, and only %s are free", w, h, gibibytes(need, "GiB"), gibibytes(float64(available), "GiB")),
			fmt.Sprintf("%d × %d пикселей займут %s памяти, а свободно только %s", w, h, gibibytes(need, "ГиБ"), gibibytes(float64(available), "ГиБ"))}
	}
	return nil
}

// A file of more than bombPixels that unpacks to more than bombRatio times its length is a decompression bomb: deflate
// reaches a thousand on a single value repeated; no scan of anything comes near a hundred.
const (
	bombPixels = 100e6
	bombRatio  = 500
)

func megapixels(n int64, unit string) string { return fmt.Sprintf("%g %s", float64(n)/1e6, unit) }

func gibibytes(n float64, unit string) string { return fmt.Sprintf("%.1f %s", n/(1<<30), unit) }
