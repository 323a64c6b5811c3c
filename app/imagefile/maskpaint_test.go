package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// The masks of the tests below have 20 × 16 pixels, of which those of a rectangle of 4 × 3 are glare.
const maskWidth, maskHeight = 20, 16

func marked(x, y int) bool { return x >= 5 && x < 9 && y >= 4 && y < 7 }

// pixelsOf packs the samples of a mask: those of the marked pixels and those of the others.
func pixelsOf(glare, other []byte) []byte {
	var all []byte
	for i := range maskWidth * maskHeight {
		if marked(i%maskWidth, i/maskWidth) {
			all = append(all, glare...)
		} else {
			all = append(all, other...)
		}
	}
	return all
}

// maskTIFF writes a mask as a TIFF; extra holds the kinds of the samples besides the colours.
func maskTIFF(depth int, photometric uint16, planar bool, extra []uint16, glare, other []byte) []byte {
	p := &page{
		w: maskWidth, h: maskHeight, depth: depth, extra: len(extra), kinds: extra, photometric: photometric, planar: planar, rows: 5, compression: 8,
		colours: map[uint16]int{0: 1, 1: 1, 2: 3, 5: 4}[photometric], samples: pixelsOf(glare, other)}
	if depth == 32 {
		format := tagged{tag: 339, kind: 3}
		for range p.colours + p.extra {
			format.data = append(format.data, 0, 3)
		}
		p.tags = append(p.tags, format)
	}
	return writeTIFF(form{order: binary.BigEndian}, p)
}

// nrgba is a mask as editors save it.
func nrgba(glare, other color.NRGBA) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, maskWidth, maskHeight))
	for i := range maskWidth * maskHeight {
		c := other
		if marked(i%maskWidth, i/maskWidth) {
			c = glare
		}
		m.SetNRGBA(i%maskWidth, i/maskWidth, c)
	}
	return m
}

// TestPaintedMasks: whichever way white paint on nothing, on black or without ink is stored, the same pixels are marked.
func TestPaintedMasks(t *testing.T) {
	white, none, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{255, 255, 255, 0}, color.NRGBA{0, 0, 0, 255}
	palette := func(colours ...color.Color) []byte {
		m := image.NewPaletted(image.Rect(0, 0, maskWidth, maskHeight), colours)
		for i := range m.Pix {
			if marked(i%maskWidth, i/maskWidth) {
				m.Pix[i] = 1
			}
		}
		return stdPNG(t, m)
	}
	// Grey and colours in which one level is transparent.
	keyed := func(kind byte, key []byte, samples []byte, row int) []byte {
		var raw []byte
		for ; len(samples) > 0; samples = samples[row:] {
			raw = append(append(raw, 0), samples[:row]...)
		}
		header := []byte{0, 0, 0, maskWidth, 0, 0, 0, maskHeight, 8, kind, 0, 0, 0}
		out := append([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", header)...)
		out = append(append(out, pngChunk("tRNS", key)...), pngChunk("IDAT", pack(8, raw))...)
		return append(out, pngChunk("IEND", nil)...)
	}
	float := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	for name, data := range map[string][]byte{
		"RGBA, white on nothing":            stdPNG(t, nrgba(white, none)),
		"RGBA, white on transparent black":  stdPNG(t, nrgba(white, color.NRGBA{})),
		"RGBA, white on black":              stdPNG(t, nrgba(white, black)),
		"RGBA, white, hardly anything else": stdPNG(t, nrgba(white, color.NRGBA{255, 255, 255, 100})),
		"palette":                           palette(color.Gray{0}, color.Gray{255}),
		"palette with tRNS":                 palette(none, white),
		"grey with tRNS":                    keyed(0, []byte{0, 254}, pixelsOf([]byte{255}, []byte{254}), maskWidth),
		"RGB with tRNS":                     keyed(2, []byte{0, 250, 0, 251, 0, 252}, pixelsOf([]byte{255, 255, 255}, []byte{250, 251, 252}), 3*maskWidth),
		"grey and alpha":                    maskTIFF(8, 1, false, []uint16{2}, []byte{255, 255}, []byte{255, 0}),
		"grey and alpha, WhiteIsZero":       maskTIFF(8, 0, false, []uint16{2}, []byte{0, 255}, []byte{0, 0}),
		"grey and alpha, planar":            maskTIFF(8, 1, true, []uint16{2}, []byte{255, 255}, []byte{255, 0}),
		"RGBA in TIFF":                      maskTIFF(8, 2, false, []uint16{2}, []byte{255, 255, 255, 255}, []byte{255, 255, 255, 0}),
		"RGBA in TIFF, 16 bits":             maskTIFF(16, 2, false, []uint16{2}, bytes.Repeat([]byte{255}, 8), []byte{255, 255, 255, 255, 255, 255, 0, 200}),
		"RGBA in TIFF, planar, 16 bits":     maskTIFF(16, 2, true, []uint16{2}, bytes.Repeat([]byte{255}, 8), []byte{255, 255, 255, 255, 255, 255, 0, 200}),
		"RGBA in TIFF, associated":          maskTIFF(8, 2, false, []uint16{1}, []byte{255, 255, 255, 255}, []byte{0, 0, 0, 0}),
		"RGBA in TIFF, floats":              maskTIFF(32, 2, false, []uint16{2}, float(1, 1, 1, 1), float(1, 1, 1, 0)),
		"alpha after another channel":       maskTIFF(8, 1, false, []uint16{0, 2}, []byte{255, 0, 255}, []byte{255, 255, 0}),
		"a channel that is not alpha":       maskTIFF(8, 1, false, []uint16{0}, []byte{255, 0}, []byte{0, 255}),
		"CMYK, black ink around":            maskTIFF(8, 5, false, nil, []byte{0, 0, 0, 0}, []byte{0, 0, 0, 255}),
		"CMYK, all inks around":             maskTIFF(8, 5, false, nil, []byte{0, 0, 0, 0}, []byte{255, 255, 255, 0}),
		"CMYK, 16 bits":                     maskTIFF(16, 5, false, nil, make([]byte, 8), []byte{0, 0, 0, 0, 0, 0, 255, 255}),
		"CMYK and alpha":                    maskTIFF(8, 5, false, []uint16{2}, []byte{0, 0, 0, 0, 255}, []byte{0, 0, 0, 0, 0}),
		"WhiteIsZero":                       maskTIFF(8, 0, false, nil, []byte{0}, []byte{255}),
	} {
		path := testpic.WriteFile(t, "mask", data)
		for how, read := range map[string]func() (*processing.Mask, error){
			"ReadMask": func() (*processing.Mask, error) {
				return ReadMask(t.Context(), path, maskWidth, maskHeight, DefaultLimits())
			},
			"ReadPlainMask": func() (*processing.Mask, error) {
				return ReadPlainMask(t.Context(), path, maskWidth, maskHeight, DefaultLimits())
			},
		} {
			m, err := read()
			if err != nil {
				t.Errorf("%s: %s: %v", name, how, err)
				continue
			}
			for i, v := range m.Pix {
				if is := marked(i%maskWidth, i/maskWidth); is != (v >= processing.MaskLevel) {
					t.Errorf("%s: %s: pixel %d, %d is %d", name, how, i%maskWidth, i/maskWidth, v)
					break
				}
			}
		}
	}
}

// TestDoubtfulMasks: masks that mark more than half of the picture are doubted, those that mark half of it are not.
func TestDoubtfulMasks(t *testing.T) {
	white, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{0, 0, 0, 255}
	half := image.NewGray(image.Rect(0, 0, maskWidth, maskHeight))
	for i := range half.Pix {
		half.Pix[i] = byte(i % 2 * 255)
	}
	more := image.NewGray(half.Rect)
	copy(more.Pix, half.Pix)
	more.Pix[0] = 255
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"inverted":            {stdPNG(t, nrgba(black, white)), "marks 96 % of the picture and may be inverted"},
		"inverted, by alpha":  {stdPNG(t, nrgba(color.NRGBA{}, white)), "marks 96 % of the picture and may be inverted"},
		"inverted, as CMYK":   {maskTIFF(8, 5, false, nil, []byte{0, 0, 0, 255}, []byte{0, 0, 0, 0}), "may be inverted"},
		"full":                {stdPNG(t, nrgba(white, white)), "marks the whole picture"},
		"half":                {stdPNG(t, half), ""},
		"a pixel more":        {stdPNG(t, more), "marks 50 % of the picture and may be inverted"},
		"empty":               {stdPNG(t, nrgba(black, black)), ""},
		"all is transparent":  {stdPNG(t, nrgba(color.NRGBA{255, 255, 255, 0}, color.NRGBA{255, 255, 255, 0})), "marks nothing"},
		"black on nothing":    {stdPNG(t, nrgba(black, color.NRGBA{})), "marks nothing"},
		"too dark":            {stdPNG(t, nrgba(color.NRGBA{100, 100, 100, 255}, black)), "marks nothing"},
		"a picture in colour": {stdPNG(t, nrgba(color.NRGBA{255, 200, 90, 255}, black)), "a picture in colour"},
	} {
		path := testpic.WriteFile(t, "mask", c.data)
		_, err := ReadPlainMask(t.Context(), path, maskWidth, maskHeight, DefaultLimits())
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrNotMask) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if _, err := ReadMask(t.Context(), path, maskWidth, maskHeight, DefaultLimits()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTurnedMasks: a mask that is as high as the picture is wide is called turned.
func TestTurnedMasks(t *testing.T) {
	path := testpic.WriteFile(t, "mask.png", stdPNG(t, nrgba(color.NRGBA{255, 255, 255, 255}, color.NRGBA{})))
	for _, c := range []struct {
		w, h   int
		turned bool
	}{{maskHeight, maskWidth, true}, {maskHeight, maskWidth + 1, false}, {maskWidth, maskHeight + 1, false}} {
		_, err := ReadMask(t.Context(), path, c.w, c.h, DefaultLimits())
		if !errors.Is(err, ErrSize) || strings.Contains(err.Error(), "turn the mask by 90°") != c.turned {
			t.Errorf("picture of %d × %d: %v", c.w, c.h, err)
		}
	}
	if _, turned := (&File{Orientation: 1}).TurnedRemark(); turned {
		t.Error("a picture with orientation 1 is called turned")
	}
	for o := 2; o <= 8; o++ {
		if r, turned := (&File{Orientation: o}).TurnedRemark(); !turned || !strings.Contains(r.String(), "EXIF orientation") {
			t.Errorf("orientation %d: %v, %t", o, r, turned)
		}
	}
}
