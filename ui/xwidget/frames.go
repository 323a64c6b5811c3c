package xwidget

import (
	"time"

	"fyne.io/fyne/v2"
)

// Frames does a piece of work before each of the next frames, so that none of them takes long.
type Frames struct {
	animation *fyne.Animation
	do        func(i int)
	next, all int
}

// InFrames calls do with 0 … n−1, one number a frame. Where there are no frames, as in tests without a window, it calls
// all at once.
func InFrames(n int, do func(i int)) *Frames {
	f := &Frames{do: do, all: n}
	// It is stopped long before it ends.
	f.animation = fyne.NewAnimation(time.Hour, f.tick)
	f.animation.Start()
	return f
}

// Stop leaves out what is not done yet. It may be called on nil.
func (f *Frames) Stop() {
	if f != nil {
		f.next = f.all
		f.animation.Stop()
	}
}

// tick does one piece, or at the end of the animation all that are left.
func (f *Frames) tick(done float32) {
	for f.next < f.all {
		f.next++
		f.do(f.next - 1)
		if done < 1 {
			break
		}
	}
	if f.next >= f.all {
		f.animation.Stop()
	}
}
