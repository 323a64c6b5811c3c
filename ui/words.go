package ui

import (
	"fmt"
	"strings"
	"time"

	"blik/app/device"
	"blik/app/document"
	"blik/app/session"
	"blik/processing"
)

// percent writes a share of one.
func (c *common) percent(v float64) string {
	decimals := 0
	if v < 0.1 {
		decimals = 1
	}
	return c.texts.Number(v*100, decimals) + "\u00a0%"
}

// duration writes a time with two or three digits.
func (c *common) duration(d time.Duration) string {
	if d < time.Second {
		return c.t("time.ms", "N", c.texts.Number(float64(d.Milliseconds()), 0))
	}
	decimals := 1
	if d < 10*time.Second {
		decimals = 2
	}
	return c.t("time.s", "N", c.texts.Number(d.Seconds(), decimals))
}

// pixelText writes the samples of a pixel; where it is corrected, those of the original, too.
func (c *common) pixelText(p document.Pixel) string {
	value := func(v float64) string {
		if p.Depth == 32 {
			return c.texts.Number(v, 4)
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
		text = c.t("status.grey", "V", text)
	}
	if p.Corrected {
		text += "  ←" + original
	}
	return text
}

// widestPixel is the longest text of a pixel of the picture.
func (c *common) widestPixel() string {
	p := document.Pixel{Channels: 3, Depth: 8, Corrected: true}
	if doc := c.Document(); doc != nil {
		p.Channels, p.Depth = doc.Picture().Channels, doc.Picture().Depth()
	}
	for i := range p.Samples {
		p.Samples[i] = map[int]float64{8: 255, 16: 65535, 32: 0.8888}[p.Depth]
	}
	p.Source = p.Samples
	return c.pixelText(p)
}

// regionText describes the search region.
func (c *common) regionText() string {
	r := c.Region()
	if r == nil {
		return c.t("region.whole")
	}
	size := c.Document().Size()
	x0, y0, x1, y1 := r.Bounds(size.X, size.Y)
	w, h := c.texts.Int(x1-x0), c.texts.Int(y1-y0)
	switch r.Shape {
	case processing.EllipseShape:
		return c.t("region.ellipse", "W", w, "H", h)
	case processing.PolygonShape:
		return c.t("region.polygon", "W", w, "H", h)
	}
	return c.t("region.rectangle", "W", w, "H", h)
}

// foundText counts the findings in the mask.
func (c *common) foundText() string {
	stats, size := c.Document().Stats(), c.Document().Size()
	if stats.Area == 0 {
		return c.t("status.empty")
	}
	share := float64(stats.Area) / float64(size.X) / float64(size.Y)
	return c.texts.N("status.found", stats.Spots, "Area", c.texts.Int(stats.Area), "Share", c.texts.Number(share*100, 3))
}

// nextText says what to do next.
func (c *common) nextText() string {
	switch step, n := c.Next(); step {
	case session.StepOpen:
		return c.t("hint.open")
	case session.StepDetect:
		return c.t("next.mask")
	case session.StepCorrect:
		return c.texts.N("next.correct", n)
	case session.StepSave:
		return c.texts.N("next.save", n)
	case session.StepOverwritten:
		return c.t("next.replaced")
	default:
		return c.texts.N("next.saved", n)
	}
}

// methodNames are the methods for one finding in their order; the first is that of all findings.
func (c *common) methodNames() []string {
	s, _ := processing.SpecByID("method")
	names := make([]string, len(s.Choices))
	for i, choice := range s.Choices {
		names[i] = c.texts.Sprint(choice.Name)
	}
	names[0] = c.t("spot.asAll")
	return names
}

// stateText says how a finding is corrected.
func (c *common) stateText(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return c.texts.Sprint(s.Method.Name())
	case document.Partly:
		return c.t("spot.partly")
	default:
		return c.t("spot.uncorrected")
	}
}

// shortState says in a word how a finding is corrected, for the list.
func (c *common) shortState(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return c.t("method." + s.Method.ID())
	case document.Partly:
		return c.t("state.partly")
	default:
		return c.t("state.uncorrected")
	}
}

// savedText says what was saved and what was verified.
func (c *common) savedText(w session.Written) string {
	n := int(w.Saved.PixelsChanged)
	fields := []any{"Name", baseName(w.Saved.Path), "Pixels", c.texts.N("count.pixels", n),
		"Changed", c.texts.N("count.changed", n)}
	switch {
	case w.Saved.Lossy:
		return c.t("saved.lossy", fields...)
	case w.Saved.Proof != nil && w.Saved.Proof.Holds():
		return c.t("saved.proven", fields...)
	default:
		return c.t("saved.plain", fields...)
	}
}

// The names of the choices that are always there.
const (
	deviceAuto = "auto"
	deviceCPU  = "cpu"
)

// deviceTitle is what a device is called: a GPU by its maker's name, with its number where there are several.
func (c *common) deviceTitle(name string) string {
	if name == deviceCPU {
		return c.t("device.cpu")
	}
	gpus, title := 0, ""
	for _, d := range c.Devices() {
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

// deviceHelp says what the work runs on, and if that is not what was chosen, why.
func (c *common) deviceHelp() string {
	s := c.DeviceState()
	if s.Opening {
		return c.t("device.opening")
	}
	text := c.t("device.runs", "Device", c.deviceTitle(s.Runs))
	if s.Why != nil {
		text += " " + c.texts.Sprint(device.Explain(s.Why))
	}
	return text
}

// ran says how long work took and on what, after the sentence on its result, and what its device had to say.
func (c *common) ran(o session.Outcome, hint string) string {
	text := c.t("status.ran", "Time", c.duration(o.Took), "Device", c.deviceTitle(o.Device)) + hint
	if o.Notice != nil {
		text += ". " + c.texts.Sprint(*o.Notice)
	}
	return text
}
