package ui

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"blik/app/session"
	"blik/app/view"
	"blik/processing"
	"blik/ui/viewport"
)

// Observer receives what happens in the window, for tests and measurements, on the toolkit's goroutine:
//
//	view X Y W H SCALE ZOOM OX OY   place and size of the viewport in the window in device pixels, device pixels
//	                                per Fyne unit, and what view.Transform holds
//	frame NS DRAWN                  nanoseconds from the start of the raster's generator to the end of the frame
//	                                (drawing, upload, rasterising and buffer swap), and those of the drawing only
//	pointer X Y                     the pointer has come to a pixel of the picture
//	shown NS                        the window was on the screen, so many nanoseconds after the beginning of 1970
//	placeholder NS                  the placeholder of a picture that is being read was on the screen, so many
//	                                nanoseconds after the beginning of 1970
//	picture PATH W H                a picture is shown
//	done COUNT AREA                 a detection has ended
//	saved PATH                      a mask has been written
//	corrected SPOTS PIXELS          a correction has ended; so many are corrected now
//	step SPOTS PIXELS               a step was undone or redone; so many are corrected now
//	compare MODE                    the viewport shows the corrected picture (0), the original (1) or both (2)
//	saved-picture PATH              a corrected picture has been written
//	device NAME                     a device is open; the next work runs on the one named
//	busy true|false                 a job has begun, or ended
//	history DONE ALL                so many steps of the history are done, of so many that are kept
//	control NAME X Y W H            place and size of a control of the panel in the window, in device pixels: the
//	                                slider of a parameter, or the first row of the history
//	overlays N                      N dialogs and lists lie over the content of the program's windows
//	timing                          the timing view was brought up
//	page N                          its page N is in front
//	at NAME X Y W H                 middle of a control of the timing view, and the size of its window, in pixels
//	compared DEVICES                it has measured detection on so many devices
//	experiment ID ROWS              it has measured an experiment, or was cancelled; so many rows exist
//	saved-timing PATH               it has written a file
type Observer func(format string, args ...any)

func observe(w *window, send Observer) {
	if send == nil {
		return
	}
	o := &observed{w: w, send: send, controls: map[string]string{}}
	w.observed = o
	w.parts = append(w.parts, o)
	o.frames(w.k.display.port)
	o.pointer(w.k.display.port)
	o.update(change{Zoom: true})
	closed := make(chan struct{})
	w.win.SetOnClosed(func() { close(closed) })
	go o.watchOverlays(closed)
}

// observed turns changes of the window into events.
type observed struct {
	w    *window
	send Observer

	compare view.Compare
	// controls are the last lines sent about controls, by name.
	controls map[string]string
	opening  bool
	overlays int
	// start and drawn belong to the current frame.
	start time.Time
	drawn time.Duration
}

func (o *observed) update(c change) {
	doc := o.w.c.session.Document()
	switch c.Cause {
	case session.Opened:
		o.send("picture %s %d %d", doc.Path(), doc.Size().X, doc.Size().Y)
	case session.Detected:
		o.send("done %d %d", doc.Stats().Spots, doc.Stats().Area)
	case session.CorrectedSpots:
		o.send("corrected %d %d", doc.Corrections().Len(), doc.Corrections().Pixels())
	case session.Stepped:
		o.send("step %d %d", doc.Corrections().Len(), doc.Corrections().Pixels())
	case session.SavedMask:
		o.send("saved %s", o.w.c.store.MaskFile())
	case session.SavedPicture:
		o.send("saved-picture %s", o.w.c.store.Written().Saved.Path)
	}
	o.w.placeholder.seen = func() { o.send("placeholder %d", time.Now().UnixNano()) }
	if c.Busy {
		o.send("busy %v", o.w.c.session.Busy())
	}
	if c.History {
		names, done := o.w.c.editor.History()
		o.send("history %d %d", done, len(names))
	}
	if c.Busy || c.History || c.Layout {
		// The panel is laid out after this call.
		go o.w.config.later(o.places)
	}
	if c.Device {
		now := o.w.c.devices.State()
		if o.opening && !now.Opening {
			o.send("device %s", now.Runs)
		}
		o.opening = now.Opening
	}
	if mode := o.w.k.display.port.Compare(); mode != o.compare {
		o.compare = mode
		o.send("compare %d", mode)
	}
	if c.Zoom {
		o.frameEnded()
		o.view(o.w.k.display.port)
	}
}

// places reports the visible controls of the panel that have moved.
func (o *observed) places() {
	p := o.w.panel
	row := fyne.NewSize(p.history.List.Size().Width, p.history.List.CreateItem().MinSize().Height)
	switch p.tabs.SelectedIndex() {
	case 0:
		if slider := p.detection.form.Slider("sensitivity"); slider != nil {
			o.place("sensitivity", slider, slider.Size())
		}
	case historyTab:
		o.place("history", p.history.List, row.AddWidthHeight(0, theme.Padding()))
	}
}

func (o *observed) place(name string, object fyne.CanvasObject, size fyne.Size) {
	driver, scale := fyne.CurrentApp().Driver(), o.w.win.Canvas().Scale()
	at := driver.AbsolutePositionForObject(object)
	if at.IsZero() {
		// The tab has been selected, but its content is not in the window yet.
		go o.w.config.later(o.places)
		return
	}
	line := fmt.Sprintf("control %s %.0f %.0f %.0f %.0f", name, at.X*scale, at.Y*scale, size.Width*scale,
		size.Height*scale)
	if line != o.controls[name] {
		o.controls[name] = line
		o.send("%s", line)
	}
}

// watchOverlays polls the number of overlays, because the toolkit does not report its changes.
func (o *observed) watchOverlays(closed <-chan struct{}) {
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-closed:
			return
		case <-tick.C:
			o.w.config.session.Dispatch(o.countOverlays)
		}
	}
}

func (o *observed) countOverlays() {
	n := 0
	for _, win := range fyne.CurrentApp().Driver().AllWindows() {
		n += len(win.Canvas().Overlays().List())
	}
	if n != o.overlays {
		o.overlays = n
		o.send("overlays %d", n)
	}
}

// frames measures every frame of a viewport. The generator runs while the toolkit's goroutine paints, so the frame has
// ended when anything else runs there: a function queued meanwhile, or the next event.
func (o *observed) frames(p *viewport.Viewport) {
	first := true
	p.OnFrame = func(drawn time.Duration) {
		o.frameEnded()
		if first {
			first = false
			go o.w.config.session.Dispatch(func() { o.send("shown %d", time.Now().UnixNano()) })
		}
		o.start, o.drawn = time.Now().Add(-drawn), drawn
		go o.w.config.session.Dispatch(o.frameEnded)
	}
}

// pointer reports where the pointer is. The toolkit drops positions that follow each other within a frame.
func (o *observed) pointer(p *viewport.Viewport) {
	hover := p.OnHover
	p.OnHover = func(at processing.Point, inside bool) {
		hover(at, inside)
		if inside {
			o.send("pointer %.1f %.1f", at.X, at.Y)
		}
	}
}

// frameEnded reports the time of the current frame, if any.
func (o *observed) frameEnded() {
	if o.start.IsZero() {
		return
	}
	total := time.Since(o.start)
	o.start = time.Time{}
	o.send("frame %d %d", total.Nanoseconds(), o.drawn.Nanoseconds())
}

// view reports where the viewport is and what it shows.
func (o *observed) view(p *viewport.Viewport) {
	scale := float64(1)
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		scale = float64(c.Scale())
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(p)
	t := p.Transform()
	o.send("view %.0f %.0f %d %d %g %g %g %g", float64(at.X)*scale, float64(at.Y)*scale,
		p.Device().X, p.Device().Y, scale, t.Zoom, t.X, t.Y)
}
