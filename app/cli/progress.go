package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
	eastasian "golang.org/x/text/width"
)

// bar is a progress bar on one line of a terminal. A nil bar shows nothing.
type bar struct {
	w     io.Writer
	width int

	// drawing is held while the terminal is written, so that nothing is drawn after clear; mu is held only while the
	// fields below are accessed.
	drawing sync.Mutex
	mu      sync.Mutex
	title   string
	stage   string
	share   float64
	drawn   string

	stop, stopped chan struct{}
}

// barPeriod is the interval between redraws.
const barPeriod = 100 * time.Millisecond

// newBar returns a bar on w if w is a terminal, otherwise nil.
func newBar(w io.Writer) *bar {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	return startBar(w, width)
}

func startBar(w io.Writer, width int) *bar {
	b := &bar{w: w, width: width, stop: make(chan struct{}), stopped: make(chan struct{})}
	go func() {
		defer close(b.stopped)
		tick := time.NewTicker(barPeriod)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.draw()
			case <-b.stop:
				return
			}
		}
	}()
	return b
}

// set changes the text of the next redraw; share is the share of all work that is done, 0…1. It never waits for the
// terminal.
func (b *bar) set(title, stage string, share float64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.title, b.stage, b.share = title, stage, share
}

func (b *bar) draw() {
	b.drawing.Lock()
	defer b.drawing.Unlock()
	b.mu.Lock()
	line := barLine(b.title, b.stage, b.share, b.width)
	changed := b.title != "" && line != b.drawn
	if changed {
		b.drawn = line
	}
	b.mu.Unlock()
	if changed {
		fmt.Fprintf(b.w, "\r\x1b[K%s", line)
	}
}

// barLine lays out the bar in fewer than width columns, so that the cursor stays on the line.
func barLine(title, stage string, share float64, width int) string {
	const cells = 24
	full := int(min(max(share, 0), 1) * cells)
	line := fmt.Sprintf("[%s%s] %3.0f %%  %s  %s", strings.Repeat("#", full), strings.Repeat(".", cells-full),
		100*min(max(share, 0), 1), title, stage)
	used := 0
	for i, r := range line {
		used++
		if k := eastasian.LookupRune(r).Kind(); k == eastasian.EastAsianWide || k == eastasian.EastAsianFullwidth {
			used++
		}
		if used >= width {
			return line[:i]
		}
	}
	return line
}

// clear removes the bar from the line, to make room for other output, until the next set.
func (b *bar) clear() {
	if b == nil {
		return
	}
	b.drawing.Lock()
	defer b.drawing.Unlock()
	b.mu.Lock()
	shown := b.drawn != ""
	b.title, b.drawn = "", ""
	b.mu.Unlock()
	if shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

func (b *bar) close() {
	if b == nil {
		return
	}
	close(b.stop)
	<-b.stopped
	b.clear()
}
