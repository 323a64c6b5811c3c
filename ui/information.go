package ui

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"blik/app/imagefile/codec"
	"blik/ui/xwidget"
)

// fact is a line of the information on a picture.
type fact struct{ name, value string }

// facts tell what is known of the file and the picture in it.
func (w *window) facts() []fact {
	f, size := w.file, w.doc.Size()
	facts := []fact{
		{w.t("info.file"), w.doc.Path()},
		{w.t("info.format"), w.formatText()},
		{w.t("info.size"), w.t("info.pixels", "W", w.texts.Int(size.X), "H", w.texts.Int(size.Y),
			"MP", w.texts.Megapixels(size.X, size.Y))},
		{w.t("info.samples"), w.t(channelKeys[w.doc.Picture().Channels], "Depth", f.Depth)},
		{w.t("info.profile"), w.profileText()},
	}
	if r := w.resolutionText(); r != "" {
		facts = append(facts, fact{w.t("info.resolution"), r})
	}
	if f.Orientation > 1 {
		facts = append(facts, fact{w.t("info.orientation"), w.t("info.turned")})
	}
	if f.Info.Pictures > 1 {
		facts = append(facts, fact{w.t("info.pages"), w.t("info.firstOf", "N", w.texts.Int(f.Info.Pictures))})
	}
	for _, note := range f.Info.Warnings {
		facts = append(facts, fact{w.t("info.note"), note.In(w.texts.Lang())})
	}
	var blocks []string
	m := f.Info.Meta
	for _, b := range []struct {
		name string
		data []byte
	}{{"ICC", m.ICC}, {"EXIF", m.EXIF}, {"XMP", m.XMP}, {"IPTC", m.IPTC}} {
		if len(b.data) > 0 {
			blocks = append(blocks, b.name)
		}
	}
	if len(blocks) > 0 {
		facts = append(facts, fact{w.t("info.metadata"), strings.Join(blocks, ", ")})
	}
	return facts
}

// channelKeys are the keys for the colour models of decoded pictures.
var channelKeys = map[int]string{1: "info.grey", 3: "info.rgb", 4: "info.cmyk"}

func (w *window) formatText() string {
	text := string(w.file.Format)
	if c := w.file.Info.Compression; c != "" && c != text {
		if c == "none" {
			c = w.t("info.uncompressed")
		}
		text += ", " + c
	}
	return text
}

// profileText names the profile, and says where the screen shows its colours approximately.
func (w *window) profileText() string {
	p := w.file.Profile
	text := w.t("info.noProfile")
	switch {
	case p == nil:
		return text
	case p.Name != "":
		text = p.Name
	case len(w.file.Info.Meta.ICC) > 0:
		text = w.t("info.unnamedProfile")
	case p.Channels == 4:
		text = w.t("info.noInkProfile")
	}
	if !p.Exact {
		text += "\n" + w.approximately()
	}
	return text
}

// approximately says why the colours on the screen are approximate; it is empty where they are not.
func (w *window) approximately() string {
	if w.file == nil || w.file.Profile == nil || w.file.Profile.Exact {
		return ""
	}
	return w.t("colours.why", "Reason", w.file.Profile.Reason.In(w.texts.Lang()))
}

func (w *window) resolutionText() string {
	m := w.file.Info.Meta
	unit, ok := map[codec.Unit]string{codec.UnitInch: "info.perInch", codec.UnitCentimetre: "info.perCentimetre"}[m.Unit]
	if !ok || !(m.XResolution > 0) || !(m.YResolution > 0) {
		return ""
	}
	text := w.texts.Number(m.XResolution, 2)
	if m.YResolution != m.XResolution {
		text += " × " + w.texts.Number(m.YResolution, 2)
	}
	return w.t(unit, "Value", text)
}

// showInformation shows the facts in a dialog.
func (w *window) showInformation() {
	grid := container.New(layout.NewFormLayout())
	for _, f := range w.facts() {
		value := widget.NewLabel(f.value)
		value.Wrapping = fyne.TextWrapWord
		value.Selectable = true
		grid.Add(widget.NewLabelWithStyle(f.name, fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
		grid.Add(value)
	}
	d := dialog.NewCustom(w.t("info.title"), w.t("button.close"), container.NewVScroll(grid), w.win)
	size := w.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(600, size.Width*0.9), min(420, size.Height*0.9)))
	w.showDialog(d, nil)
}

// refreshColours shows in the status bar that the colours are approximate; the reason is its help.
func (w *window) refreshColours() {
	w.status.colours.RemoveAll()
	if why := w.approximately(); why != "" {
		w.status.colours.Add(xwidget.NewHelpLabel(w.t("colours.approximate"), why, w.tips))
		w.status.colours.Add(xwidget.NewGap(8, 0))
	}
}
