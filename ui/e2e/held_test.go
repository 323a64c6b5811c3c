package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"blik/internal/test/uitest"
)

// heldVariable names the log of held in the program of childVariable.
const heldVariable = "BLIK_E2E_HELD"

// heldStep is the time between two functions posted to the toolkit's goroutine, heldLimit the largest acceptable delay
// of each.
const heldStep, heldLimit = 3 * time.Millisecond, 50 * time.Millisecond

// held watches the toolkit's goroutine and writes to a log, with all times in nanoseconds:
//
//   - a line "post TIME LATE USED" for each function posted to it, as jobs post their results: when it was posted, its
//     delay, and the processor time that the goroutine's thread used meanwhile. Each function is posted only after the
//     previous one has run.
//   - a line "poll TIME GAP" each time that the toolkit takes events: the time since it last did so. No key and no
//     movement of the pointer waits longer.
type held struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func newHeld(path string) (*held, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &held{out: bufio.NewWriter(f)}, nil
}

// line writes a line at once.
func (h *held) line(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.out, format+"\n", args...)
	h.out.Flush()
}

// watch begins to measure.
func (h *held) watch(post func(func())) {
	var polled time.Time
	// Animations go on between the events and the painting.
	poll := fyne.NewAnimation(time.Hour, func(float32) {
		now := time.Now()
		if !polled.IsZero() {
			h.line("poll %d %d", now.UnixNano(), now.Sub(polled).Nanoseconds())
		}
		polled = now
	})
	poll.RepeatCount = fyne.AnimationRepeatForever
	poll.Start()
	type run struct {
		late, used time.Duration
	}
	// A goroutine that receives late must not hold the window's.
	ran := make(chan run, 1)
	go func() {
		last := time.Duration(0)
		for ; ; time.Sleep(heldStep) {
			posted := time.Now()
			post(func() { ran <- run{time.Since(posted), threadTime()} })
			r := <-ran
			h.line("post %d %d %d", posted.UnixNano(), r.late.Nanoseconds(), (r.used - last).Nanoseconds())
			last = r.used
		}
	}()
}

// threadTime returns the processor time of the calling thread.
func threadTime() time.Duration {
	const thisThread = 1
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkXvfbHeld measures, on a picture of 18.7 megapixels, the delay of events on the window's goroutine while it
// opens, detects, corrects, undoes and saves: the largest delay of a posted function, the 99th percentile, the longest
// time between two moments at which keys and the pointer are handled, and the most processor time that the goroutine
// used between two posted functions, which does not depend on the load of the machine.
//
//	go test -run '^$' -bench Held -benchtime 1x ./ui/e2e
func BenchmarkXvfbHeld(b *testing.B) {
	picture, log := uitest.Tiled(b, 4994, 3745), filepath.Join(b.TempDir(), "held")
	b.Setenv(heldVariable, log)
	w := open(b, "en", 1600, 1000, picture)
	phase := func(name string, from time.Time) {
		b.Helper()
		time.Sleep(500 * time.Millisecond)
		reportHeld(b, name, log, from)
	}
	b.ResetTimer()
	w.await("picture ")
	phase("open", w.begun)
	for _, step := range []struct{ name, key, end string }{
		{"detect", "F5", "done "}, {"correct all", "F6", "corrected "}, {"undo", "ctrl+z", "step "},
		{"undo detection", "ctrl+z", "step "}, {"redo", "ctrl+y", "step "}, {"redo correction", "ctrl+y", "step "},
		{"save", "ctrl+s", "saved-picture "}, {"detect again", "F5", "done "},
	} {
		from := time.Now()
		if step.key == "F6" {
			w.correctAll()
		} else {
			w.key(step.key)
		}
		w.await(step.end)
		phase(step.name, from)
	}
	w.kill()
}

// reportHeld prints the measurements since a time.
func reportHeld(b *testing.B, name, log string, from time.Time) {
	b.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	var late, used, gaps []time.Duration
	for line := range strings.Lines(string(data)) {
		var kind string
		var at, first, second int64
		n, _ := fmt.Sscan(line, &kind, &at, &first, &second)
		switch {
		case at < from.UnixNano():
		case kind == "post" && n == 4:
			late, used = append(late, time.Duration(first)), append(used, time.Duration(second))
		case kind == "poll" && n == 3:
			gaps = append(gaps, time.Duration(first))
		}
	}
	if len(late) == 0 || len(gaps) == 0 {
		b.Fatalf("%s: no measurements", name)
	}
	slices.Sort(late)
	slices.Sort(used)
	slices.Sort(gaps)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	beyond := func(list []time.Duration) int {
		n, _ := slices.BinarySearch(list, heldLimit)
		return len(list) - n
	}
	n, polls := len(late), len(gaps)
	b.Logf("%-15s %4d posted: latest %5.1f ms, p99 %5.1f ms, %d beyond %v; events taken %3d times: %5.1f ms apart at "+
		"most, %d beyond; longest %5.1f ms of processor time", name, n, ms(late[n-1]), ms(late[n*99/100]),
		beyond(late), heldLimit, polls, ms(gaps[polls-1]), beyond(gaps), ms(used[n-1]))
}
