package xwidget

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2/test"
)

// Each frame does one piece, in order, until all are done or it is stopped.
func TestFrames(t *testing.T) {
	test.NewTempApp(t)
	var did []int
	do := func(i int) { did = append(did, i) }
	InFrames(3, do)
	if !slices.Equal(did, []int{0, 1, 2}) {
		t.Errorf("without frames: %v", did)
	}
	did = nil
	// The test driver ends an animation at once, so the frames of a window are called here.
	f := InFrames(0, do)
	f.all = 4
	for want := range 2 {
		f.tick(0)
		if len(did) != want+1 || did[want] != want {
			t.Fatalf("after %d frames: %v", want+1, did)
		}
	}
	f.Stop()
	f.tick(0)
	f.tick(1)
	if len(did) != 2 {
		t.Errorf("after a stop: %v", did)
	}
	var none *Frames
	none.Stop()
}
