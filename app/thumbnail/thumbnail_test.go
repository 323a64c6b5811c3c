package thumbnail

import (
	"context"
	"errors"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blik/internal/test/testpic"
	"blik/processing"
)

// numbered is a picture of w × h grey pixels with the values 0, 10, 20, …
func numbered(w, h int) *processing.Picture {
	pic := testpic.Flat(w, h, 1, 0)
	for i := range pic.U8 {
		pic.U8[i] = uint8(10 * i)
	}
	return pic
}

func values(m image.Image) (rows [][]uint8) {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		var row []uint8
		for x := b.Min.X; x < b.Max.X; x++ {
			r, _, _, _ := m.At(x, y).RGBA()
			row = append(row, uint8(r>>8))
		}
		rows = append(rows, row)
	}
	return rows
}

func equal(a, b [][]uint8) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i]) != string(b[i]) {
			return false
		}
	}
	return true
}

// The stored rows are 0 10 20 and 30 40 50; the table says what they look like upright, from the EXIF standard.
func TestUpright(t *testing.T) {
	t.Parallel()
	pic := numbered(3, 2)
	whole, err := Crop(t.Context(), pic, Screen(pic, nil), image.Rect(0, 0, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	for orientation, want := range map[int][][]uint8{
		0: {{0, 10, 20}, {30, 40, 50}},
		1: {{0, 10, 20}, {30, 40, 50}},
		2: {{20, 10, 0}, {50, 40, 30}},
		3: {{50, 40, 30}, {20, 10, 0}},
		4: {{30, 40, 50}, {0, 10, 20}},
		5: {{0, 30}, {10, 40}, {20, 50}},
		6: {{30, 0}, {40, 10}, {50, 20}},
		7: {{50, 20}, {40, 10}, {30, 0}},
		8: {{20, 50}, {10, 40}, {0, 30}},
		9: {{0, 10, 20}, {30, 40, 50}},
	} {
		if got := values(Upright(whole, orientation)); !equal(got, want) {
			t.Errorf("orientation %d: %v, want %v", orientation, got, want)
		}
	}
}

func TestCrop(t *testing.T) {
	t.Parallel()
	pic := numbered(5, 4)
	part, err := Crop(t.Context(), pic, Screen(pic, nil), image.Rect(1, 2, 4, 4))
	if want := [][]uint8{{110, 120, 130}, {160, 170, 180}}; err != nil || !equal(values(part), want) {
		t.Errorf("%v, %v; want %v", values(part), err, want)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ w, h, size, wantW, wantH int }{
		{400, 300, 100, 100, 75}, {300, 400, 100, 75, 100}, {50, 40, 100, 50, 40}, {1000, 1, 100, 100, 1},
	} {
		m := Fit(image.NewNRGBA(image.Rect(0, 0, c.w, c.h)), c.size)
		if m.Rect.Dx() != c.wantW || m.Rect.Dy() != c.wantH {
			t.Errorf("%d × %d in %d: %v", c.w, c.h, c.size, m.Rect)
		}
	}
}

func TestEnlarge(t *testing.T) {
	t.Parallel()
	pic := numbered(3, 2)
	m, err := Crop(t.Context(), pic, Screen(pic, nil), image.Rect(0, 0, 3, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]uint8{{0, 0, 10, 10, 20, 20}, {0, 0, 10, 10, 20, 20}, {30, 30, 40, 40, 50, 50},
		{30, 30, 40, 40, 50, 50}}
	if got := values(Enlarge(m, 2, 6)); !equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, size := range []int{1, 2, 5} {
		if b := Enlarge(m, 2, size).Rect; b.Dx() != size || b.Dy() > size || b.Dy() < 1 {
			t.Errorf("in %d: %v", size, b)
		}
	}
}

// A large picture is read sparsely, and comes out as the mean of its surroundings all the same.
func TestMake(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{8, 16} {
		pic := testpic.Painted(1000, 450, 3, depth)
		screen := Screen(pic, nil)
		got, err := Make(t.Context(), pic, screen, 6, 50)
		if err != nil || got.Bounds().Dx() != 22 || got.Bounds().Dy() != 50 {
			t.Fatalf("%d bits: %v, %v", depth, got.Bounds(), err)
		}
		whole, err := Crop(t.Context(), pic, screen, image.Rect(0, 0, 1000, 450))
		if err != nil {
			t.Fatal(err)
		}
		exact := Upright(Fit(whole, 50), 6)
		for y := range 50 {
			for x := range 22 {
				a, _, _, _ := got.At(x, y).RGBA()
				b, _, _, _ := exact.At(x, y).RGBA()
				if d := int(a>>8) - int(b>>8); d < -8 || d > 8 { // noise of 16 levels in the mean of 16 pixels
					t.Fatalf("%d bits: pixel %d, %d is %d, exactly %d", depth, x, y, a>>8, b>>8)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	pic := numbered(5, 4)
	if _, err := Make(ctx, pic, Screen(pic, nil), 1, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cache := Cache{Folder: filepath.Join(dir, "cache", "thumbnails")}
	file, other := filepath.Join(dir, "a.tif"), filepath.Join(dir, "b.tif")
	for _, path := range []string{file, other} {
		if err := os.WriteFile(path, []byte("picture"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cache.Prune(nil); err != nil {
		t.Errorf("no folder: %v", err)
	}
	if _, err := cache.Load(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none yet: %v", err)
	}
	for i, path := range []string{file, other} {
		if err := cache.Save(t.Context(), path, image.NewNRGBA(image.Rect(0, 0, 8+8*i, 8))); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := cache.Load(other); err != nil || m.Bounds().Dx() != 16 {
		t.Errorf("%v, %v", m, err)
	}
	if err := cache.Prune([]string{file, filepath.Join(dir, "absent")}); err != nil {
		t.Error(err)
	}
	if _, err := cache.Load(file); err != nil {
		t.Errorf("kept: %v", err)
	}
	if _, err := cache.Load(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Load(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file has changed: %v", err)
	}
	if err := cache.Save(t.Context(), filepath.Join(dir, "absent"), image.NewNRGBA(image.Rect(0, 0, 8, 8))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("thumbnail of no file: %v", err)
	}
}
