package ui

import (
	"fmt"
	"strings"
	"time"

	"blik/app/device"
	"blik/app/document"
	"blik/app/session/glare"
	"blik/app/session/store"
	"blik/internal/message"
	"blik/processing"
)

// percent writes a share of 1 in per cent.
func (c *common) percent(v float64) string {
	decimals := 0
	if v < 0.1 {
		decimals = 1
	}
	return c.texts.Number(v*100, decimals) + "\u00a0%"
}

// duration writes a time with two or three significant digits.
func (c *common) duration(d time.Duration) string {
	if d < time.Second {
		return c.t("%s ms", c.texts.Number(float64(d.Milliseconds()), 0))
	}
	decimals := 1
	if d < 10*time.Second {
		decimals = 2
	}
	return c.t("%s s", c.texts.Number(d.Seconds(), decimals))
}

// pixelText writes the samples of a pixel and, if it is corrected, those of the original.
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
		text = c.t("grey %s", text)
	}
	if p.Corrected {
		text += "  ←" + original
	}
	return text
}

// widestPixel returns the longest text of a pixel of the picture.
func (c *common) widestPixel() string {
	p := document.Pixel{Channels: 3, Depth: 8, Corrected: true}
	if doc := c.session.Document(); doc != nil {
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
	r := c.editor.Region()
	if r == nil {
		return c.t("whole picture")
	}
	size := c.session.Document().Size()
	x0, y0, x1, y1 := r.Bounds(size.X, size.Y)
	w, h := c.texts.Int(x1-x0), c.texts.Int(y1-y0)
	switch r.Shape {
	case processing.EllipseShape:
		return c.t("ellipse %s × %s px", w, h)
	case processing.PolygonShape:
		return c.t("polygon %s × %s px", w, h)
	}
	return c.t("rectangle %s × %s px", w, h)
}

// foundText counts the findings.
func (c *common) foundText() string {
	stats, size := c.session.Document().Stats(), c.session.Document().Size()
	if stats.Area == 0 {
		return c.t("Mask is empty")
	}
	share := float64(stats.Area) / float64(size.X) / float64(size.Y)
	return c.texts.Plural(stats.Spots, "%s finding, %s px, %s %%", "%s findings, %s px, %s %%",
		c.texts.Int(stats.Spots), c.texts.Int(stats.Area), c.texts.Number(share*100, 3))
}

// nextText describes the next step of the work.
func (c *common) nextText() string { return c.stepText(c.store.Next()) }

func (c *common) stepText(step store.Step, n int) string {
	switch step {
	case store.StepOpen:
		return c.t("Open a picture (%s), or drop it here", c.press("file.open"))
	case store.StepDetect:
		return c.t("Find glare (%s) or paint it (%s)", c.press("find.run"), c.press("tool.brush"))
	case store.StepCorrect:
		return c.texts.Plural(n, "%s finding is not corrected: press %s", "%s findings are not corrected: press %s",
			c.texts.Int(n), c.press("correct.all"))
	case store.StepSave:
		return c.texts.Plural(n, "%s corrected: compare (%s), save (%s)", "%s corrected: compare (%s), save (%s)",
			c.texts.Int(n), c.press("view.source"), c.press("file.savePicture"))
	case store.StepOverwritten:
		return c.t("The corrections are in the original file")
	default:
		return c.texts.Plural(n, "%s finding corrected and saved", "All %s findings corrected and saved",
			c.texts.Int(n))
	}
}

// methodNames are the methods for one finding in their order; the first stands for the method of all findings.
func (c *common) methodNames() []string {
	s, _ := processing.SpecByID("method")
	names := make([]string, len(s.Choices))
	for i, choice := range s.Choices {
		names[i] = c.texts.Sprint(choice.Name)
	}
	names[0] = c.t("same as the others")
	return names
}

// stateText describes how a finding is corrected.
func (c *common) stateText(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return c.texts.Sprint(s.Method.Name())
	case document.PartlyCorrected:
		return c.t("edited after correction – correct again")
	default:
		return c.t("not corrected")
	}
}

// shortState describes in a word how a finding is corrected, for the list.
func (c *common) shortState(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return c.texts.Sprint(methodWord(s.Method))
	case document.PartlyCorrected:
		return c.t("partly")
	default:
		return c.t("–")
	}
}

// savedText describes what was saved and verified.
func (c *common) savedText(w store.Written) string {
	n, name := int(w.Saved.PixelsChanged), baseName(w.Saved.Path)
	changed := c.texts.Plural(n, "%s pixel changed", "%s pixels changed", c.texts.Int(n))
	switch {
	case w.Saved.Lossy:
		return c.t("Saved %s as JPEG. %s corrected; the blocks around them were encoded again", name,
			c.texts.Plural(n, "%s pixel", "%s pixels", c.texts.Int(n)))
	case w.Saved.Proof != nil && w.Saved.Proof.Holds():
		return c.t("Saved %s. %s; everything else verified identical", name, changed)
	default:
		return c.t("Saved %s. %s", name, changed)
	}
}

// These choices always exist.
const (
	deviceAuto = "auto"
	deviceCPU  = "cpu"
)

// deviceTitle returns the name of a device: a GPU has its maker's name, with its number if there are several.
func (c *common) deviceTitle(name string) string {
	if name == deviceCPU {
		return c.t("CPU")
	}
	gpus, title := 0, ""
	for _, d := range c.devices.All() {
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

// deviceHelp names the device in use and, if it is not the chosen one, the reason.
func (c *common) deviceHelp() string {
	s := c.devices.State()
	if s.Opening {
		return c.t("Opening the device for detection and correction…")
	}
	text := c.t("Detection and correction run on: %s.", c.deviceTitle(s.Runs))
	if s.Reason != nil {
		text += " " + c.texts.Sprint(device.Explain(s.Reason))
	}
	return text
}

// ran returns the end of a sentence about a result: time, device, hint, and the notice of the device.
func (c *common) ran(o glare.Outcome, hint string) string {
	text := c.t(" in %s on %s", c.duration(o.Took), c.deviceTitle(o.Device)) + hint
	if o.Notice != nil {
		text += ". " + c.texts.Sprint(*o.Notice)
	}
	return text
}

// methodWord is the short name of a method, for the list.
func methodWord(m processing.Method) message.Message {
	word := func(name message.Text) message.Message { return message.Of(name).Context("word") }
	switch m {
	case processing.MethodSubtract:
		return word("subtract")
	case processing.MethodHarmonic:
		return word("harmonic")
	case processing.MethodExemplar:
		return word("exemplar")
	default:
		return word("auto")
	}
}
