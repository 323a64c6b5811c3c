package words

import (
	"math"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/app/imagefile/container"
	"blik/app/report"
	"blik/app/session"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
)

// Fact is a line of the information on a picture.
type Fact struct{ Name, Value string }

// Facts lists the information on an open file and its picture.
func (w *Words) Facts(of session.Open) []Fact {
	f, pic := of.Original, of.Doc.Picture()
	facts := []Fact{
		{w.t("File"), of.Doc.Path()},
		{w.t("Format"), w.formatText(f)},
		{w.t("Size"), w.t("%s × %s px, %s MP", w.texts.Int(pic.Width), w.texts.Int(pic.Height),
			w.texts.Megapixels(pic.Width, pic.Height))},
		{w.t("Samples"), w.t(channelKeys[pic.Channels], f.Depth)},
		{w.t("Profile"), w.profileText(f)},
	}
	if r := w.resolutionText(f.Info.Meta); r != "" {
		facts = append(facts, Fact{w.t("Resolution"), r})
	}
	if f.Orientation > 1 {
		facts = append(facts, Fact{w.t("Orientation"), w.t("rotated for display only")})
	}
	if f.Info.Pictures > 1 {
		facts = append(facts, Fact{w.t("Pages"),
			w.t("the first of %s; the others stay unchanged", w.texts.Int(f.Info.Pictures))})
	}
	for _, note := range f.Remarks(f.SaveFormat()) {
		facts = append(facts, Fact{w.t("Note"), w.texts.Sprint(note)})
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
		facts = append(facts, Fact{w.t("Metadata"), strings.Join(blocks, ", ")})
	}
	return facts
}

// channelKeys name the colour models of decoded pictures, by number of channels.
var channelKeys = map[int]message.Text{1: "grey, %d bit", 3: "RGB, %d bit", 4: "CMYK, %d bit"}

func (w *Words) formatText(f *imagefile.File) string {
	text := string(f.Format)
	if packed := f.Info.Compression; packed != "" && packed != text {
		if packed == "none" {
			packed = w.t("uncompressed")
		}
		text += ", " + packed
	}
	return text
}

// profileText returns the name of the profile, and whether the screen shows its colours approximately.
func (w *Words) profileText(f *imagefile.File) string {
	p := f.Profile
	text := w.t("none; treated as sRGB")
	switch {
	case p == nil:
		return text
	case p.Name != "":
		text = p.Name
	case len(f.Info.Meta.ICC) > 0:
		text = w.t("unnamed")
	case p.Channels == 4:
		text = w.t("none")
	}
	if !p.Exact {
		text += "\n" + w.Approximately(f)
	}
	return text
}

// Approximately returns why the colours of a file are approximate on the screen; it is empty if they are not.
func (w *Words) Approximately(f *imagefile.File) string {
	if f == nil || f.Profile == nil || f.Profile.Exact {
		return ""
	}
	return w.t("The colours are shown approximately: %s. Those of the file stay unchanged.",
		w.texts.Sprint(f.Profile.Reason))
}

func (w *Words) resolutionText(m container.Metadata) string {
	unit, ok := map[container.Unit]message.Text{
		container.UnitInch: "%s px/in", container.UnitCentimetre: "%s px/cm",
	}[m.Unit]
	if !ok || !(m.XResolution > 0) || !(m.YResolution > 0) {
		return ""
	}
	text := w.texts.Number(m.XResolution, 2)
	if m.YResolution != m.XResolution {
		text += " × " + w.texts.Number(m.YResolution, 2)
	}
	return w.t(unit, text)
}

// Length returns the length of a line: in pixels and, if a file with such metadata states a resolution, in millimetres.
func (w *Words) Length(m container.Metadata, from, to processing.Point) string {
	dx, dy := to.X-from.X, to.Y-from.Y
	text := w.t("%s px", w.texts.Number(math.Hypot(dx, dy), 1))
	if x, y, ok := millimetres(m.Unit, m.XResolution, m.YResolution); ok {
		text += ", " + w.t("%s mm", w.texts.Number(math.Hypot(dx*x, dy*y), 2))
	}
	return text + w.t(" (Δx %s, Δy %s)", w.texts.Number(math.Abs(dx), 1), w.texts.Number(math.Abs(dy), 1))
}

// millimetres returns the sides of a pixel; ok is false if the resolution is unknown.
func millimetres(unit container.Unit, x, y float64) (w, h float64, ok bool) {
	inUnit, ok := map[container.Unit]float64{container.UnitInch: 25.4, container.UnitCentimetre: 10}[unit]
	if !ok || !(x > 0) || !(y > 0) || math.IsInf(x, 1) || math.IsInf(y, 1) {
		return 0, 0, false
	}
	return inUnit / x, inUnit / y, true
}

// Saved describes what was saved and verified, in one line.
func (w *Words) Saved(s work.Written) string {
	n, name := int(s.Saved.PixelsChanged), filepath.Base(s.Saved.Path)
	changed := w.Changed(n)
	switch {
	case s.Saved.Lossy:
		return w.t("Saved %s as JPEG. %s corrected; the blocks around them were encoded again", name,
			w.texts.Plural(n, "%s pixel", "%s pixels", w.texts.Int(n)))
	case s.Saved.Proof != nil && s.Saved.Proof.Holds():
		return w.t("Saved %s. %s; everything else verified identical", name, changed)
	default:
		return w.t("Saved %s. %s", name, changed)
	}
}

// Changed counts changed pixels.
func (w *Words) Changed(n int) string {
	return w.texts.Plural(n, "%s pixel changed", "%s pixels changed", w.texts.Int(n))
}

// Extent is a clause that says what the pixels are that were free to change.
func (w *Words) Extent(e report.Extent) string {
	if e.Free() == 0 {
		return ""
	}
	number := func(n int64) string { return w.texts.Int(int(n)) }
	return "; " + w.t("marked %s + halo %s + veil %s = %s free to change", number(e.Marked), number(e.Halo),
		number(e.Veil), number(e.Free()))
}
