package cli

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"blik/app/imagefile"
)

// Reading ahead returns the same as reading, including errors; another picture is read normally.
func TestReadAhead(t *testing.T) {
	dir := t.TempDir()
	a, b := painting(t, dir, "a.png"), painting(t, dir, "b.png")
	p := &program{}
	limits := imagefile.DefaultLimits()
	var r readAhead
	defer r.end()

	r.begin(t.Context(), p, b, limits)
	if file, err := r.picture(t.Context(), a, limits); err != nil || file.Path != a {
		t.Errorf("the picture that was not begun: %v, %v", file, err)
	}
	ahead := r.read
	file, err := r.picture(t.Context(), b, limits)
	if err != nil || file.Path != b || r.read != nil {
		t.Errorf("the picture that was begun: %v, %v", file, err)
	}
	select {
	case <-ahead:
	default:
		t.Error("it was not read ahead")
	}

	missing := filepath.Join(dir, "c.png")
	r.begin(t.Context(), p, missing, limits)
	if _, err := r.picture(t.Context(), missing, limits); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing picture: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.begin(ctx, p, a, limits)
	if _, err := r.picture(ctx, a, limits); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	r.begin(t.Context(), p, a, limits)
	r.begin(t.Context(), p, b, limits)
}

func TestFitBoth(t *testing.T) {
	for _, c := range []struct {
		one, other, available int64
		want                  bool
	}{
		{1, 1, 4, true}, {1, 1, 3, false}, {1, 2, 7, false}, {2, 1, 7, false}, {0, 1, 9, false}, {1, 0, 9, false},
		{1, 1, 0, false}, {math.MaxInt64 / 2, math.MaxInt64 / 2, math.MaxInt64, false},
	} {
		if got := fitBoth(c.one, c.other, c.available); got != c.want {
			t.Errorf("%d and %d in %d: %v", c.one, c.other, c.available, got)
		}
	}
}
