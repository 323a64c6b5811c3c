package e2e

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"blik/ui/uitest"
)

// heldVariable names the log of watchHeld in the program of childVariable.
const heldVariable = "BLIK_E2E_HELD"

// heldStep is the time between two functions posted to the toolkit's goroutine, heldLimit the largest acceptable delay
// of each.
const heldStep, heldLimit = 3 * time.Millisecond, 50 * time.Millisecond

// watchHeld repeatedly posts a function to the toolkit's goroutine and writes a line "TIME LATE USED" for each: when it
// was posted, its delay, and the processor time that the goroutine's thread used meanwhile, all in nanoseconds. Each
// function is posted only after the previous one has run.
func watchHeld(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	ran := make(chan time.Duration)
	go func() {
		last := time.Duration(0)
		for ; ; time.Sleep(heldStep) {
			posted := time.Now()
			go fyne.Do(func() { ran <- threadTime() })
			used := <-ran
			fmt.Fprintf(out, "%d %d %d\n", posted.UnixNano(), time.Since(posted).Nanoseconds(), (used - last).Nanoseconds())
			out.Flush()
			last = used
		}
	}()
	return nil
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
// opens, detects, corrects, undoes and saves: the largest delay, the 99th percentile, and the most processor time that
// the goroutine used between two events, which does not depend on the load of the machine.
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
		w.key(step.key)
		w.await(step.end)
		phase(step.name, from)
	}
	w.child.Process.Kill()
	<-w.ended
}

// reportHeld prints the measurements since a time.
func reportHeld(b *testing.B, name, log string, from time.Time) {
	b.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	var late, used []time.Duration
	for line := range strings.Lines(string(data)) {
		var at, l, u int64
		if n, _ := fmt.Sscanf(line, "%d %d %d", &at, &l, &u); n == 3 && at >= from.UnixNano() {
			late, used = append(late, time.Duration(l)), append(used, time.Duration(u))
		}
	}
	if len(late) == 0 {
		b.Fatalf("%s: no measurements", name)
	}
	slices.Sort(late)
	slices.Sort(used)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	n, beyond := len(late), 0
	for _, l := range late {
		if l > heldLimit {
			beyond++
		}
	}
	b.Logf("%-15s %5d events: latest %6.1f ms, p99 %5.1f ms, %d beyond %v; longest %6.1f ms of processor time",
		name, n, ms(late[n-1]), ms(late[n*99/100]), beyond, heldLimit, ms(used[n-1]))
}
