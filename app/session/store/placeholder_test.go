package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/settings"
	"blik/app/view"
	"blik/internal/test/testpic"
)

// fake is a session with a store, whose callbacks run on the test's goroutine. It is the files of the store.
type fake struct {
	*session.Session
	*Store
	Files
	queue chan func()
	// changes are the changes so far.
	changes     []session.Change
	placeholder func(context.Context) (*imagefile.Preview, error)
	hold        chan struct{}
	// blind keeps placeholders from being shown; reads is called before a picture is read.
	blind bool
	reads func()
}

func newFake(t *testing.T) *fake {
	t.Helper()
	chosen := settings.Default()
	f := &fake{queue: make(chan func(), 1000)}
	f.Session = session.New(session.Options{Settings: &chosen, Dispatch: func(do func()) { f.queue <- do }})
	f.Store = New(f.Session, Options{Files: f})
	f.Subscribe(func(c session.Change) {
		f.changes = append(f.changes, c)
		if !f.blind {
			f.PlaceholderShown()
		}
	})
	t.Cleanup(func() {
		if err := f.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fake) ReadPreview(ctx context.Context, _ string, _ int) (*imagefile.Preview, error) {
	if f.placeholder == nil {
		return nil, nil
	}
	return f.placeholder(ctx)
}

func (f *fake) Read(ctx context.Context, path string) (*imagefile.File, error) {
	if f.reads != nil {
		f.reads()
	}
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if filepath.Ext(path) != ".png" {
		return nil, fs.ErrNotExist
	}
	pic := testpic.Flat(40, 30, 3, 100)
	return &imagefile.File{Path: path, Format: imagefile.PNG, Depth: 8, Orientation: 1, Picture: pic}, nil
}

// reading is a fake that shows a placeholder and does not finish reading until hold is closed.
func reading(t *testing.T) *fake {
	f := newFake(t)
	f.hold = make(chan struct{})
	f.placeholder = func(context.Context) (*imagefile.Preview, error) {
		return &imagefile.Preview{Picture: testpic.Flat(10, 8, 3, 90)}, nil
	}
	return f
}

// pyramid returns a placeholder.
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

// While a picture is read, its placeholder is shown. It is not a document, and disappears when the picture is open.
func TestPlaceholder(t *testing.T) {
	f := reading(t)
	ended := false
	f.Open("/art/a.png", func(err error) {
		if ended = true; err != nil || f.Placeholder() != nil {
			t.Errorf("%v, placeholder %v", err, f.Placeholder())
		}
	})
	f.until(func() bool { return f.Placeholder() != nil })
	if p := f.Placeholder().Picture(); p.Width != 10 || p.Height != 8 {
		t.Errorf("%d × %d pixels", p.Width, p.Height)
	}
	if f.Document() != nil || f.Shown().Original != nil || !f.Busy() {
		t.Error("the placeholder counts as the document")
	}
	close(f.hold)
	f.until(func() bool { return ended })
	if f.Document() == nil || f.Document().Size().X != 40 {
		t.Error("the picture is not open")
	}
}

// A cancel and an error remove the placeholder; what was open stays.
func TestPlaceholderEnds(t *testing.T) {
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
		f.until(func() bool { return f.Placeholder() != nil })
		c.end(f)
		f.until(func() bool { return ended })
		if err == nil || c.want != nil && !errors.Is(err, c.want) || f.Placeholder() != nil || f.Document() != nil {
			t.Errorf("%s: %v, placeholder %v, document %v", c.path, err, f.Placeholder(), f.Document())
		}
	}
}

// A placeholder that is ready only after the picture, or after a cancel, is not shown, and its errors are not reported.
func TestPlaceholderTooLate(t *testing.T) {
	f := newFake(t)
	f.o.PlaceholderWait = 0
	stopped := make(chan struct{})
	f.placeholder = func(ctx context.Context) (*imagefile.Preview, error) {
		<-ctx.Done()
		close(stopped)
		return &imagefile.Preview{Picture: testpic.Flat(10, 8, 3, 90)}, nil
	}
	ended := false
	f.Open("/art/a.png", func(err error) {
		if ended = true; err != nil {
			t.Error(err)
		}
	})
	f.until(func() bool { return ended })
	<-stopped
	late := newPlaceholderLoad(f.Store)
	late.end()
	late.show(pyramid(t))
	f.placeholder = func(context.Context) (*imagefile.Preview, error) { return nil, errors.New("damaged") }
	ended = false
	f.Open("/art/b.png", func(err error) {
		if ended = true; err != nil {
			t.Error(err)
		}
	})
	f.until(func() bool { return ended })
	if f.Placeholder() != nil {
		t.Error("a placeholder is shown of a picture that is open")
	}
	for _, c := range f.changes {
		if c.Placeholder {
			t.Error("something was shown")
		}
	}
}

// A picture is not read until its placeholder is on the screen, unless that takes too long.
func TestPlaceholderFirst(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		seen bool
	}{{time.Hour, true}, {0, false}} {
		f := reading(t)
		f.blind, f.o.PlaceholderWait = true, c.wait
		var seen atomic.Bool
		began := make(chan bool, 1)
		f.reads = func() { began <- seen.Load() }
		close(f.hold)
		if !c.seen {
			read := f.placeholder
			f.placeholder = func(ctx context.Context) (*imagefile.Preview, error) {
				<-ctx.Done()
				return read(ctx)
			}
		}
		ended := false
		f.Open("/art/a.png", func(error) { ended = true })
		if c.seen {
			f.until(func() bool { return f.Placeholder() != nil })
			seen.Store(true)
			f.PlaceholderShown()
		}
		f.until(func() bool { return ended })
		if got := <-began; got != c.seen || f.Document() == nil {
			t.Errorf("%v: read after its placeholder: %v, document %v", c.wait, got, f.Document())
		}
	}
}

// A placeholder that was read before the session existed is shown at once, but not that of another picture.
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
		shown = f.Placeholder() != nil
		f.until(func() bool { return ended })
		if f.Document() == nil || f.Document().Path() != path || f.Placeholder() != nil {
			t.Errorf("%s is not open", path)
		}
		return shown
	}
	f.loading.ahead = ReadAhead(t.Context(), f, "/art/a.png")
	<-f.loading.ahead.done
	if !open("/art/a.png") || f.loading.ahead != nil {
		t.Error("what was read ahead is not shown at once")
	}
	f.loading.ahead = ReadAhead(t.Context(), f, "/art/a.png")
	<-f.loading.ahead.done
	if open("/art/b.png") || f.loading.ahead != nil {
		t.Error("the placeholder of another picture is shown")
	}
	// One that was read in advance may not exist, or may not be ready yet.
	f.loading.ahead = &Ahead{path: "/art/a.png", done: make(chan struct{})}
	close(f.loading.ahead.done)
	open("/art/a.png")
	late := &Ahead{path: "/art/b.png", done: make(chan struct{})}
	f.loading.ahead, f.changes = late, nil
	time.AfterFunc(0, func() {
		late.p = pyramid(t)
		close(late.done)
	})
	if open("/art/b.png"); !slices.ContainsFunc(f.changes, func(c session.Change) bool { return c.Placeholder }) {
		t.Error("what came late is not shown")
	}
}
