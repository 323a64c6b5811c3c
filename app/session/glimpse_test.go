package session

import (
	"context"
	"errors"
	"testing"

	"blik/app/imagefile"
	"blik/internal/testpic"
)

// reading is a fake that shows some pixels of a picture and goes on reading until hold is closed.
func reading(t *testing.T) *fake {
	f := newFake(t)
	f.hold = make(chan struct{})
	f.glimpse = func(context.Context) (*imagefile.Glimpse, error) {
		return &imagefile.Glimpse{Width: 40, Height: 30, Picture: testpic.Flat(10, 8, 3, 90), Step: 4}, nil
	}
	return f
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
	stopped := make(chan struct{})
	f.glimpse = func(ctx context.Context) (*imagefile.Glimpse, error) {
		<-ctx.Done()
		close(stopped)
		return &imagefile.Glimpse{Width: 40, Height: 30, Picture: testpic.Flat(10, 8, 3, 90), Step: 4}, nil
	}
	ended := false
	f.Open("/art/a.png", func(err error) {
		if ended = true; err != nil {
			t.Error(err)
		}
	})
	f.until(func() bool { return ended })
	<-stopped
	late := glimpsing{s: f.Session, ended: true}
	late.show(nil)
	f.glimpse = func(context.Context) (*imagefile.Glimpse, error) { return nil, errors.New("damaged") }
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
