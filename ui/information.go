package ui

import (
	"strings"

	"blik/app/imagefile/container"
)

// fact is a line of the information on a picture.
type fact struct{ name, value string }

// facts tell what is known of the file and the picture in it.
func (c *common) facts() []fact {
	f, size := c.Original(), c.Document().Size()
	facts := []fact{
		{c.t("info.file"), c.Document().Path()},
		{c.t("info.format"), c.formatText()},
		{c.t("info.size"), c.t("info.pixels", "W", c.texts.Int(size.X), "H", c.texts.Int(size.Y),
			"MP", c.texts.Megapixels(size.X, size.Y))},
		{c.t("info.samples"), c.t(channelKeys[c.Document().Picture().Channels], "Depth", f.Depth)},
		{c.t("info.profile"), c.profileText()},
	}
	if r := c.resolutionText(); r != "" {
		facts = append(facts, fact{c.t("info.resolution"), r})
	}
	if f.Orientation > 1 {
		facts = append(facts, fact{c.t("info.orientation"), c.t("info.turned")})
	}
	if f.Info.Pictures > 1 {
		facts = append(facts, fact{c.t("info.pages"), c.t("info.firstOf", "N", c.texts.Int(f.Info.Pictures))})
	}
	for _, note := range f.Info.Warnings {
		facts = append(facts, fact{c.t("info.note"), c.texts.Sprint(note)})
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
		facts = append(facts, fact{c.t("info.metadata"), strings.Join(blocks, ", ")})
	}
	return facts
}

// channelKeys are the keys for the colour models of decoded pictures.
var channelKeys = map[int]string{1: "info.grey", 3: "info.rgb", 4: "info.cmyk"}

func (c *common) formatText() string {
	text := string(c.Original().Format)
	if packed := c.Original().Info.Compression; packed != "" && packed != text {
		if packed == "none" {
			packed = c.t("info.uncompressed")
		}
		text += ", " + packed
	}
	return text
}

// profileText names the profile, and says where the screen shows its colours approximately.
func (c *common) profileText() string {
	p := c.Original().Profile
	text := c.t("info.noProfile")
	switch {
	case p == nil:
		return text
	case p.Name != "":
		text = p.Name
	case len(c.Original().Info.Meta.ICC) > 0:
		text = c.t("info.unnamedProfile")
	case p.Channels == 4:
		text = c.t("info.noInkProfile")
	}
	if !p.Exact {
		text += "\n" + c.approximately()
	}
	return text
}

// approximately says why the colours on the screen are approximate; it is empty where they are not.
func (c *common) approximately() string {
	if c.Original() == nil || c.Original().Profile == nil || c.Original().Profile.Exact {
		return ""
	}
	return c.t("colours.why", "Reason", c.texts.Sprint(c.Original().Profile.Reason))
}

func (c *common) resolutionText() string {
	m := c.Original().Info.Meta
	unit, ok := map[container.Unit]string{container.UnitInch: "info.perInch", container.UnitCentimetre: "info.perCentimetre"}[m.Unit]
	if !ok || !(m.XResolution > 0) || !(m.YResolution > 0) {
		return ""
	}
	text := c.texts.Number(m.XResolution, 2)
	if m.YResolution != m.XResolution {
		text += " × " + c.texts.Number(m.YResolution, 2)
	}
	return c.t(unit, "Value", text)
}
