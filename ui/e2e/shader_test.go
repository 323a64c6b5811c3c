package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/ui/shader"
)

// pixels waits until the viewport rests, and returns its pixels, four bytes each.
func (w *window) pixels() []byte {
	w.t.Helper()
	b := w.watch(w.view())
	b.still(w.t)
	var all []byte
	for y := range b.rows {
		if _, err := b.f.ReadAt(b.row, b.at+int64(y*b.line)); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, b.row...)
	}
	return all
}

// TestXvfbShader shows a picture in two windows, drawn by the raster and by the shader, until their viewports are alike:
// fitted, after a search, at 1:1, enlarged, with marks of a brush, with corrections and a split line, side by side.
func TestXvfbShader(t *testing.T) {
	picture := paint(t, 1500, 1100, []spot{{120, 110, 3}, {700, 520, 6}, {760, 560, 4}, {1300, 900, 3}})
	var windows [2]*window
	for i, way := range []string{"raster", "shader"} {
		t.Setenv(shader.Variable, way)
		windows[i] = open(t, "en", 1100, 760, picture)
	}
	var seen [][]byte
	// show does something in both windows. What they show then must differ from everything before, or the test would
	// compare nothing.
	show := func(name string, do func(w *window)) {
		t.Helper()
		for _, w := range windows {
			do(w)
		}
		for begun := time.Now(); ; {
			want, got := windows[0].pixels(), windows[1].pixels()
			known := slices.ContainsFunc(seen, func(before []byte) bool { return bytes.Equal(before, want) })
			difference := compared(got, want)
			if difference == "" && !known {
				seen = append(seen, want)
				return
			}
			if time.Since(begun) > patience {
				t.Fatalf("%s: looks like something before: %v; %s", name, known, difference)
			}
		}
	}
	show("fitted", func(w *window) { w.await("picture ") })
	show("found", func(w *window) {
		w.key("F5")
		w.await("done ")
	})
	show("1:1", func(w *window) { w.key("ctrl+1") })
	show("enlarged", func(w *window) { w.key("ctrl+plus", "ctrl+plus", "ctrl+plus") })
	show("brush", func(w *window) {
		w.key("b")
		w.drag(w.view(), "1", 200, 200, 300, 240)
	})
	show("split", func(w *window) {
		w.correctAll()
		w.await("corrected ")
		w.key("m", "s")
		w.await("compare 2")
	})
	show("fitted and split", func(w *window) { w.key("ctrl+0") })
	show("side by side", func(w *window) { w.key("F2") })
	for _, w := range windows {
		w.kill()
		if said := w.stderr.String(); strings.Contains(said, "shader") {
			t.Errorf("the toolkit said: %s", said)
		}
	}
}

// compared returns how the pixels of two viewports differ by more than rounding; empty if they do not.
func compared(got, want []byte) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	for i, v := range want {
		if d := int(got[i]) - int(v); d > 1 || d < -1 {
			return fmt.Sprintf("byte %d is %d, want %d", i, got[i], v)
		}
	}
	return ""
}
