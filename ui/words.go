package ui

import (
	"fmt"
	"strings"
	"time"

	"blik/app/device"
	"blik/app/document"
	"blik/app/report"
	"blik/app/session/devices"
	"blik/app/session/glare"
	"blik/app/session/store"
	"blik/internal/message"
	"blik/processing"
)

// percent writes a share of 1 in per cent.
func (k *kit) percent(v float64) string {
	decimals := 0
	if v < 0.1 {
		decimals = 1
	}
	return k.texts.Number(v*100, decimals) + "\u00a0%"
}

// duration writes a time with two or three significant digits.
func (k *kit) duration(d time.Duration) string {
	if d < time.Second {
		return k.t("%s ms", k.texts.Number(float64(d.Milliseconds()), 0))
	}
	decimals := 1
	if d < 10*time.Second {
		decimals = 2
	}
	return k.t("%s s", k.texts.Number(d.Seconds(), decimals))
}

// pixelText writes the samples of a pixel and, if it is corrected, those of the original.
func (k *kit) pixelText(p document.Pixel) string {
	value := func(v float64) string {
		if p.Depth == 32 {
			return k.texts.Number(v, 4)
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
		text = k.t("grey %s", text)
	}
	if p.Corrected {
		text += "  ←" + original
	}
	return text
}

// widestPixel returns the longest text of a pixel of the picture.
func (a *about) widestPixel() string {
	p := document.Pixel{Channels: 3, Depth: 8, Corrected: true}
	if doc := a.session.Document(); doc != nil {
		p.Channels, p.Depth = doc.Picture().Channels, doc.Picture().Depth()
	}
	for i := range p.Samples {
		p.Samples[i] = map[int]float64{8: 255, 16: 65535, 32: 0.8888}[p.Depth]
	}
	p.Source = p.Samples
	return a.k.pixelText(p)
}

// regionText describes the search region.
func (a *about) regionText() string {
	r := a.editor.Region()
	if r == nil {
		return a.k.t("whole picture")
	}
	size := a.session.Document().Size()
	x0, y0, x1, y1 := r.Bounds(size.X, size.Y)
	w, h := a.k.texts.Int(x1-x0), a.k.texts.Int(y1-y0)
	switch r.Shape {
	case processing.EllipseShape:
		return a.k.t("ellipse %s × %s px", w, h)
	case processing.PolygonShape:
		return a.k.t("polygon %s × %s px", w, h)
	}
	return a.k.t("rectangle %s × %s px", w, h)
}

// foundText counts the findings.
func (a *about) foundText() string {
	stats, size := a.session.Document().Stats(), a.session.Document().Size()
	if stats.Area == 0 {
		return a.k.t("Mask is empty")
	}
	share := float64(stats.Area) / float64(size.X) / float64(size.Y)
	return a.k.texts.Plural(stats.Spots, "%s finding, %s px, %s %%", "%s findings, %s px, %s %%",
		a.k.texts.Int(stats.Spots), a.k.texts.Int(stats.Area), a.k.texts.Number(share*100, 3))
}

// stepText describes the next step of the work.
func (k *kit) stepText(step store.Step, n int) string {
	switch step {
	case store.StepOpen:
		return k.t("Open a picture (%s), or drop it here", k.press(fileOpen))
	case store.StepDetect:
		return k.t("Find glare (%s) or paint it (%s)", k.press(findRun), k.press(toolBrush))
	case store.StepCorrect:
		return k.texts.Plural(n, "%s finding is not corrected: press %s", "%s findings are not corrected: press %s",
			k.texts.Int(n), k.press(correctAll))
	case store.StepSave:
		return k.texts.Plural(n, "%s corrected: compare (%s), save (%s)", "%s corrected: compare (%s), save (%s)",
			k.texts.Int(n), k.press(holdAction), k.press(fileSavePicture))
	case store.StepOverwritten:
		return k.t("The corrections are in the original file")
	default:
		return k.texts.Plural(n, "%s finding corrected and saved", "All %s findings corrected and saved",
			k.texts.Int(n))
	}
}

// methodNames are the methods for one finding in their order; the first stands for the method of all findings.
func (k *kit) methodNames() []string {
	s, _ := processing.SpecByID("method")
	names := make([]string, len(s.Choices))
	for i, choice := range s.Choices {
		names[i] = k.texts.Sprint(choice.Name)
	}
	names[0] = k.t("same as the others")
	return names
}

// stateText describes how a finding is corrected.
func (k *kit) stateText(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return k.texts.Sprint(s.Method.Name())
	case document.PartlyCorrected:
		return k.t("edited after correction – correct again")
	default:
		return k.t("not corrected")
	}
}

// shortState describes in a word how a finding is corrected, for the list.
func (k *kit) shortState(s document.Spot) string {
	switch s.State {
	case document.Corrected:
		return k.texts.Sprint(methodWord(s.Method))
	case document.PartlyCorrected:
		return k.t("partly")
	default:
		return k.t("–")
	}
}

// savedText describes what was saved and verified.
func (k *kit) savedText(w store.Written) string {
	n, name := int(w.Saved.PixelsChanged), baseName(w.Saved.Path)
	changed := k.changedText(n)
	switch {
	case w.Saved.Lossy:
		return k.t("Saved %s as JPEG. %s corrected; the blocks around them were encoded again", name,
			k.texts.Plural(n, "%s pixel", "%s pixels", k.texts.Int(n)))
	case w.Saved.Proof != nil && w.Saved.Proof.Holds():
		return k.t("Saved %s. %s; everything else verified identical", name, changed) + k.extentText(w.Extent)
	default:
		return k.t("Saved %s. %s", name, changed) + k.extentText(w.Extent)
	}
}

// changedText counts changed pixels.
func (k *kit) changedText(n int) string {
	return k.texts.Plural(n, "%s pixel changed", "%s pixels changed", k.texts.Int(n))
}

// extentText is a clause that says what the pixels are that were free to change.
func (k *kit) extentText(e report.Extent) string {
	if e.Free() == 0 {
		return ""
	}
	number := func(n int64) string { return k.texts.Int(int(n)) }
	return "; " + k.t("marked %s + halo %s + veil %s = %s free to change", number(e.Marked), number(e.Halo),
		number(e.Veil), number(e.Free()))
}

// These choices always exist.
const (
	deviceAuto = "auto"
	deviceCPU  = "cpu"
)

// machine describes the devices.
type machine struct {
	k       *kit
	devices *devices.Devices
}

// deviceTitle returns the name of a device: a GPU has its maker's name, with its number if there are several.
func (m *machine) deviceTitle(name string) string {
	if name == deviceCPU {
		return m.k.t("CPU")
	}
	gpus, title := 0, ""
	for _, d := range m.devices.All() {
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
func (m *machine) deviceHelp() string {
	s := m.devices.State()
	if s.Opening {
		return m.k.t("Opening the device for detection and correction…")
	}
	text := m.k.t("Detection and correction run on: %s.", m.deviceTitle(s.Runs))
	if s.Reason != nil {
		text += " " + m.k.texts.Sprint(device.Explain(s.Reason))
	}
	return text
}

// ran returns the end of a sentence about a result: time, device, hint, and the notice of the device.
func (m *machine) ran(o glare.Outcome, hint string) string {
	text := m.k.t(" in %s on %s", m.k.duration(o.Took), m.deviceTitle(o.Device)) + hint
	if o.Notice != nil {
		text += ". " + m.k.texts.Sprint(*o.Notice)
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
