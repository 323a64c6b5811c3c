package ui

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"blik/ui/viewport"
)

// logger writes what a test or a measurement wants to know of the running window, a line an event:
//
//	view X Y W H SCALE ZOOM OX OY   place and size of the viewport in the window in device pixels, device pixels
//	                                per Fyne unit, and what view.Transform holds
//	frame NS DRAWN                  nanoseconds from the start of the raster's generator to the end of the frame
//	                                (drawing, upload, rasterising and buffer swap), and those of the drawing alone
//	picture PATH W H                a picture is shown
//	done COUNT AREA                 a detection has ended
//	saved PATH                      a mask has been written
//	corrected SPOTS PIXELS          a correction has ended; so many are corrected now
//	redo SPOT METHOD                a spot is to be corrected by another method
//	step SPOTS PIXELS               a step was undone or redone; so many are corrected now
//	compare MODE                    the viewport shows the corrected picture (0), the source (1) or both (2)
//	saved-picture PATH              a corrected picture has been written
//	device NAME                     a device was opened; the next work runs on the one named
//	timing                          the timing view was brought up
//	compared DEVICES                it has measured detection on so many devices
//	experiment ID ROWS              it has measured an experiment; so many rows are there, also after a cancel
//	saved-timing PATH               it has written a file
//
// A nil logger writes nothing.
type logger struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer

	// start and drawn are those of the frame on its way.
	start time.Time
	drawn time.Duration
}

func openLogger(path string) (*logger, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("measuring log: %w", err)
	}
	return &logger{file: f, out: bufio.NewWriter(f)}, nil
}

func (l *logger) line(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, format+"\n", args...)
	l.out.Flush()
}

func (l *logger) close() {
	if l != nil {
		l.file.Close()
	}
}

// frames measures every frame of a viewport. The generator runs inside the painting on the toolkit's goroutine, so a frame
// has ended when anything else runs there: a function queued meanwhile, or the next event.
func (l *logger) frames(p *viewport.Viewport) {
	if l == nil {
		return
	}
	p.OnFrame = func(drawn time.Duration) {
		l.frameEnded()
		l.start, l.drawn = time.Now().Add(-drawn), drawn
		go fyne.Do(l.frameEnded)
	}
}

// frameEnded writes the time of the frame that was on its way, if any. It belongs to the toolkit's goroutine.
func (l *logger) frameEnded() {
	if l == nil || l.start.IsZero() {
		return
	}
	total := time.Since(l.start)
	l.start = time.Time{}
	l.line("frame %d %d", total.Nanoseconds(), l.drawn.Nanoseconds())
}

// view tells where the viewport is.
func (l *logger) view(p *viewport.Viewport) {
	if l == nil {
		return
	}
	scale := float64(1)
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		scale = float64(c.Scale())
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(p)
	t := p.Transform()
	l.line("view %.0f %.0f %d %d %g %g %g %g", float64(at.X)*scale, float64(at.Y)*scale,
		p.Device().X, p.Device().Y, scale, t.Zoom, t.X, t.Y)
}
