package xwidget

import (
	"time"

	"fyne.io/fyne/v2"
)

// Frames divides work over frames, one piece before each, so that no frame takes long.
type Frames struct {
	animation *fyne.Animation
	do        func(i int)
	next, all int
}

// InFrames calls do with 0 … n−1, one number a frame. Without frames, as in tests without a window, it calls all at
// once.
func InFrames(n int, do func(i int)) *Frames {
	f := &Frames{do: do, all: n}
	// The animation is stopped long before this time.
	f.animation = fyne.NewAnimation(time.Hour, f.tick)
	f.animation.Start()
	return f
}

// Stop cancels the remaining work. The receiver may be nil.
func (f *Frames) Stop() {
	if f != nil {
		f.next = f.all
		f.animation.Stop()
	}
}

// tick does the next piece, or all remaining ones at the end of the animation.
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
