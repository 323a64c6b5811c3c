package e2e

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blik/internal/testpic"
)

// largeTIFF writes an uncompressed RGB TIFF of 16 bits, of the given size, in one strip.
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

// TestXvfbOpening measures from the start of the process to its window, to the first pixels of an uncompressed TIFF of
// 108 megapixels and 16 bits, and to the moment when all of it is shown, with the peak of the process's memory and the
// processor time that it took until then. The system has the file in its cache, because it has just been written. The
// times of window and picture are rounded up to the steps in which the test looks.
func TestXvfbOpening(t *testing.T) {
	testpic.Long(t)
	path := largeTIFF(t, 12000, 9000)
	for range 3 {
		w := open(t, "en", 1600, 1000, path)
		w.await("picture ")
		opened := time.Since(w.begun)
		w.view()
		first := int64(0)
		for _, line := range w.lines() {
			fmt.Sscanf(line, "glimpse %d", &first)
		}
		if first == 0 {
			t.Fatal("no pixels were shown before the picture")
		}
		peak := peakMemory(t, w.child.Process.Pid)
		w.child.Process.Kill()
		<-w.ended
		used := w.child.ProcessState
		t.Logf("window after %v, first pixels after %v, picture after %v, processor time %v, peak of memory %s",
			w.shown.Sub(w.begun).Round(time.Millisecond), time.Unix(0, first).Sub(w.begun).Round(time.Millisecond),
			opened.Round(time.Millisecond), (used.UserTime() + used.SystemTime()).Round(time.Millisecond), peak)
	}
}

// peakMemory returns the most memory that a process has had, as the system says it.
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
	t.Fatal("the system does not say it")
	return ""
}
