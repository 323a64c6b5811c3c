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
//
// A nil logger writes nothing.
type logger struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
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

// frames measures every frame of a viewport. The generator runs inside the painting on the main goroutine, and a
// function queued meanwhile runs as soon as the frame is on the screen.
func (l *logger) frames(p *viewport.Viewport) {
	if l == nil {
		return
	}
	p.OnFrame = func(drawn time.Duration) {
		start := time.Now().Add(-drawn)
		go fyne.Do(func() { l.line("frame %d %d", time.Since(start).Nanoseconds(), drawn.Nanoseconds()) })
	}
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
