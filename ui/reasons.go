package ui

import (
	"image"

	"blik/app/session"
)

// reasons is the tooltip with what the finding under the pointer was judged by.
type reasons struct {
	k       *kit
	session *session.Session
	// at is the first pixel of the finding whose tooltip was shown last; on is false for none.
	at image.Point
	on bool
}

func (r *reasons) update(c change) {
	if r.on && (c.Mask || c.Document || c.Zoom || !c.Pixels.Empty()) {
		r.leave()
	}
}

func (r *reasons) leave() {
	if r.on {
		r.on = false
		r.k.tips.Hide()
	}
}

// hovered shows the tooltip of the finding at a pixel after the pointer has rested there.
func (r *reasons) hovered(at image.Point, inside bool) {
	port := r.k.display.under()
	if r.session.Settings().HideReasons || !inside || !port.Idle() {
		r.leave()
		return
	}
	f, ok := r.session.Document().SpotAt(at.X, at.Y)
	if !ok {
		r.leave()
		return
	}
	if first := r.session.Document().FirstPixel(f); !r.on || first != r.at {
		r.leave()
		r.at, r.on = first, true
		b := f.Bounds()
		place, size := port.Place(b)
		r.k.tips.ShowBeside(port, place, size, r.k.words.Finding(f))
	}
}
