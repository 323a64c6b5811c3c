package ui

import (
	"strings"

	"blik/app/imagefile/container"
	"blik/app/session"
	"blik/app/session/editor"
	"blik/internal/message"
)

// about describes the open picture and its mask.
type about struct {
	k       *kit
	session *session.Session
	editor  *editor.Editor
}

// fact is a line of the information on a picture.
type fact struct{ name, value string }

// facts lists the information on the file and its picture.
func (a *about) facts() []fact {
	f, size := a.session.Shown().Original, a.session.Document().Size()
	facts := []fact{
		{a.k.t("File"), a.session.Document().Path()},
		{a.k.t("Format"), a.formatText()},
		{a.k.t("Size"), a.k.t("%s × %s px, %s MP", a.k.texts.Int(size.X), a.k.texts.Int(size.Y),
			a.k.texts.Megapixels(size.X, size.Y))},
		{a.k.t("Samples"), a.k.t(channelKeys[a.session.Document().Picture().Channels], f.Depth)},
		{a.k.t("Profile"), a.profileText()},
	}
	if r := a.resolutionText(); r != "" {
		facts = append(facts, fact{a.k.t("Resolution"), r})
	}
	if f.Orientation > 1 {
		facts = append(facts, fact{a.k.t("Orientation"), a.k.t("rotated for display only")})
	}
	if f.Info.Pictures > 1 {
		facts = append(facts, fact{a.k.t("Pages"),
			a.k.t("the first of %s; the others stay unchanged", a.k.texts.Int(f.Info.Pictures))})
	}
	for _, note := range f.Remarks(f.SaveFormat()) {
		facts = append(facts, fact{a.k.t("Note"), a.k.texts.Sprint(note)})
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
		facts = append(facts, fact{a.k.t("Metadata"), strings.Join(blocks, ", ")})
	}
	return facts
}

// channelKeys name the colour models of decoded pictures, by number of channels.
var channelKeys = map[int]message.Text{1: "grey, %d bit", 3: "RGB, %d bit", 4: "CMYK, %d bit"}

func (a *about) formatText() string {
	text := string(a.session.Shown().Original.Format)
	if packed := a.session.Shown().Original.Info.Compression; packed != "" && packed != text {
		if packed == "none" {
			packed = a.k.t("uncompressed")
		}
		text += ", " + packed
	}
	return text
}

// profileText returns the name of the profile, and whether the screen shows its colours approximately.
func (a *about) profileText() string {
	p := a.session.Shown().Original.Profile
	text := a.k.t("none; treated as sRGB")
	switch {
	case p == nil:
		return text
	case p.Name != "":
		text = p.Name
	case len(a.session.Shown().Original.Info.Meta.ICC) > 0:
		text = a.k.t("unnamed")
	case p.Channels == 4:
		text = a.k.t("none")
	}
	if !p.Exact {
		text += "\n" + a.approximately()
	}
	return text
}

// approximately returns why the colours on the screen are approximate; it is empty if they are not.
func (a *about) approximately() string {
	file := a.session.Shown().Original
	if file == nil || file.Profile == nil || file.Profile.Exact {
		return ""
	}
	return a.k.t("The colours are shown approximately: %s. Those of the file stay unchanged.",
		a.k.texts.Sprint(a.session.Shown().Original.Profile.Reason))
}

func (a *about) resolutionText() string {
	m := a.session.Shown().Original.Info.Meta
	unit, ok := map[container.Unit]message.Text{
		container.UnitInch: "%s px/in", container.UnitCentimetre: "%s px/cm",
	}[m.Unit]
	if !ok || !(m.XResolution > 0) || !(m.YResolution > 0) {
		return ""
	}
	text := a.k.texts.Number(m.XResolution, 2)
	if m.YResolution != m.XResolution {
		text += " × " + a.k.texts.Number(m.YResolution, 2)
	}
	return a.k.t(unit, text)
}
