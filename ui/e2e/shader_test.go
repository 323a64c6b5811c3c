package e2e

import (
	"bytes"
	"strings"
	"testing"

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

// TestXvfbShader shows a picture in two windows, drawn by the shader and by the raster, and compares their viewports:
// fitted, after a search, at 1:1, enlarged, with marks of a brush, with corrections and a split line, side by side.
func TestXvfbShader(t *testing.T) {
	picture := paint(t, 1500, 1100, []spot{{120, 110, 3}, {700, 520, 6}, {760, 560, 4}, {1300, 900, 3}})
	var looks [2]map[string][]byte
	for i, way := range []string{"raster", "shader"} {
		t.Setenv(shader.Variable, way)
		looks[i] = map[string][]byte{}
		w := open(t, "en", 1100, 760, picture)
		look := func(name string) { looks[i][name] = w.pixels() }
		w.await("picture ")
		look("fitted")
		w.key("F5")
		w.await("done ")
		look("found")
		w.key("ctrl+1")
		look("1:1")
		w.key("ctrl+plus", "ctrl+plus", "ctrl+plus")
		look("enlarged")
		w.key("b")
		w.drag(w.view(), "1", 200, 200, 300, 240)
		look("brush")
		w.correctAll()
		w.await("corrected ")
		w.key("m", "s")
		w.await("compare 2")
		look("split")
		w.key("ctrl+0")
		look("fitted and split")
		w.key("F2")
		look("side by side")
		w.kill()
		if said := w.stderr.String(); strings.Contains(said, "shader") {
			t.Errorf("the toolkit said: %s", said)
		}
	}
	for name, want := range looks[0] {
		got := looks[1][name]
		if len(got) != len(want) {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
			continue
		}
		for j, v := range want {
			if d := int(got[j]) - int(v); d > 1 || d < -1 {
				t.Errorf("%s: byte %d is %d, want %d", name, j, got[j], v)
				break
			}
		}
		for other, pixels := range looks[0] {
			if other != name && bytes.Equal(pixels, want) {
				t.Errorf("%s looks like %s: the test compares nothing", name, other)
			}
		}
	}
}
