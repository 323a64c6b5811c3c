package ui

import (
	"fmt"
	"image"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/session"
	"blik/app/session/devices"
	"blik/app/session/preview"
	"blik/app/session/store"
	"blik/app/view"
	"blik/processing"
	"blik/ui/arrange"
	"blik/ui/xwidget"
)

// statusBar shows the values under the pointer, passing messages, and the number of findings. Its fields have fixed
// widths, so that nothing jumps.
type statusBar struct {
	k       *kit
	session *session.Session
	preview *preview.Preview
	devices *devices.Devices
	object  fyne.CanvasObject
	// line holds the fields. fresh is set until the pointer moves after a message has appeared: until then the message
	// may take the place of the values.
	line  *fyne.Container
	fresh bool

	// at is the pixel shown in place.
	at                                     image.Point
	place, values, message, compare, found *xwidget.FixedText
	// job describes the running job while the panel is hidden.
	job         *xwidget.FixedText
	panelHidden bool
	// colours is a notice that the colours on the screen are approximate, device names the device in use.
	colours, device *fyne.Container
}

func newStatusBar(c *common) *statusBar {
	s := &statusBar{
		k: c.k, session: c.session, preview: c.preview, devices: c.devices,
		place:   xwidget.NewFixedText("x 00000  y 00000"),
		values:  xwidget.NewFixedText(c.k.words.WidestPixel(nil)),
		message: xwidget.NewFixedText(""),
		compare: xwidget.NewFixedText(""),
		found:   xwidget.NewFixedText(""),
		job:     xwidget.NewFixedText(""),
		colours: container.NewHBox(),
		device:  container.NewHBox(),
	}
	s.message.Stretch, s.message.Tips = true, c.k.tips
	s.found.Trailing, s.compare.Trailing, s.compare.Bold = true, true, true
	s.message.Muted = true
	s.job.Stretch, s.job.Bold, s.job.Tips = true, true, c.k.tips
	s.job.Hide()
	right := container.NewHBox(s.colours, s.compare, xwidget.NewGap(8, 0), s.found, xwidget.NewGap(8, 0), s.device)
	s.line = container.New(arrange.Status{Message: s.messageWidth}, right, s.place, s.values,
		container.NewStack(s.message, s.job))
	s.object = container.NewVBox(widget.NewSeparator(),
		container.New(layout.NewCustomPaddedLayout(3, 4, 10, 10), s.line))
	c.k.say = s.say
	return s
}

// say shows a message.
func (s *statusBar) say(text string) {
	s.message.SetText(text)
	s.setFresh(true)
}

// setFresh sets fresh and gives the fields their places.
func (s *statusBar) setFresh(fresh bool) {
	s.fresh = fresh
	s.line.Layout.Layout(s.line.Objects, s.line.Size())
}

// messageWidth returns the width that the message must have, 0 if it may be truncated.
func (s *statusBar) messageWidth() float32 {
	if !s.fresh {
		return 0
	}
	return s.message.TextWidth()
}

func (s *statusBar) update(c change) {
	if c.Document {
		var of *processing.Picture
		if doc := s.session.Document(); doc != nil {
			of = doc.Picture()
		}
		s.values.SetWidest(s.k.words.WidestPixel(of))
		s.showColours()
	}
	if c.Document || c.Tool {
		hint := s.k.stepText(store.StepOpen, 0)
		if s.session.Document() != nil {
			hint = s.k.t(s.k.toolbox.current.Hint)
		}
		s.k.say(hint)
	}
	if c.Progress || c.Busy || c.Queue || c.Layout {
		s.showJob()
	}
	if c.Document || c.Mask {
		text := ""
		if s.session.Document() != nil {
			text = s.k.words.Found(s.session.Document())
		}
		s.found.SetText(text)
		s.object.Refresh()
	}
	if c.View || c.Corrections {
		widest := ""
		if s.k.display.blinking() {
			widest = s.k.t("original | corrected")
		}
		s.compare.SetWidest(widest)
		if text := s.compareText(); text != s.compare.Text() {
			s.compare.SetText(text)
			// What is right of it moves.
			s.object.Refresh()
		}
	}
	if c.Device {
		s.showDevice()
	}
}

// showJob shows the progress of the running job while the panel, which otherwise shows it, is hidden.
func (s *statusBar) showJob() {
	text := ""
	if s.panelHidden {
		text = s.jobText()
	}
	s.job.SetText(text)
	xwidget.SetVisible(s.job, text != "")
	xwidget.SetVisible(s.message, text == "")
}

// hovered shows the pixel under the pointer.
func (s *statusBar) hovered(at processing.Point, inside bool) {
	if s.session.Document() == nil {
		return
	}
	p, ok := s.session.Document().PixelAt(int(math.Floor(at.X)), int(math.Floor(at.Y)))
	if !inside || !ok {
		s.place.SetText("")
		s.values.SetText("")
		return
	}
	if now := image.Pt(p.X, p.Y); now != s.at {
		s.at = now
		s.setFresh(false)
	}
	s.place.SetText(fmt.Sprintf("x %d  y %d", p.X, p.Y))
	s.values.SetText(s.k.words.Pixel(p))
}

// compareText says whether the original, the corrected picture or both are shown.
func (s *statusBar) compareText() string {
	if !s.session.Corrected() {
		return ""
	}
	switch mode := s.k.display.mode(); {
	case s.k.display.beside, mode == view.CompareSplit:
		return s.k.t("original | corrected")
	case mode == view.CompareBefore:
		return s.k.t("ORIGINAL")
	}
	return s.k.t("corrected")
}

// showColours shows the notice about approximate colours, with the reason as its help.
func (s *statusBar) showColours() {
	s.colours.RemoveAll()
	if why := s.k.words.Approximately(s.session.Shown().Original); why != "" {
		s.colours.Add(xwidget.NewHelpLabel(s.k.t("approximate colours"), why, s.k.tips))
		s.colours.Add(xwidget.NewGap(8, 0))
	}
}

// showDevice shows the device in use.
func (s *statusBar) showDevice() {
	short := s.k.t("GPU")
	switch now := s.devices.State(); {
	case now.Opening:
		short = "…"
	case now.Runs == deviceCPU:
		short = s.k.t("CPU")
	}
	help := s.k.words.Running(s.devices) + " " + s.k.t("Choose another under Tools → Compute device.")
	s.device.Objects = []fyne.CanvasObject{xwidget.NewHelpLabel(short, help, s.k.tips)}
	s.object.Refresh()
}

// jobText describes the running job and the length of the queue in one line; it is empty if no job is running that the
// user asked for.
func (s *statusBar) jobText() string {
	if !s.session.Busy() || s.preview.Previewing() {
		return ""
	}
	text := s.k.words.Percent(s.session.Progress().Done) + ", " + s.k.words.Progress(s.session.Progress())
	if n := len(s.session.Queue().Waiting()); n > 0 {
		text += ", " + s.k.t("%s waiting", s.k.texts.Int(n))
	}
	return text
}
