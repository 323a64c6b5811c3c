package container

import "blik/internal/message"

// Others counts what else in a file shows the picture or a part of it. A corrected copy keeps all of it as it is, so
// the glare stays there.
type Others struct {
	// Pages are further pages of a TIFF, Frames those of an animation, Further the pictures after a JPEG that its index
	// lists, and Copies the smaller copies of the picture: sub-pictures, and pages marked as reduced.
	Pages, Frames, Further, Copies int
	// Layers: Photoshop's layers.
	Layers bool
	// Previews are kept in metadata.
	Previews []Preview
}

// Preview is the place of a small copy of the picture in metadata.
type Preview uint8

// The places of previews.
const (
	PreviewEXIF Preview = iota
	PreviewPhotoshop
	PreviewXMP
	PreviewJFIF
)

// Name returns the preview as a part of a list.
func (p Preview) Name() message.Message {
	return message.Of([...]message.Text{
		"the preview in EXIF", "the preview in Photoshop's resources", "the preview in XMP", "the preview in JFIF",
	}[p])
}

// Names lists what shows the picture, without previews.
func (o Others) Names() []message.Message {
	var all []message.Message
	if n := o.Pages; n > 0 {
		all = append(all, message.Plural(n, "%d further page", "%d further pages", n))
	}
	if n := o.Frames; n > 0 {
		all = append(all, message.Plural(n, "%d further frame", "%d further frames", n))
	}
	if n := o.Further; n > 0 {
		all = append(all, message.Plural(n, "%d further picture", "%d further pictures", n))
	}
	if n := o.Copies; n > 0 {
		all = append(all, message.Plural(n, "%d smaller copy", "%d smaller copies", n))
	}
	if o.Layers {
		all = append(all, message.Of("Photoshop's layers, which Photoshop shows instead of the corrected picture"))
	}
	return all
}
