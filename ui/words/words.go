// Package words writes what the window shows in the language of the user: values, findings, files, devices.
package words

import (
	"fmt"
	"image"
	"strings"
	"time"

	"blik/app/device"
	"blik/app/document"
	"blik/app/i18n"
	"blik/app/job"
	"blik/app/session/devices"
	"blik/app/session/glare"
	"blik/internal/message"
	"blik/processing"
)

// Words writes in one language.
type Words struct{ texts *i18n.Printer }

func New(texts *i18n.Printer) *Words { return &Words{texts} }

// t translates a text; see message.Of.
func (w *Words) t(format message.Text, args ...any) string { return w.texts.Sprintf(format, args...) }

// Percent writes a share of 1 in per cent.
func (w *Words) Percent(v float64) string {
	decimals := 0
	if v < 0.1 {
		decimals = 1
	}
	return w.texts.Number(v*100, decimals) + "\u00a0%"
}

// Duration writes a time with two or three significant digits.
func (w *Words) Duration(d time.Duration) string {
	if d < time.Second {
		return w.t("%s ms", w.texts.Number(float64(d.Milliseconds()), 0))
	}
	decimals := 1
	if d < 10*time.Second {
		decimals = 2
	}
	return w.t("%s s", w.texts.Number(d.Seconds(), decimals))
}

// Pixel writes the samples of a pixel and, if it is corrected, those of the original.
func (w *Words) Pixel(p document.Pixel) string {
	value := func(v float64) string {
		if p.Depth == 32 {
			return w.texts.Number(v, 4)
		}
		return fmt.Sprintf("%.0f", v)
	}
	names := map[int][]string{1: {""}, 3: {"R", "G", "B"}, 4: {"C", "M", "Y", "K"}}[p.Channels]
	text, original := "", ""
	for i, name := range names {
		if i > 0 {
			text += "  "
		}
		text += strings.TrimSpace(name + " " + value(p.Samples[i]))
		original += " " + value(p.Source[i])
	}
	if p.Channels == 1 {
		text = w.t("grey %s", text)
	}
	if p.Corrected {
		text += "  ←" + original
	}
	return text
}

// WidestPixel returns the longest text of a pixel of a picture; nil stands for one of 8 bit in colour.
func (w *Words) WidestPixel(of *processing.Picture) string {
	p := document.Pixel{Channels: 3, Depth: 8, Corrected: true}
	if of != nil {
		p.Channels, p.Depth = of.Channels, of.Depth()
	}
	for i := range p.Samples {
		p.Samples[i] = map[int]float64{8: 255, 16: 65535, 32: 0.8888}[p.Depth]
	}
	p.Source = p.Samples
	return w.Pixel(p)
}

// Region describes a search region in a picture of some size; nil is the whole picture.
func (w *Words) Region(r *processing.Region, size image.Point) string {
	if r == nil {
		return w.t("whole picture")
	}
	x0, y0, x1, y1 := r.Bounds(size.X, size.Y)
	wide, high := w.texts.Int(x1-x0), w.texts.Int(y1-y0)
	switch r.Shape {
	case processing.EllipseShape:
		return w.t("ellipse %s × %s px", wide, high)
	case processing.PolygonShape:
		return w.t("polygon %s × %s px", wide, high)
	}
	return w.t("rectangle %s × %s px", wide, high)
}

// Progress returns the stage of a job, the time so far, and the estimated time left.
func (w *Words) Progress(u job.Update) string {
	text := w.t("%s so far", w.Time(u.Elapsed.Truncate(time.Second)))
	if u.Left > 0 {
		text = w.t("%s so far, about %s left", w.Time(u.Elapsed.Truncate(time.Second)), w.Time(rough(u.Left)))
	}
	if stage := w.texts.Sprint(u.Stage); stage != "" {
		return stage + ": " + text
	}
	return text
}

// rough rounds an estimated time: to 1 s below 10 s, to 5 s below 2 min, then to minutes.
func rough(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return max(d.Round(time.Second), time.Second)
	case d < 2*time.Minute:
		return d.Round(5 * time.Second)
	}
	return d.Round(time.Minute)
}

// Time writes a time in whole seconds.
func (w *Words) Time(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return w.t("%d s", s)
	case s%60 == 0:
		return w.t("%d min", s/60)
	}
	return w.t("%d min %d s", s/60, s%60)
}

// Queued says that work waits for the running job.
func (w *Words) Queued(name message.Message) string {
	return w.t("Waits for the running task: %s", name)
}

// Device returns the title of a device of a machine: a GPU has its maker's name, with its number if there are several.
func (w *Words) Device(name string, all []device.Device) string {
	if name == "cpu" {
		return w.t("CPU")
	}
	gpus, title := 0, ""
	for _, d := range all {
		if d.Memory > 0 {
			gpus++
		}
		if d.Name == name {
			title = d.Title
		}
	}
	switch {
	case title == "":
		return name
	case gpus > 1:
		return title + " (" + name + ")"
	}
	return title
}

// Running names the device in use and, if it is not the chosen one, the reason.
func (w *Words) Running(on *devices.Devices) string {
	s := on.State()
	if s.Opening {
		return w.t("Opening the device for detection and correction…")
	}
	text := w.t("Detection and correction run on: %s.", w.Device(s.Runs, on.All()))
	if s.Reason != nil {
		text += " " + w.texts.Sprint(device.Explain(s.Reason))
	}
	return text
}

// Ran returns the end of a sentence about a result: time, device, hint, and the notice of the device.
func (w *Words) Ran(o glare.Outcome, on *devices.Devices, hint string) string {
	text := w.t(" in %s on %s", w.Duration(o.Took), w.Device(o.Device, on.All())) + hint
	if o.Notice != nil {
		text += ". " + w.texts.Sprint(*o.Notice)
	}
	return text
}
