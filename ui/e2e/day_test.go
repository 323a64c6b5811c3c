package e2e

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/project"
	"blik/app/session"
	"blik/internal/test/testpic"
)

// reviewed and reviewTime are how many findings are reviewed by keys only, and the longest time for that.
const (
	reviewed   = 100
	reviewTime = 2 * time.Minute
)

// TestXvfbDay is a day with six pictures: search the first, review a hundred findings by keys, mark by hand, search
// again, correct, compare, save, be killed, continue, and let a batch do the other five.
func TestXvfbDay(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	const width, height = 900, 600
	var glints []spot
	for i := range reviewed {
		glints = append(glints, spot{60 + i%10*85, 50 + i/10*55, 3})
	}
	folder, home := t.TempDir(), t.TempDir()
	var files []string
	for i := range 6 {
		some := glints
		if i > 0 {
			some = glints[:i]
		}
		path := filepath.Join(folder, fmt.Sprintf("p%d.png", i))
		if err := os.Rename(paint(t, width, height, some), path); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	c := comes(t, home, width, height, files...)
	c.await("picture ")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1.2 })
	c.key("F5")
	if n := field(t, c.await("done "), 1); n != reviewed {
		t.Fatalf("%d findings, %d painted", n, reviewed)
	}

	// Every tenth finding is ignored, the others are kept. Each of them is shown before the next key.
	began := time.Now()
	c.key("n")
	for i := range reviewed {
		views := c.count("view ")
		c.xdo("key", map[bool]string{true: "j", false: "k"}[i%10 == 9])
		if i < reviewed-1 {
			c.until(fmt.Sprintf("finding %d", i+2), func() bool { return c.count("view ") > views })
		}
	}
	took := time.Since(began)
	t.Logf("%d findings reviewed by keys in %s", reviewed, took.Round(time.Millisecond))
	if took > reviewTime {
		t.Errorf("that is more than %s", reviewTime)
	}

	c.key("ctrl+0", "b")
	c.awaitView("the whole picture", func(v view) bool { return v.zoom < 1.2 })
	c.stroke([2]float64{100, 575}, [2]float64{150, 575}, [2]float64{200, 575})
	c.key("F5")
	c.await("done ")
	c.saveAs(filepath.Join(t.TempDir(), "mask.png"))
	c.check("searched again", c.saved(), []spot{{150, 575, 0}, glints[0]}, []spot{glints[9], glints[99]})

	// All are decided, so nothing is asked.
	c.key("F6")
	if n := field(t, c.await("corrected "), 1); n != 91 {
		t.Errorf("%d findings corrected, want 91", n)
	}
	c.xdo("keydown", "c")
	c.await("compare 1")
	c.xdo("keyup", "c")
	c.await("compare 0")
	c.key("ctrl+s")
	c.await("saved-picture ")

	// The journal of what was done before may still be on its way.
	before, steps := c.quietJournals(home), c.count("history ")
	c.stroke([2]float64{400, 575}, [2]float64{450, 575}, [2]float64{500, 575})
	c.until("step of the stroke", func() bool { return c.count("history ") > steps })
	c.until("journal with the stroke", func() bool { return !slices.Equal(c.journals(home), before) })
	c.quietJournals(home)
	c.kill()

	again := comes(t, home, width, height, files...)
	again.await("overlays 1")
	again.key("Return")
	again.until("the restored stroke", func() bool { return again.count("history ") > 0 && again.count("overlays 0") > 0 })
	again.saveAs(filepath.Join(t.TempDir(), "restored.png"))
	again.check("restored", again.saved(), []spot{{450, 575, 0}, {150, 575, 0}}, []spot{glints[9]})

	again.key("ctrl+shift+p")
	again.await("overlays 1")
	again.xdo("type", "--delay", "20", "correct and save all")
	again.key("Return")
	for _, path := range files[1:] {
		result := strings.TrimSuffix(path, ".png") + "_corrected.png"
		again.until(result, func() bool {
			_, err := os.Stat(result)
			return err == nil
		})
	}
	again.kill()
	p, err := project.Read(t.Context(), files[0], session.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Work.Kept); n != 90 {
		t.Errorf("the project holds %d kept findings, want 90", n)
	}
}

// quietJournals waits until the journals have not changed for a while, and returns them.
func (c *conservator) quietJournals(home string) []string {
	c.t.Helper()
	const quiet = 3 * time.Second
	last, since := c.journals(home), time.Now()
	c.until("a quiet journal", func() bool {
		if now := c.journals(home); !slices.Equal(now, last) {
			last, since = now, time.Now()
		}
		return time.Since(since) > quiet
	})
	return last
}

// largeTIFF writes an uncompressed 16-bit RGB TIFF of the given size in one strip.
func largeTIFF(t testing.TB, w, h int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.tif")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const pixels = 8 + 2 + 9*12 + 4 + 6
	le := binary.LittleEndian
	head := append([]byte("II*\x00"), le.AppendUint32(nil, 8)...)
	head = le.AppendUint16(head, 9)
	entry := func(tag, kind uint16, count, value uint32) {
		head = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(head, tag), kind), count), value)
	}
	const short, long = 3, 4
	entry(256, long, 1, uint32(w))
	entry(257, long, 1, uint32(h))
	entry(258, short, 3, pixels-6)
	entry(259, short, 1, 1)
	entry(262, short, 1, 2)
	entry(273, long, 1, pixels)
	entry(277, short, 1, 3)
	entry(278, long, 1, uint32(h))
	entry(279, long, 1, uint32(6*w*h))
	head = le.AppendUint32(head, 0)
	for range 3 {
		head = le.AppendUint16(head, 16)
	}
	if _, err := f.Write(head); err != nil {
		t.Fatal(err)
	}
	row := make([]byte, 6*w)
	for y := range h {
		for i := 0; i < len(row); i += 2 {
			le.PutUint16(row[i:], uint16(20000+(i*7+y*13)%9000))
		}
		if _, err := f.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestXvfbLarge opens a picture of 108 megapixels, whose first pixels are on the screen before all are read, and moves,
// enlarges and paints it. How long that takes is measured by BenchmarkXvfbOpening and BenchmarkXvfbFrames.
func TestXvfbLarge(t *testing.T) {
	testpic.Long(t)
	w := open(t, "en", 1600, 1000, largeTIFF(t, 12000, 9000))
	w.await("picture ")
	if lines := w.lines(); firstOf(lines, "placeholder ") > firstOf(lines, "picture ") {
		t.Error("all pixels were read before the first were on the screen")
	}
	whole := w.view()
	w.move(whole, whole.width/2, whole.height/2)
	w.draws("turns of the wheel", func() { w.wheel(8) })
	w.awaitView("an enlarged picture", func(v view) bool { return v.zoom > whole.zoom })
	w.key("ctrl+1")
	one := w.awaitView("1:1", func(v view) bool { return v.zoom == 1 })
	w.draws("a drag with the middle button", func() {
		w.drag(one, "2", one.width/2, one.height/2, one.width/2-60, one.height/2-40)
	})
	moved := w.awaitView("what the drag moves to", by(one, 60, 40))
	w.key("b")
	stroke := func(v view) {
		t.Helper()
		steps := w.count("history ")
		w.draws("a stroke", func() { w.drag(v, "1", v.width/2, v.height/2, v.width/2+90, v.height/2+60) })
		w.until("step of the stroke", func() bool { return w.count("history ") > steps })
	}
	stroke(moved)
	// 15 % more at each press: from 10 to the largest radius of 2,000 px.
	w.key("ctrl+0")
	w.key(slices.Repeat([]string{"bracketright"}, 40)...)
	stroke(w.awaitView("the whole picture", func(v view) bool { return v.zoom == whole.zoom }))
	w.kill()
}

// draws does something and waits for a frame.
func (w *window) draws(what string, do func()) {
	w.t.Helper()
	frames := w.count("frame ")
	do()
	w.until("frame after "+what, func() bool { return w.count("frame ") > frames })
}

// firstOf returns the index of the first line that begins with prefix, or their number.
func firstOf(lines []string, prefix string) int {
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
	if i < 0 {
		return len(lines)
	}
	return i
}

// BenchmarkXvfbOpening measures the time until the first pixels, and then all pixels, of an uncompressed 16-bit TIFF of
// 108 megapixels can be on the screen. It measures once from the start of the process with the file as its argument,
// including the time until the window is visible, the peak memory and the processor time; and once from the key that
// chooses the file in the menu Open recent of a window that shows another picture. The file is in the system's cache,
// because it has just been written. The first process starts with empty user caches, which include Mesa's shaders. The
// time of the whole picture is rounded up to the polling interval of the test.
//
//	go test -run '^$' -bench XvfbOpening -benchtime 1x ./ui/e2e
func BenchmarkXvfbOpening(b *testing.B) {
	path := largeTIFF(b, 12000, 9000)
	home := b.TempDir()
	for i := range 4 {
		w := openIn(b, home, "en", 1600, 1000, path)
		whole := w.opened(w.begun)
		w.view()
		peak := peakMemory(b, w.child.Process.Pid)
		w.kill()
		used := w.child.ProcessState
		caches := "warm"
		if i == 0 {
			caches = "cold"
		}
		b.Logf("process, %s caches: window after %v, first pixels after %v, picture after %v, processor time %v, "+
			"peak of memory %s",
			caches, w.moment("shown", w.begun), w.moment("placeholder", w.begun), whole,
			(used.UserTime() + used.SystemTime()).Round(time.Millisecond), peak)
	}
	// In the menu of recent files the open picture is first, the previous one second.
	w := openIn(b, home, "en", 1600, 1000, paint(b, 900, 600, nil))
	w.await("picture ")
	for i := range 6 {
		w.view()
		w.key("Alt_L", "Down", "Down", "Down", "Right", "Down")
		begun := time.Now()
		w.key("Return")
		if whole := w.opened(begun); i%2 == 0 {
			b.Logf("command: first pixels after %v, picture after %v", w.moment("placeholder", begun), whole)
		}
	}
	w.kill()
}

// opened waits for a picture and returns the time since the given one.
func (w *window) opened(since time.Time) time.Duration {
	w.await("picture ")
	return time.Since(since).Round(time.Millisecond)
}

// moment returns the time between the given one and the last event of a kind that carries its own time.
func (w *window) moment(event string, since time.Time) time.Duration {
	w.t.Helper()
	at := int64(0)
	for _, line := range w.lines() {
		fmt.Sscanf(line, event+" %d", &at)
	}
	after := time.Unix(0, at).Sub(since)
	if after < 0 {
		w.t.Fatalf("no %s was reported", event)
	}
	return after.Round(time.Millisecond)
}

// peakMemory returns the peak memory of a process as reported by the system.
func peakMemory(t testing.TB, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatal("the system does not report it")
	return ""
}

// frameBuffer is the file in which Xvfb keeps the pixels of its screen, and the part of it that is looked at.
type frameBuffer struct {
	f *os.File
	// at is the offset of the part, rows the number of its rows, step the distance of those that are read.
	at         int64
	rows, step int
	line       int
	row        []byte
	seed       maphash.Seed
}

// rowsApart is the distance of the rows that are looked at.
const rowsApart = 16

// watch opens the pixels of the viewport. It moves the pointer to the corner of the window.
func (w *window) watch(v view) *frameBuffer {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.screen, "Xvfb_screen0"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	// The file is an X window dump: its header, in network order, begins with its size and holds the bytes of a line and
	// the number of colours, each of 12 bytes, that follow it.
	head := make([]byte, 80)
	if _, err := f.ReadAt(head, 0); err != nil {
		w.t.Fatal(err)
	}
	field := func(i int) int { return int(binary.BigEndian.Uint32(head[4*i:])) }
	line := field(12)
	var x, y int
	// The pointer knows where the window is; getwindowgeometry counts the window manager's frame twice.
	place := w.xdo("mousemove", "--window", w.id, "0", "0", "getmouselocation", "--shell")
	for _, l := range strings.Split(place, "\n") {
		fmt.Sscanf(l, "X=%d", &x)
		fmt.Sscanf(l, "Y=%d", &y)
	}
	left, top := x+int(v.left), y+int(v.top)
	return &frameBuffer{f: f, at: int64(field(0) + 12*field(19) + top*line + 4*left), rows: int(v.height), step: rowsApart,
		line: line, row: make([]byte, 4*int(v.width)), seed: maphash.MakeSeed()}
}

// sum is a hash of the pixels.
func (b *frameBuffer) sum(t testing.TB) uint64 {
	t.Helper()
	var h maphash.Hash
	h.SetSeed(b.seed)
	for y := 0; y < b.rows; y += b.step {
		if _, err := b.f.ReadAt(b.row, b.at+int64(y*b.line)); err != nil {
			t.Fatal(err)
		}
		h.Write(b.row)
	}
	return h.Sum64()
}

// still waits until the pixels have not changed for a while.
func (b *frameBuffer) still(t testing.TB) uint64 {
	t.Helper()
	last, since := b.sum(t), time.Now()
	for begun := since; time.Since(since) < 400*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if now := b.sum(t); now != last {
			last, since = now, time.Now()
		}
		if time.Since(begun) > patience {
			t.Fatal("the picture does not come to rest")
		}
	}
	return last
}

// answer returns the time from the start of xdotool with an event to the first changed pixel of the viewport.
func (w *window) answer(b *frameBuffer, event ...string) time.Duration {
	w.t.Helper()
	before := b.still(w.t)
	c := exec.Command("xdotool", event...)
	c.Env = w.env
	begun := time.Now()
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	for b.sum(w.t) == before {
		if time.Since(begun) > patience {
			w.t.Fatalf("%v changes no pixel", event)
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(begun)
	if err := c.Wait(); err != nil {
		w.t.Fatal(err)
	}
	return took
}

// BenchmarkXvfbAnswers measures how long after an event the first pixel of the viewport changes on the screen, at
// 1600 × 1000 with a 16-bit TIFF of 109 megapixels: the first change to 1:1 after opening, later ones, and turns of the
// wheel. The pixels are read from the memory of Xvfb each millisecond. Starting xdotool is part of each time, and is
// measured on its own.
//
//	go test -run '^$' -bench XvfbAnswers -benchtime 1x ./ui/e2e
func BenchmarkXvfbAnswers(b *testing.B) {
	path := largeTIFF(b, 12000, 9100)
	home := b.TempDir()
	var first, later, wheel, start []time.Duration
	for range 3 {
		w := openIn(b, home, "en", 1600, 1000, path)
		w.await("picture ")
		v := w.view()
		pixels := w.watch(v)
		w.move(v, v.width/2, v.height/2)
		first = append(first, w.answer(pixels, "key", "ctrl+1"))
		for range 4 {
			w.answer(pixels, "key", "ctrl+0")
			later = append(later, w.answer(pixels, "key", "ctrl+1"))
		}
		w.answer(pixels, "key", "ctrl+0")
		for i := range 16 {
			wheel = append(wheel, w.answer(pixels, "click", []string{"4", "5"}[i/8]))
			begun := time.Now()
			w.xdo("getmouselocation")
			start = append(start, time.Since(begun))
		}
		w.kill()
	}
	for _, s := range []struct {
		name string
		all  []time.Duration
	}{{"first 1:1", first}, {"later 1:1", later}, {"wheel", wheel}, {"xdotool", start}} {
		slices.Sort(s.all)
		at := func(share float64) time.Duration {
			return s.all[int(share*float64(len(s.all)-1))].Round(time.Millisecond)
		}
		b.Logf("%-9s %2d times: median %v, p90 %v, fastest %v, slowest %v", s.name, len(s.all), at(0.5), at(0.9), at(0),
			at(1))
	}
}

// TestXvfbFourSteps opens the sample, finds, corrects everything and saves with a report, whose proof must hold.
func TestXvfbFourSteps(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	sample, err := os.ReadFile("../../assets/sample.jpg")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sample.jpg")
	if err := os.WriteFile(path, sample, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c := comes(t, t.TempDir(), 1600, 1100, path)
	c.await("picture ")
	c.key("F5")
	c.await("done ")
	c.key("F6")
	c.await("overlays 1")
	c.key("Tab", "Tab", "space")
	c.await("corrected ")
	c.key("ctrl+s")
	c.await("overlays 1")
	c.key("Return") // as TIFF, not as JPEG again
	c.await("saved-picture ")
	took := time.Since(began)
	t.Logf("from the start of the program to the saved picture in %s", took.Round(time.Millisecond))
	if took > time.Minute {
		t.Error("that is more than a minute")
	}
	report, err := os.ReadFile(strings.TrimSuffix(path, ".jpg") + "_corrected.json")
	if err != nil {
		t.Fatal(err)
	}
	var says struct {
		Changed int `json:"pixels_changed"`
		Proof   struct {
			Holds bool `json:"holds"`
		} `json:"proof"`
	}
	if err := json.Unmarshal(report, &says); err != nil || says.Changed == 0 || !says.Proof.Holds {
		t.Errorf("the report says %+v, %v", says, err)
	}
}
