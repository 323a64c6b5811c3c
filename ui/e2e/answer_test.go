package e2e

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

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
