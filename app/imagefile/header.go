package imagefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	hhtiff "github.com/hhrutter/tiff"
	"golang.org/x/image/tiff"
)

// header is what a file says of itself before any pixel is decoded.
type header struct {
	format        Format
	width, height int
	// depth is the bits of a stored sample.
	depth int
	grey  bool
	// orientation is that of EXIF, 1…8.
	orientation int
	// memory is the bytes a pixel costs while the file is decoded and made a Picture.
	memory float64
	// raw is the bytes of the uncompressed samples of a pixel, and expansion how many of them one byte of the file
	// can stand for at the very most; 0 where there is no bound worth checking.
	raw       float64
	expansion int64
	decode    func(*source) (image.Image, error)
}

// check refuses what is larger than the limits, and what the file is too short to hold.
func (h *header) check(l Limits, size int64) error {
	w, v := int64(h.width), int64(h.height)
	if w < 1 || v < 1 {
		return &partial{ErrDamaged, fmt.Sprintf("the picture has no pixels: %d × %d", w, v),
			fmt.Sprintf("в изображении нет пикселей: %d × %d", w, v)}
	}
	// Dividing keeps the product of two lying sides from overflowing.
	if v > l.Pixels/w {
		return &partial{ErrTooLarge,
			fmt.Sprintf("%d × %d pixels are more than the limit of %s", w, v, megapixels(l.Pixels, "MP")),
			fmt.Sprintf("%d × %d пикселей больше допустимых %s", w, v, megapixels(l.Pixels, "Мпкс"))}
	}
	if h.expansion > 0 && h.raw*float64(w)*float64(v) > float64(h.expansion)*float64(size) {
		return &partial{ErrDamaged,
			fmt.Sprintf("the file is truncated: %d bytes cannot hold %d × %d pixels", size, w, v),
			fmt.Sprintf("файл обрезан: %d байт не вмещают %d × %d пикселей", size, w, v)}
	}
	if need := h.memory * float64(w) * float64(v); need > float64(l.Bytes) {
		return &partial{ErrTooLarge,
			fmt.Sprintf("reading %d × %d pixels takes %.1f GiB of memory, more than the limit of %.1f GiB",
				w, v, need/(1<<30), float64(l.Bytes)/(1<<30)),
			fmt.Sprintf("чтение %d × %d пикселей займёт %.1f ГиБ памяти — больше допустимых %.1f ГиБ",
				w, v, need/(1<<30), float64(l.Bytes)/(1<<30))}
	}
	return nil
}

func megapixels(n int64, unit string) string { return fmt.Sprintf("%g %s", float64(n)/1e6, unit) }

func buffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 1<<18) }

// probe reads the header. On an error the header still tells the format, where that is known.
func probe(s *source) (*header, error) {
	magic := make([]byte, 32)
	n, err := s.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	magic = magic[:n]
	starts := func(p string) bool { return bytes.HasPrefix(magic, []byte(p)) }
	switch {
	case starts("\x89PNG\r\n\x1a\n"):
		return probePNG(s, magic)
	case starts("\xff\xd8"):
		return probeJPEG(s)
	case starts("II*\x00"), starts("MM\x00*"):
		return probeTIFF(s)
	case starts("II+\x00"), starts("MM\x00+"):
		return &header{format: TIFF}, unsupported("BigTIFF cannot be read yet; save the picture as ordinary TIFF or PNG",
			"BigTIFF пока не читается; сохраните изображение как обычный TIFF или PNG")
	}
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
		if starts(known.magic) {
			return nil, unknown(known.en, known.ru)
		}
	}
	switch {
	case len(magic) >= 12 && starts("RIFF") && string(magic[8:12]) == "WEBP":
		return nil, unknown("a WebP picture", "изображение WebP")
	case len(magic) >= 12 && string(magic[4:8]) == "ftyp":
		return nil, unknown("a HEIF, AVIF or video file", "файл HEIF, AVIF или видео")
	}
	return nil, &partial{ErrNotPicture, "this is not a picture: PNG, JPEG or TIFF expected",
		"это не изображение: нужен PNG, JPEG или TIFF"}
}

func unknown(en, ru string) error {
	return &partial{ErrNotPicture, "this is " + en + ", which cannot be read; save it as TIFF, PNG or JPEG",
		"это " + ru + ", такие файлы не читаются; сохраните его как TIFF, PNG или JPEG"}
}

// probePNG reads the header chunk (PNG 3rd edition, 11.2.1): bit depth at offset 24, colour type at 25, interlace at 28.
func probePNG(s *source, magic []byte) (*header, error) {
	h := &header{format: PNG, orientation: 1, decode: decodePNG}
	cfg, err := png.DecodeConfig(buffered(s.rewind()))
	if err != nil {
		return h, err
	}
	if len(magic) < 29 {
		return h, io.ErrUnexpectedEOF
	}
	h.width, h.height, h.depth = cfg.Width, cfg.Height, int(magic[24])
	const palette, colour, alpha = 1, 2, 4
	kind := magic[25]
	h.grey = kind&(palette|colour) == 0
	samples := 1
	if kind&palette == 0 && kind&colour != 0 {
		samples = 3
	}
	bytesPerSample := 1.0
	if h.depth == 16 {
		bytesPerSample = 2
	}
	decoded, ours := bytesPerSample, 3*bytesPerSample
	switch {
	case kind&palette != 0:
	case samples == 3 || kind&alpha != 0:
		decoded = 4 * bytesPerSample
	}
	if h.grey {
		ours = bytesPerSample
	}
	if kind&alpha != 0 {
		samples++
	}
	if magic[28] != 0 {
		decoded *= 1.5 // the last pass of an interlaced picture is decoded apart and is half of it
	}
	h.memory = decoded + ours
	if h.grey && h.depth <= 8 && kind&alpha == 0 {
		h.memory = decoded // taken over, not copied
	}
	// Deflate (RFC 1951) codes at most 258 bytes with two bits.
	h.raw, h.expansion = float64(h.depth*samples)/8, 1032
	return h, nil
}

// probeJPEG walks the segments (ITU-T T.81, B.1) up to the first scan for frame type and orientation.
func probeJPEG(s *source) (*header, error) {
	h := &header{format: JPEG, depth: 8, orientation: 1, decode: decodeJPEG}
	cfg, err := jpeg.DecodeConfig(s.rewind())
	if err != nil {
		return h, err
	}
	h.width, h.height = cfg.Width, cfg.Height
	components, progressive := 3, false
	r := bufio.NewReader(s.rewind())
	if _, err := r.Discard(2); err != nil {
		return h, err
	}
	for {
		b, err := r.ReadByte()
		if err != nil {
			break // the decoder will say what is missing
		}
		if b != 0xff {
			continue
		}
		for b == 0xff && err == nil {
			b, err = r.ReadByte()
		}
		if b == 0 || b == 0x01 || b >= 0xd0 && b <= 0xd8 {
			continue
		}
		if err != nil || b == 0xda || b == 0xd9 {
			break
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			break
		}
		body := make([]byte, max(int(binary.BigEndian.Uint16(length[:]))-2, 0))
		if _, err := io.ReadFull(r, body); err != nil {
			break
		}
		switch {
		case b >= 0xc0 && b <= 0xcf && b != 0xc4 && b != 0xc8 && b != 0xcc && len(body) >= 6:
			components, progressive = int(body[5]), b == 0xc2
		case b == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			if tags, err := readTags(bytes.NewReader(body[6:])); err == nil {
				h.orientation = tags.orientation()
			}
		}
	}
	h.grey = components == 1
	// The standard decoder keeps the coefficients of a progressive picture as 32-bit numbers; three components may
	// pass through RGBA.
	perSample := 1.0
	if progressive {
		perSample += 4
	}
	h.memory = perSample*float64(components) + 3
	switch components {
	case 1:
		h.memory = perSample
	case 3:
		h.memory += 4
	}
	// A block of 64 samples takes at least one bit.
	h.raw, h.expansion = 1, 1024
	return h, nil
}

// TIFF 6.0 tags that decide whether and how a picture can be read.
const (
	tagWidth         = 256
	tagBitsPerSample = 258
	tagCompression   = 259
	tagPhotometric   = 262
	tagFillOrder     = 266
	tagOrientation   = 274
	tagSamples       = 277
	tagRowsPerStrip  = 278
	tagPlanar        = 284
	tagTileWidth     = 322
	tagExtraSamples  = 338
	tagSampleFormat  = 339
)

// tags are the first eight values of the whole-number entries of a directory.
type tags map[uint16][]uint32

// first returns the first value of a tag, or otherwise.
func (t tags) first(tag uint16, otherwise uint32) uint32 {
	if v := t[tag]; len(v) > 0 {
		return v[0]
	}
	return otherwise
}

func (t tags) orientation() int {
	if o := t.first(tagOrientation, 1); o >= 1 && o <= 8 {
		return int(o)
	}
	return 1
}

// readTags reads the first directory of a classic TIFF, which is also how EXIF is stored.
func readTags(r io.ReaderAt) (tags, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(head[4:]))
	var count [2]byte
	if _, err := r.ReadAt(count[:], at); err != nil {
		return nil, err
	}
	entries := make([]byte, 12*int(order.Uint16(count[:])))
	if _, err := r.ReadAt(entries, at+2); err != nil && !(err == io.EOF && len(entries) == 0) {
		return nil, err
	}
	found := tags{}
	for ; len(entries) > 0; entries = entries[12:] {
		tag, kind, n := order.Uint16(entries), order.Uint16(entries[2:]), order.Uint32(entries[4:])
		width := map[uint16]uint32{1: 1, 3: 2, 4: 4}[kind]
		if width == 0 || found[tag] != nil {
			continue
		}
		values := entries[8:12]
		if uint64(n)*uint64(width) > 4 {
			n = min(n, 8)
			values = make([]byte, n*width)
			if _, err := r.ReadAt(values, int64(order.Uint32(entries[8:]))); err != nil {
				return nil, err
			}
		}
		for i := range n {
			switch width {
			case 1:
				found[tag] = append(found[tag], uint32(values[i]))
			case 2:
				found[tag] = append(found[tag], uint32(order.Uint16(values[2*i:])))
			default:
				found[tag] = append(found[tag], order.Uint32(values[4*i:]))
			}
		}
	}
	return found, nil
}

// probeTIFF chooses a decoder. Both available ones read some variants wrongly without noticing (separate planes,
// several grey samples), so that what is not known to be right is refused here.
func probeTIFF(s *source) (*header, error) {
	h := &header{format: TIFF}
	t, err := readTags(s)
	if err != nil {
		return h, err
	}
	h.orientation = t.orientation()
	bits := t[tagBitsPerSample]
	if bits == nil {
		bits = []uint32{1}
	}
	h.depth = int(bits[0])
	samples := t.first(tagSamples, uint32(len(bits)))
	if f := t.first(tagSampleFormat, 1); f == 3 {
		return h, unsupported("TIFF with floating-point samples cannot be read yet; save it with 16 bits a channel",
			"TIFF с числами с плавающей точкой пока не читается; сохраните его с 16 битами на канал")
	}
	if t.first(tagPlanar, 1) == 2 && samples > 1 {
		return h, unsupported("TIFF with separate planes cannot be read yet; save it with interleaved channels",
			"TIFF с раздельными каналами пока не читается; сохраните его с чередованием каналов")
	}
	compression := t.first(tagCompression, 1)
	useHH := false
	switch compression {
	case 0, 1:
		h.expansion = 1
	case 2:
		useHH = true
	case 3, 4:
	case 5:
		// Codes of at least 9 bits stand for at most 4096 bytes.
		h.expansion = 4096
	case 8, 32946:
		h.expansion = 1032
	case 32773:
		h.expansion = 64
	case 6, 7:
		return h, unsupported("TIFF with JPEG compression cannot be read; save it uncompressed or with LZW",
			"TIFF со сжатием JPEG не читается; сохраните его без сжатия или с LZW")
	default:
		return h, unsupported(fmt.Sprintf("TIFF with compression %d cannot be read; save it uncompressed or with LZW", compression),
			fmt.Sprintf("TIFF со сжатием %d не читается; сохраните его без сжатия или с LZW", compression))
	}
	if t.first(tagFillOrder, 1) == 2 && compression != 3 && compression != 4 && compression != 2 {
		return h, unsupported("TIFF with reversed bits (FillOrder 2) cannot be read", "TIFF с обратным порядком битов (FillOrder 2) не читается")
	}

	const whiteIsZero, blackIsZero, rgb, palette, cmyk = 0, 1, 2, 3, 5
	colours := uint32(1)
	switch p := t.first(tagPhotometric, whiteIsZero); p {
	case whiteIsZero, blackIsZero:
		h.grey = true
	case palette:
	case rgb:
		colours = 3
		useHH = useHH || samples == 4 && t.first(tagExtraSamples, 0) == 0
	case cmyk:
		colours, useHH = 4, true
	case 32803, 34892:
		return h, unsupported("this is a camera's raw file; develop it to TIFF first", "это «сырой» файл камеры; сначала проявите его в TIFF")
	default:
		return h, unsupported(fmt.Sprintf("TIFF in this colour model (PhotometricInterpretation %d) cannot be read; save it as RGB", p),
			fmt.Sprintf("TIFF в этой цветовой модели (PhotometricInterpretation %d) не читается; сохраните его как RGB", p))
	}
	if int(samples) != len(bits) || samples != colours && !(colours == 3 && samples == 4) {
		return h, unsupported(
			fmt.Sprintf("TIFF with %d samples a pixel where the colour model has %d cannot be read yet", samples, colours),
			fmt.Sprintf("TIFF, где значений на пиксель %d, а в цветовой модели %d, пока не читается", samples, colours))
	}
	for _, b := range bits {
		ok := b == 8 || b == 16 && colours != 4 || b == 1 && h.grey
		if !ok || b != bits[0] {
			return h, unsupported(fmt.Sprintf("TIFF with %d bits a sample cannot be read here; 8 or 16 expected", b),
				fmt.Sprintf("TIFF с %d битами на значение здесь не читается; нужно 8 или 16", b))
		}
	}
	if b := bits[0]; b == 16 && t.first(tagPhotometric, 0) == palette {
		return h, unsupported("TIFF with a 16-bit palette cannot be read", "TIFF с 16-битной палитрой не читается")
	}

	config, decode := tiff.DecodeConfig, tiff.Decode
	if useHH {
		config, decode = hhtiff.DecodeConfig, hhtiff.Decode
	}
	cfg, err := config(s)
	if err != nil {
		return h, err
	}
	h.width, h.height = cfg.Width, cfg.Height
	h.decode = func(s *source) (image.Image, error) { return decode(s) }

	bytesPerSample := 1.0
	if h.depth == 16 {
		bytesPerSample = 2
	}
	h.raw = float64(h.depth) * float64(samples) / 8
	decoded, ours := bytesPerSample, 3*bytesPerSample
	switch {
	case colours >= 3:
		decoded = 4 * bytesPerSample
	case h.grey && h.depth <= 8:
		ours = 0 // taken over, not copied
	case h.grey:
		ours = bytesPerSample
	}
	h.memory = decoded + ours
	if t.first(tagTileWidth, 0) == 0 && h.height > 0 {
		// A strip is collected before it is decoded, in a buffer that grows by doubling.
		rows := min(int64(t.first(tagRowsPerStrip, 1<<31)), int64(h.height))
		h.memory += 2 * h.raw * float64(rows) / float64(h.height)
	}
	return h, nil
}
