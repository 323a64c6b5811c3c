package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/test/testpic"
	"blik/processing"
)

// spot is a glint of the test picture.
type spot struct{ x, y, r int }

// paint writes a picture of dull paint with the given glints.
func paint(t testing.TB, w, h int, spots []spot) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	waves := make([]float64, w)
	for x := range waves {
		waves[x] = 14 * math.Sin(float64(x)/37)
	}
	for y := range h {
		row, c := img.Pix[y*img.Stride:], math.Cos(float64(y)/53)
		for x, wave := range waves {
			wave *= c
			n := float64(rng.Uint32()>>24)/25.6 - 5
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = uint8(96+wave+n), uint8(78+wave+n), uint8(60+wave/2+n), 255
		}
	}
	for _, s := range spots {
		for y := -s.r; y <= s.r; y++ {
			for x := -s.r; x <= s.r; x++ {
				if x*x+y*y <= s.r*s.r {
					img.SetRGBA(s.x+x, s.y+y, color.RGBA{255, 254, 250, 255})
				}
			}
		}
	}
	return testpic.WritePNG(t, "painting.png", img)
}

// TestXvfbWindow uses the real window as a person does: look around, search a region, edit by hand, save.
func TestXvfbWindow(t *testing.T) {
	t.Parallel()
	const width, height = 900, 600
	left := []spot{{120, 110, 3}, {200, 320, 4}, {330, 210, 3}, {150, 460, 2}}
	right := []spot{{620, 150, 3}, {700, 400, 4}}
	picture := paint(t, width, height, append(slices.Clone(left), right...))
	w := open(t, "en", 1100, 760, picture)
	defer func() {
		if t.Failed() {
			w.screenshot(filepath.Join(os.TempDir(), "blik-window-test.png"))
		}
	}()
	if line := w.await("picture "); !strings.HasSuffix(line, fmt.Sprintf("painting.png %d %d", width, height)) {
		t.Fatalf("opened %q", line)
	}

	fit := w.awaitView("the whole picture", func(v view) bool {
		return math.Abs(v.zoom-min(v.width/width, v.height/height)) < 0.01
	})

	t.Run("wheel zooms about the pointer", func(t *testing.T) {
		px, py := fit.width*0.4, fit.height*0.5
		ix, iy := fit.toImage(px, py)
		w.reach(fit, px, py)
		for range 8 {
			w.xdo("click", "4")
		}
		// One of the eight notches may stop at 1:1; seven reach a lower zoom.
		v := w.awaitView("the zoom after eight notches", func(v view) bool { return v.zoom > fit.zoom*3.6 })
		jx, jy := v.toImage(px, py)
		// The pointer is on whole pixels, and the picture's origin is rounded to one at each notch.
		if math.Abs(jx-ix) > 4/fit.zoom || math.Abs(jy-iy) > 4/fit.zoom {
			t.Errorf("image point under the pointer moved from (%.1f, %.1f) to (%.1f, %.1f)", ix, iy, jx, jy)
		}
	})

	t.Run("space and middle button move the picture with any tool", func(t *testing.T) {
		w.key("b")
		v := w.view()
		w.move(v, v.width/2, v.height/2)
		w.xdo("keydown", "space")
		w.drag(v, "1", v.width/2, v.height/2, v.width/2-60, v.height/2-40)
		moved := w.awaitView("what a drag with the space bar moves to", by(v, 60, 40))
		w.xdo("keyup", "space")
		w.drag(v, "2", v.width/2, v.height/2, v.width/2+50, v.height/2+30)
		w.awaitView("what a drag with the middle button moves to", by(moved, -50, -30))
	})

	t.Run("keys", func(t *testing.T) {
		w.key("ctrl+1")
		w.awaitView("1:1", func(v view) bool { return v.zoom == 1 && v.x == math.Trunc(v.x) })
		w.key("ctrl+0")
		w.awaitView("the whole picture", func(v view) bool { return v.zoom == fit.zoom })
	})

	// Search the left half only.
	w.key("r")
	v := w.view()
	x0, y0 := v.toDevice(40, 40)
	x1, y1 := v.toDevice(450, 560)
	w.drag(v, "1", x0, y0, x1, y1)
	w.key("F5")
	count := field(t, w.await("done "), 1)
	if count != len(left) {
		t.Errorf("found %d glints in the region, painted %d", count, len(left))
	}

	// A stroke that stays, and one that is undone.
	w.key("b", "bracketright", "bracketright")
	sx0, sy0 := v.toDevice(560, 250)
	sx1, sy1 := v.toDevice(660, 250)
	w.drag(v, "1", sx0, sy0, sx1, sy1)
	ux0, uy0 := v.toDevice(560, 500)
	ux1, uy1 := v.toDevice(760, 500)
	w.drag(v, "1", ux0, uy0, ux1, uy1)
	w.key("ctrl+z")

	mask := filepath.Join(t.TempDir(), "out")
	w.key("ctrl+m")
	w.await("overlays 1")
	w.key("ctrl+a")
	w.xdo("type", "--delay", "20", mask)
	w.key("Return")
	if line := w.await("saved "); line != "saved "+mask+".png" {
		t.Errorf("saved as %q", line)
	}
	w.quit()

	m, err := imagefile.ReadMask(context.Background(), mask+".png", width, height, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range left {
		if m.Pix[s.y*width+s.x] < processing.MaskLevel {
			t.Errorf("the glint at (%d, %d) inside the region is not in the mask", s.x, s.y)
		}
	}
	for _, s := range right {
		if m.Pix[s.y*width+s.x] != 0 {
			t.Errorf("the glint at (%d, %d) outside the region is in the mask", s.x, s.y)
		}
	}
	for x := 565; x < 655; x++ {
		if m.Pix[250*width+x] != 255 {
			t.Fatalf("the stroke has a gap at x = %d", x)
		}
	}
	for x := 540; x < 800; x++ {
		if m.Pix[500*width+x] != 0 {
			t.Fatalf("the undone stroke is still in the mask at x = %d", x)
		}
	}
}

// TestXvfbRussian uses a Russian keyboard: letters work by their characters, shortcuts by their keys.
func TestXvfbRussian(t *testing.T) {
	t.Parallel()
	w := open(t, "ru", 1024, 700, paint(t, 2000, 1500, []spot{{600, 500, 3}, {1500, 1100, 3}}))
	w.await("picture ")
	w.key("F5")
	if n := field(t, w.await("done "), 1); n != 2 {
		t.Errorf("found %d glints, painted 2", n)
	}
	w.layout("ru")
	const keyN, keyF, keyZ = "57", "41", "52"
	w.key(keyN)
	// The key т centres the next finding, at 1:1 at least.
	w.awaitView("the finding in the middle", func(v view) bool {
		x, y := v.toImage(v.width/2, v.height/2)
		return v.zoom >= 1 && math.Abs(x-600) <= 2 && math.Abs(y-500) <= 2
	})
	w.key(keyF)
	w.awaitView("the whole picture",
		func(v view) bool { return math.Abs(v.zoom-min(v.width/2000, v.height/1500)) <= 0.01 })
	// Ctrl+Z undoes the detection, so that quitting does not ask.
	w.xdo("keydown", "37", "key", keyZ, "keyup", "37")
	w.layout("us")
	w.quit()
}

// layout changes the keyboard layout.
func (w *window) layout(name string) {
	w.t.Helper()
	c := exec.Command("setxkbmap", name)
	c.Env = w.env
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("setxkbmap %s: %v\n%s", name, err, out)
	}
}

// TestXvfbCorrection corrects a painting, compares, changes the method of one finding, undoes that, and saves. The
// saved file is then compared with the original.
func TestXvfbCorrection(t *testing.T) {
	t.Parallel()
	source := painting(t)
	w := open(t, "en", 1100, 760, source)
	defer func() {
		if t.Failed() {
			w.screenshot(filepath.Join(os.TempDir(), "blik-correction-test.png"))
		}
	}()
	w.await("picture ")
	w.key("F5")
	spots := field(t, w.await("done "), 1)
	w.correctAll()
	all := w.await("corrected ")
	if n := field(t, all, 1); n != spots || n == 0 {
		t.Fatalf("%d spots found, %d corrected", spots, n)
	}

	whole := w.view()
	w.key("n")
	v := w.awaitView("the finding in the middle", func(v view) bool { return v != whole && v.zoom >= 1 })
	compare := func(what, key string, mode string) {
		t.Helper()
		w.xdo(what, key)
		if line := w.await("compare "); line != "compare "+mode {
			t.Errorf("%s %s: %s", what, key, line)
		}
	}
	compare("keydown", "c", "1")
	compare("keyup", "c", "0")
	compare("key", "s", "2")
	w.drag(v, "1", v.width/2, v.height/4, v.width/5, v.height/4)
	compare("keydown", "c", "1")
	compare("keyup", "c", "2")
	compare("key", "s", "0")
	if now := w.view(); now != v {
		t.Errorf("comparing moved the view from %+v to %+v", v, now)
	}

	// Another method for the selected finding, from the menu of corrections.
	w.key("Alt_L", "Right", "Right", "Right", "Right", "Right", "Right", "Down", "Down", "Down", "Right")
	w.key("Down", "Down", "Return")
	if line := w.await("corrected "); field(t, line, 1) != spots {
		t.Errorf("after correcting one finding again: %q", line)
	}
	w.key("ctrl+s")
	result := strings.TrimPrefix(w.await("saved-picture "), "saved-picture ")
	if want := filepath.Join(filepath.Dir(source), "painting_corrected.png"); result != want {
		t.Fatalf("saved as %s, expected %s", result, want)
	}
	if n := methods(t, source, result, spots)["harmonic"]; n != 1 {
		t.Errorf("%d places are corrected by harmonic, expected 1", n)
	}
	w.key("ctrl+z")
	if line := w.await("step "); strings.TrimPrefix(line, "step ") != strings.TrimPrefix(all, "corrected ") {
		t.Errorf("after undo %q, before %q", line, all)
	}
	w.key("ctrl+s")
	w.await("saved-picture ")
	if n := methods(t, source, result, spots)["harmonic"]; n != 0 {
		t.Errorf("%d places are corrected by harmonic after undo", n)
	}
	// Back to the beginning, so that quitting does not ask.
	w.key("ctrl+z", "ctrl+z")
	w.await("step ")
	w.await("step 0 0")
	w.quit()
}

// painting copies one of the development pictures with glare; short tests use a corner of it, which takes less time
// under the race detector.
func painting(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(testpic.Shared(t, "glare-dev/d01_villers_weave_glare.png"))
	if err == nil && testing.Short() {
		data, err = corner(data, 520, 390)
	}
	path := filepath.Join(t.TempDir(), "painting.png")
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// corner crops the top left w × h pixels of a PNG.
func corner(data []byte, w, h int) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	cut := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(cut, cut.Rect, img, image.Point{}, draw.Src)
	var b bytes.Buffer
	err = png.Encode(&b, cut)
	return b.Bytes(), err
}

// methods checks that the result differs from the original only in the places of its report, that their number is as
// expected, and counts them by method.
func methods(t *testing.T, source, result string, want int) map[string]int {
	t.Helper()
	file, _ := report.CorrectionPaths(result)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var written struct {
		Width, Height int
		Changed       int64 `json:"pixels_changed"`
		Places        []report.Place
	}
	if err := json.Unmarshal(data, &written); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	may := processing.NewMask(written.Width, written.Height)
	for _, p := range written.Places {
		counts[p.Method]++
		for y := p.Top; y < p.Top+p.Height; y++ {
			for x := p.Left; x < p.Left+p.Width; x++ {
				may.Pix[y*may.Width+x] = 255
			}
		}
	}
	c, err := imagefile.Compare(context.Background(), source, result, may, imagefile.DefaultLimits(), false)
	if err != nil {
		t.Fatal(err)
	}
	if proof := c.Proof; !proof.Holds() || proof.Changed != written.Changed || proof.Changed == 0 || len(written.Places) != want {
		t.Errorf("%d places of %d, %d pixels reported: %+v", len(written.Places), want, written.Changed, c.Proof)
	}
	return counts
}

// BenchmarkXvfbFrames measures pan, zoom and brush at 1600 × 1000 on 18.7 and 108 MP, from the start of the raster's
// generator to the end of the frame. Freeing the old texture and checking the layout come before that and take another
// 0.6 ms. Before each picture it measures the lower limit: a window of the same size that only uploads and shows ready
// pixels, with the same number of wheel turns and pointer movements.
//
//	go test -run '^$' -bench XvfbFrames -benchtime 1x ./ui/e2e
func BenchmarkXvfbFrames(b *testing.B) {
	const steps = 120
	for _, size := range [][2]int{{5300, 3533}, {12000, 9000}} {
		floor := openIn(b, b.TempDir(), bareWindow, 1600, 1000)
		v := floor.view()
		floor.move(v, v.width/2, v.height/2)
		floor.report("bare, wheel", v, func() { floor.wheel(steps) })
		floor.report("bare, moves", v, func() { floor.shake(v, "1", steps) })
		floor.kill()
		w := open(b, "en", 1600, 1000, paint(b, size[0], size[1], nil))
		w.await("picture ")
		b.Logf("%d × %d px:", size[0], size[1])
		w.gestures(steps)
		w.kill()
	}
}

// gestures measures the gestures of a person, each in a number of steps.
func (w *window) gestures(steps int) {
	v := w.view()
	w.move(v, v.width/2, v.height/2)
	w.report("zoom", v, func() { w.wheel(steps) })
	w.key("ctrl+0")
	w.move(w.view(), v.width/2, v.height/2)
	w.xdo("click", "4", "click", "4")
	w.report("pan zoomed", w.view(), func() { w.shake(v, "2", steps) })
	w.key("ctrl+1")
	w.report("pan at 1:1", w.view(), func() { w.shake(v, "2", steps) })
	w.key("b")
	w.report("brush", w.view(), func() { w.shake(v, "1", steps) })
	// 15 % more at each press: from 10 to the largest radius of 2,000 px.
	w.key("ctrl+0")
	w.key(slices.Repeat([]string{"bracketright"}, 40)...)
	w.report("brush 2,000", w.view(), func() { w.shake(v, "1", steps) })
}

// wheel turns the wheel back and forth.
func (w *window) wheel(steps int) {
	var wheel []string
	for i := range steps {
		wheel = append(wheel, "click", []string{"4", "5"}[i/15%2], "sleep", "0.02")
	}
	w.xdo(wheel...)
}

// shake drags back and forth with a button. A single xdotool process does everything, because starting one for each
// step would cost more than the frames.
func (w *window) shake(v view, button string, steps int) {
	w.move(v, v.width/2, v.height/2)
	do := []string{"mousedown", button}
	for i := range steps {
		a := 2 * math.Pi * float64(i) / 30
		x, y := v.left+v.width/2+120*math.Sin(a), v.top+v.height/2+80*math.Cos(a)
		do = append(do, "mousemove", "--window", w.id, fmt.Sprint(int(x)), fmt.Sprint(int(y)), "sleep", "0.02")
	}
	w.xdo(append(do, "mouseup", button)...)
}

// report measures the frames while f runs.
func (w *window) report(name string, v view, f func()) {
	w.t.Helper()
	var frames, drawn []time.Duration
	from := len(w.lines())
	f()
	w.view()
	for _, line := range w.lines()[from:] {
		var total, own int64
		if n, _ := fmt.Sscanf(line, "frame %d %d", &total, &own); n == 2 {
			frames, drawn = append(frames, time.Duration(total)), append(drawn, time.Duration(own))
		}
	}
	if len(frames) == 0 {
		w.t.Fatalf("%s: no frames", name)
	}
	slices.Sort(frames)
	slices.Sort(drawn)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	w.t.Logf("%-11s %3d frames, viewport %.0f × %.0f px: median %.1f ms, "+
		"of it drawing %.1f ms; p95 %.1f ms, fastest %.1f ms", name, len(frames), v.width, v.height,
		ms(frames[len(frames)/2]), ms(drawn[len(drawn)/2]), ms(frames[len(frames)*95/100]), ms(frames[0]))
}

// by returns a condition: the view has moved by a number of device pixels from another one.
func by(from view, dx, dy float64) func(view) bool {
	return func(v view) bool {
		return math.Abs((v.x-from.x)*v.zoom-dx) < 3 && math.Abs((v.y-from.y)*v.zoom-dy) < 3
	}
}

// field returns a whole number from a line of the log.
func field(t *testing.T, line string, i int) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Fields(line)[i])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
