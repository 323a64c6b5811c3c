package imagefile

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// The file of a mask can be tiny even if the picture is large: it is read if the mask fits into memory.
func TestSparseMasks(t *testing.T) {
	testpic.Long(t)
	for _, size := range [][2]int{{11300, 9000}, {20000, 20000}} {
		w, h := size[0], size[1]
		m := processing.NewMask(w, h)
		for _, at := range []int{0, w*h/2 + 17, w*h - 1} {
			m.Pix[at] = 255
		}
		path := filepath.Join(t.TempDir(), "mask.png")
		if err := WriteMask(t.Context(), path, WriteOptions{Overwrite: true}, m); err != nil {
			t.Fatal(err)
		}
		got, err := ReadMask(t.Context(), path, w, h, DefaultLimits())
		if err != nil {
			t.Fatalf("%d × %d: %v", w, h, err)
		}
		if got.Width != w || got.Height != h || !bytes.Equal(got.Pix, m.Pix) {
			t.Errorf("%d × %d: another mask comes back", w, h)
		}
		limits := DefaultLimits()
		limits.Bytes = int64(w) * int64(h) / 2
		if _, err := Read(t.Context(), path, limits); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d × %d pixels in half their memory: %v", w, h, err)
		}
	}
}

// Photographs are recognised as not being masks, in colour and in grey; what programs save as masks is accepted.
func TestPlainMask(t *testing.T) {
	const w, h = 64, 48
	of := func(channels int, sample func(x, y, c int) uint8) *processing.Picture {
		p := &processing.Picture{Width: w, Height: h, Channels: channels, U8: make([]uint8, w*h*channels)}
		for i := range p.U8 {
			p.U8[i] = sample(i/channels%w, i/channels/w, i%channels)
		}
		return p
	}
	dot := func(x, y int, level uint8) uint8 {
		switch {
		case x > 20 && x < 30 && y > 20 && y < 30:
			return level
		case x >= 20 && x <= 30 && y >= 20 && y <= 30:
			return level / 2
		}
		return 0
	}
	for name, c := range map[string]struct {
		pic    *processing.Picture
		refuse string
	}{
		"black and white": {of(1, func(x, y, _ int) uint8 { return dot(x, y, 255) }), ""},
		"grey in RGB":     {of(3, func(x, y, _ int) uint8 { return dot(x, y, 255) }), ""},
		"two labels":      {of(1, func(x, y, _ int) uint8 { return uint8(x % 2 * 128) }), ""},
		"white": {of(1, func(int, int, int) uint8 { return 255 }),
			"this mask marks the whole picture, which leaves no paint to continue; glare is white, all else black"},
		"colour": {of(3, func(x, y, c int) uint8 { return uint8(x*c + 2*y) }),
			"this is not a mask but a picture in colour; as a mask it would mark 37 % of the picture"},
		"red on black": {of(3, func(x, y, c int) uint8 { return dot(x, y, 255) * uint8(1-min(c, 1)) }),
			"this is not a mask but a picture in colour; as a mask it would mark 3 % of the picture"},
		"grey photograph": {of(1, func(x, y, _ int) uint8 { return uint8(4 * x) }),
			"this is not a mask but a picture in shades of grey; as a mask it would mark 50 % of the picture"},
	} {
		for _, sixteen := range []bool{false, true} {
			pic := c.pic
			if sixteen {
				pic = &processing.Picture{Width: w, Height: h, Channels: c.pic.Channels}
				for _, v := range c.pic.U8 {
					pic.U16 = append(pic.U16, uint16(v)*257)
				}
			}
			path := filepath.Join(t.TempDir(), "a.png")
			if err := WritePNG(t.Context(), path, WriteOptions{}, pic); err != nil {
				t.Fatal(err)
			}
			m, err := ReadPlainMask(t.Context(), path, w, h, DefaultLimits())
			if c.refuse == "" {
				if err != nil || m == nil {
					t.Errorf("%s, 16 bits %v: %v", name, sixteen, err)
				}
				continue
			}
			if !errors.Is(err, ErrNotMask) || err.Error() != path+": "+c.refuse {
				t.Errorf("%s, 16 bits %v: %v; want %s", name, sixteen, err, c.refuse)
			}
			if _, err := ReadMask(t.Context(), path, w, h, DefaultLimits()); err != nil {
				t.Errorf("%s, 16 bits %v: %v", name, sixteen, err)
			}
		}
	}
}
