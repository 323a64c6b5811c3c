package ui

import (
	"strings"

	"blik/app/imagefile/container"
	"blik/internal/message"
)

// fact is a line of the information on a picture.
type fact struct{ name, value string }

// facts lists the information on the file and its picture.
func (c *common) facts() []fact {
	f, size := c.session.Shown().Original, c.session.Document().Size()
	facts := []fact{
		{c.t("File"), c.session.Document().Path()},
		{c.t("Format"), c.formatText()},
		{c.t("Size"), c.t("%s × %s px, %s MP", c.texts.Int(size.X), c.texts.Int(size.Y),
			c.texts.Megapixels(size.X, size.Y))},
		{c.t("Samples"), c.t(channelKeys[c.session.Document().Picture().Channels], f.Depth)},
		{c.t("Profile"), c.profileText()},
	}
	if r := c.resolutionText(); r != "" {
		facts = append(facts, fact{c.t("Resolution"), r})
	}
	if f.Orientation > 1 {
		facts = append(facts, fact{c.t("Orientation"), c.t("rotated for display only")})
	}
	if f.Info.Pictures > 1 {
		facts = append(facts, fact{c.t("Pages"),
			c.t("the first of %s; the others stay unchanged", c.texts.Int(f.Info.Pictures))})
	}
	for _, note := range f.Remarks(f.SaveFormat()) {
		facts = append(facts, fact{c.t("Note"), c.texts.Sprint(note)})
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
		facts = append(facts, fact{c.t("Metadata"), strings.Join(blocks, ", ")})
	}
	return facts
}

// channelKeys name the colour models of decoded pictures, by number of channels.
var channelKeys = map[int]message.Text{1: "grey, %d bit", 3: "RGB, %d bit", 4: "CMYK, %d bit"}

func (c *common) formatText() string {
	text := string(c.session.Shown().Original.Format)
	if packed := c.session.Shown().Original.Info.Compression; packed != "" && packed != text {
		if packed == "none" {
			packed = c.t("uncompressed")
		}
		text += ", " + packed
	}
	return text
}

// profileText returns the name of the profile, and whether the screen shows its colours approximately.
func (c *common) profileText() string {
	p := c.session.Shown().Original.Profile
	text := c.t("none; treated as sRGB")
	switch {
	case p == nil:
		return text
	case p.Name != "":
		text = p.Name
	case len(c.session.Shown().Original.Info.Meta.ICC) > 0:
		text = c.t("unnamed")
	case p.Channels == 4:
		text = c.t("none")
	}
	if !p.Exact {
		text += "\n" + c.approximately()
	}
	return text
}

// approximately returns why the colours on the screen are approximate; it is empty if they are not.
func (c *common) approximately() string {
	file := c.session.Shown().Original
	if file == nil || file.Profile == nil || file.Profile.Exact {
		return ""
	}
	return c.t("The colours are shown approximately: %s. Those of the file stay unchanged.",
		c.texts.Sprint(c.session.Shown().Original.Profile.Reason))
}

func (c *common) resolutionText() string {
	m := c.session.Shown().Original.Info.Meta
	unit, ok := map[container.Unit]message.Text{
		container.UnitInch: "%s px/in", container.UnitCentimetre: "%s px/cm",
	}[m.Unit]
	if !ok || !(m.XResolution > 0) || !(m.YResolution > 0) {
		return ""
	}
	text := c.texts.Number(m.XResolution, 2)
	if m.YResolution != m.XResolution {
		text += " × " + c.texts.Number(m.YResolution, 2)
	}
	return c.t(unit, text)
}
