package e2e

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/internal/test/testpic"
)

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
