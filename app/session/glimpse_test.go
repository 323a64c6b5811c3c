package session

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/app/view"
	"blik/internal/testpic"
)

// reading is a fake that shows some pixels of a picture and goes on reading until hold is closed.
func reading(t *testing.T) *fake {
	f := newFake(t)
	f.hold = make(chan struct{})
	f.glimpse = func(context.Context) (*imagefile.Preview, error) {
		return &imagefile.Preview{Width: 40, Height: 30, Picture: testpic.Flat(10, 8, 3, 90), Step: 4}, nil
	}
	return f
}

// pyramid shows a glimpse that no file holds.
func pyramid(t *testing.T) *view.Pyramid {
	p, err := view.NewPyramid(t.Context(), testpic.Flat(10, 8, 3, 90))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// until runs what is dispatched until a condition holds.
func (f *fake) until(holds func() bool) {
	for !holds() {
		(<-f.queue)()
	}
}

// Some pixels are shown while the picture is read. They are no document, and give way to it.
func TestGlimpse(t *testing.T) {
	f := reading(t)
	ended := false
	f.Open("/art/a.png", func(err error) {
		if ended = true; err != nil || f.Glimpse() != nil {
			t.Errorf("%v, glimpse %v", err, f.Glimpse())
		}
	})
	f.until(func() bool { return f.Glimpse() != nil })
	if p := f.Glimpse().Picture(); p.Width != 10 || p.Height != 8 {
		t.Errorf("%d × %d pixels", p.Width, p.Height)
	}
	if f.Document() != nil || f.Original() != nil || !f.Busy() {
		t.Error("some pixels are taken for the picture")
	}
	close(f.hold)
	f.until(func() bool { return ended })
	if f.Document() == nil || f.Document().Size().X != 40 {
		t.Error("the picture is not open")
	}
}

// A cancel and an error end it, and leave what was open.
func TestGlimpseEnds(t *testing.T) {
	for _, c := range []struct {
		path string
		end  func(*fake)
		want error
	}{
		{"/art/a.png", func(f *fake) { f.Cancel() }, context.Canceled},
		{"/art/gone", func(f *fake) { close(f.hold) }, nil},
	} {
		f := reading(t)
		var err error
		ended := false
		f.Open(c.path, func(e error) { err, ended = e, true })
		f.until(func() bool { return f.Glimpse() != nil })
		c.end(f)
		f.until(func() bool { return ended })
		if err == nil || c.want != nil && !errors.Is(err, c.want) || f.Glimpse() != nil || f.Document() != nil {
			t.Errorf("%s: %v, glimpse %v, document %v", c.path, err, f.Glimpse(), f.Document())
		}
	}
}

// Some pixels that come after the picture, or after a cancel, are not shown, and an error of theirs is not told.
func TestGlimpseTooLate(t *testing.T) {
	f := newFake(t)
	f.glimpseWait = 0
	stopped := make(chan struct{})
	f.glimpse = func(ctx context.Context) (*imagefile.Preview, error) {
		<-ctx.Done()
		close(stopped)
		return &imagefile.Preview{Width: 40, Height: 30, Picture: testpic.Flat(10, 8, 3, 90), Step: 4}, nil
	}
	ended := false
	f.Open("/art/a.png", func(err error) {
		if ended = true; err != nil {
			t.Error(err)
		}
	})
	f.until(func() bool { return ended })
	<-stopped
	late := newGlimpsing(f.Session)
	late.end()
	late.take(pyramid(t))
	f.glimpse = func(context.Context) (*imagefile.Preview, error) { return nil, errors.New("damaged") }
	ended = false
	f.Open("/art/b.png", func(err error) {
		if ended = true; err != nil {
			t.Error(err)
		}
	})
	f.until(func() bool { return ended })
	if f.Glimpse() != nil {
		t.Error("some pixels are shown of a picture that is open")
	}
	for _, c := range f.changes {
		if c.Glimpse {
			t.Error("something was shown")
		}
	}
}

// A picture is read when its glimpse is on the screen; where that takes too long it is read meanwhile.
func TestGlimpseFirst(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		seen bool
	}{{time.Hour, true}, {0, false}} {
		f := reading(t)
		f.blind, f.glimpseWait = true, c.wait
		var seen atomic.Bool
		began := make(chan bool, 1)
		f.reads = func() { began <- seen.Load() }
		close(f.hold)
		if !c.seen {
			read := f.glimpse
			f.glimpse = func(ctx context.Context) (*imagefile.Preview, error) {
				<-ctx.Done()
				return read(ctx)
			}
		}
		ended := false
		f.Open("/art/a.png", func(error) { ended = true })
		if c.seen {
			f.until(func() bool { return f.Glimpse() != nil })
			seen.Store(true)
			f.GlimpseSeen()
		}
		f.until(func() bool { return ended })
		if got := <-began; got != c.seen || f.Document() == nil {
			t.Errorf("%v: read after its glimpse: %v, document %v", c.wait, got, f.Document())
		}
	}
}

// What was read before the session was there is shown at once; that of another picture is not.
func TestAhead(t *testing.T) {
	f := reading(t)
	close(f.hold)
	open := func(path string) (shown bool) {
		ended := false
		f.Open(path, func(err error) {
			if ended = true; err != nil {
				t.Error(err)
			}
		})
		shown = f.Glimpse() != nil
		f.until(func() bool { return ended })
		if f.Document() == nil || f.Document().Path() != path || f.Glimpse() != nil {
			t.Errorf("%s is not open", path)
		}
		return shown
	}
	f.ahead = ReadAhead(t.Context(), f.files, "/art/a.png")
	<-f.ahead.done
	if !open("/art/a.png") || f.ahead != nil {
		t.Error("what was read ahead is not shown at once")
	}
	f.ahead = ReadAhead(t.Context(), f.files, "/art/a.png")
	<-f.ahead.done
	if open("/art/b.png") || f.ahead != nil {
		t.Error("pixels of another picture are shown")
	}
	// The reading ahead has nothing to show, and is still going on.
	f.ahead = &Ahead{path: "/art/a.png", done: make(chan struct{})}
	close(f.ahead.done)
	open("/art/a.png")
	late := &Ahead{path: "/art/b.png", done: make(chan struct{})}
	f.ahead, f.changes = late, nil
	time.AfterFunc(0, func() {
		late.p = pyramid(t)
		close(late.done)
	})
	if open("/art/b.png"); !slices.ContainsFunc(f.changes, func(c Change) bool { return c.Glimpse }) {
		t.Error("what came late is not shown")
	}
}
