package imagefile

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"blik/internal/testpic"
	"blik/processing"
)

// A mask of a large picture is almost nothing: however small its file, it is read wherever it fits in memory.
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
