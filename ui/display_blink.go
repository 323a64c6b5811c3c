package ui

import (
	"time"

	"blik/ui/post"
)

// blinkTime is how long each picture is shown while they blink: long enough to look at it, and far below the three
// flashes a second that may harm people.
const blinkTime = 600 * time.Millisecond

// toggleBlink begins or ends showing the original and the result in turn.
func (d *display) toggleBlink() {
	on := d.endBlink == nil
	d.stopComparing()
	if on {
		d.swapped = true
		d.endBlink = post.Every(blinkTime, d.s.Dispatch, func() {
			d.swapped = !d.swapped
			d.viewChanged()
		})
	}
	d.viewChanged()
}

// blinking reports whether original and result are shown in turn.
func (d *display) blinking() bool { return d.endBlink != nil }

// stopBlinking shows the result; its callers announce the change.
func (d *display) stopBlinking() {
	if d.endBlink != nil {
		d.endBlink()
	}
	d.endBlink, d.swapped = nil, false
}
