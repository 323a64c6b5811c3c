package arrange

import "fyne.io/fyne/v2"

// Status puts the number of findings on the right, then from the left the position and the values of the pointer,
// and messages in the remaining space. If there is too little room for them or for the message, position or values are
// left out.
type Status struct {
	// Message returns the width that the message needs, 0 if it may be cut off.
	Message func() float32
}

// statusGap is the space between the parts of the status bar, messageRoom the least width of messages, in Fyne units.
const statusGap, messageRoom = 12, 60

func (s Status) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	right, message := objects[0], objects[3]
	width := right.MinSize().Width
	room := size.Width - width
	right.Move(fyne.NewPos(room, 0))
	right.Resize(fyne.NewSize(width, size.Height))
	needed := max(s.Message(), messageRoom)
	x := float32(0)
	for _, o := range objects[1:3] {
		w := o.MinSize().Width
		if x+w+2*statusGap+needed > room {
			w = 0
		}
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(w, size.Height))
		if w > 0 {
			x += w + statusGap
		}
	}
	message.Move(fyne.NewPos(x, 0))
	message.Resize(fyne.NewSize(max(0, room-x-statusGap), size.Height))
}

func (Status) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[0].MinSize().AddWidthHeight(statusGap+messageRoom, 0)
	for _, o := range objects[1:] {
		size.Height = max(size.Height, o.MinSize().Height)
	}
	return size
}
