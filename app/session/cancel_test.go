package session_test

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"slices"
	"testing"
	"time"

	"blik/app/device"
	"blik/app/document"
	"blik/app/session"
	"blik/app/session/glare"
	"blik/app/settings"
	"blik/app/view"
	"blik/assets"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// watched records when work has ended.
type watched struct {
	session.Engine
	ended chan time.Time
}

func (w watched) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	defer func() { w.ended <- time.Now() }()
	return w.Engine.Detect(ctx, pic, p, o)
}

func (w watched) Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
	o correct.Options,
) (*correct.Correction, *message.Message, error) {
	defer func() { w.ended <- time.Now() }()
	return w.Engine.Correct(ctx, pic, m, p, o)
}

// BenchmarkCancel cancels detection and correction of 18.7 megapixels at ten times during the work. It prints how long
// it takes until the session is free again, and until the work has ended.
//
//	go test -run '^$' -bench Cancel -benchtime 1x ./app/session
func BenchmarkCancel(b *testing.B) {
	tile, err := jpeg.Decode(bytes.NewReader(assets.Sample()))
	if err != nil {
		b.Fatal(err)
	}
	pic := tiledPicture(b, tile, 4994, 3745)
	queue, chosen := make(chan func(), 1000), settings.Default()
	w := watched{session.On(device.NewSwitch()), make(chan time.Time, 100)}
	s := session.New(session.Options{Settings: &chosen, Dispatch: func(f func()) { queue <- f }})
	work := glare.New(s, w)
	doc, err := document.New("large.png", pic)
	if err != nil {
		b.Fatal(err)
	}
	pyramid, err := view.NewPyramid(b.Context(), pic)
	if err != nil {
		b.Fatal(err)
	}
	s.Show(session.Open{Doc: doc, Before: pyramid, Mask: view.NewMaskPyramid(doc.Mask())})
	s.Publish(session.Opened, image.Rectangle{})
	// run starts a job and cancels it after a time, unless that is 0. It returns how long the job ran and how long
	// after the cancel the session was free and the work ended.
	run := func(start func(func(glare.Outcome, error)), after time.Duration) (ran, free, ended time.Duration) {
		begun := time.Now()
		var cancelled time.Time
		done := false
		start(func(o glare.Outcome, err error) {
			if done = true; cancelled.IsZero() && (err != nil || o.Count == 0) {
				b.Errorf("%+v, %v", o, err)
			}
		})
		var timer <-chan time.Time
		if after > 0 {
			timer = time.After(after)
		}
		for !done {
			select {
			case f := <-queue:
				f()
			case <-timer:
				cancelled = time.Now()
				s.Cancel()
			}
		}
		now, end := time.Now(), <-w.ended
		if !cancelled.IsZero() {
			free, ended = now.Sub(cancelled), end.Sub(cancelled)
		}
		return end.Sub(begun), free, ended
	}
	for range b.N {
		for _, job := range []struct {
			name  string
			start func(func(glare.Outcome, error))
		}{{"detection", work.Detect}, {"correction", work.CorrectAll}} {
			const moments = 10
			run(job.start, 0)
			s.KeepTable(nil)
			whole, _, _ := run(job.start, 0)
			var free, ended []time.Duration
			for i := range moments {
				s.KeepTable(nil)
				_, f, e := run(job.start, whole*time.Duration(2*i+1)/(2*moments))
				if f > 0 {
					free, ended = append(free, f), append(ended, e)
				}
				for doc.Corrections() != nil {
					doc.Undo()
				}
			}
			slices.Sort(free)
			slices.Sort(ended)
			n := len(free)
			if n == 0 {
				b.Fatal("nothing was cancelled in time")
			}
			b.Logf("%s of %v cancelled %d times: free after %v at most, median %v; work ended after %v at most, median %v",
				job.name, whole.Round(time.Millisecond), n, free[n-1].Round(time.Millisecond/10),
				free[n/2].Round(time.Millisecond/10), ended[n-1].Round(time.Millisecond/10),
				ended[n/2].Round(time.Millisecond/10))
		}
	}
}

// tiledPicture returns a picture of repeated copies of another one.
func tiledPicture(b *testing.B, tile image.Image, w, h int) *processing.Picture {
	b.Helper()
	pic := &processing.Picture{Width: w, Height: h, Channels: 3, U8: make([]uint8, 3*w*h)}
	size := tile.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			r, g, bl, _ := tile.At(x, y).RGBA()
			for ty := y; ty < h; ty += size.Y {
				for tx := x; tx < w; tx += size.X {
					copy(pic.U8[3*(ty*w+tx):], []uint8{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8)})
				}
			}
		}
	}
	return pic
}
