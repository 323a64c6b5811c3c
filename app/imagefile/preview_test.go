package imagefile

import (
	"context"
	"errors"
	"slices"
	"testing"

	"blik/internal/test/testpic"
)

// checkPreview compares the preview of a file with the whole picture. It reports whether there was a preview.
func checkPreview(t *testing.T, path string, side int) bool {
	t.Helper()
	limits := DefaultLimits()
	limits.Bytes = 256 << 20
	g, err := ReadPreview(t.Context(), path, limits, side)
	f, wrong := Read(t.Context(), path, limits)
	var e *Error
	switch {
	case err != nil && !errors.As(err, &e):
		t.Errorf("%s: %T %v is no *Error", path, err, err)
	case err != nil && wrong == nil:
		t.Errorf("%s: %v, but all of it can be read", path, err)
	case wrong != nil && g != nil:
		t.Errorf("%s: some pixels are shown of a file that cannot be read: %v", path, wrong)
	case g == nil:
		return false
	}
	p := f.Picture
	if !slices.Equal(g.Picture.Curve, p.Curve) ||
		max(g.Picture.Width, g.Picture.Height) > side || g.Picture.Validate() != nil {
		t.Fatalf("%s: %d × %d of %d × %d pixels, %v", path, g.Picture.Width, g.Picture.Height, p.Width, p.Height,
			g.Picture.Validate())
	}
	step := (max(p.Width, p.Height) + side - 1) / side
	for y := range g.Picture.Height {
		for x := range g.Picture.Width {
			if p.F32 == nil && at(g.Picture, x, y) != at(p, x*step, y*step) {
				t.Fatalf("%s: pixel %d, %d is not that of the picture", path, x, y)
			}
		}
	}
	return true
}

// The preview of a file, real or damaged, has the pixels of the picture, or there is none.
func TestPreview(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, path := range slices.Concat(testpic.SharedFiles(t, "io-samples/*.*"), testpic.SharedFiles(t, "malformed/*")) {
		for _, side := range []int{1, 40} {
			if checkPreview(t, path, side) {
				seen++
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d files were seen", seen)
	}
}

// A file that is read quickly has no preview.
func TestPreviewOfSmallFiles(t *testing.T) {
	t.Parallel()
	path := testpic.WriteFile(t, "a.tif", rgba())
	if g, err := ReadPreview(t.Context(), path, DefaultLimits(), 2048); g != nil || err != nil {
		t.Errorf("%v, %v", g, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := ReadPreview(ctx, path, DefaultLimits(), 1); g != nil || err != context.Canceled {
		t.Errorf("%v, %v after a cancel", g, err)
	}
}
