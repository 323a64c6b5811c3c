//go:build !nogtk

package filedialog

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2/test"
)

// fake replaces the toolkit's dialogs.
type fake struct{ opened int }

func (f *fake) Open(_ Request, done Done) {
	f.opened++
	done("/fallback", nil)
}

func (f *fake) Save(r Request, done Done)   { f.Open(r, done) }
func (f *fake) Choose(r Request, done Done) { f.Open(r, done) }

// ask shows one of the system's dialogs and waits for its answer.
func ask(n *native, show func() (string, error)) (path string, err error) {
	answered := make(chan struct{})
	done := func(p string, e error) {
		path, err = p, e
		close(answered)
	}
	n.ask(show, func() { n.fallback.Open(Request{}, done) }, done)
	<-answered
	return path, err
}

func newNative(fallback Dialogs) (*native, *int) {
	covered := 0
	n := NewSystem().Dialogs(fallback, nil, func() func() {
		covered++
		return func() { covered-- }
	}).(*native)
	return n, &covered
}

// If the system's dialogs cannot be shown, they panic. The toolkit's dialogs replace them, the next time at once.
func TestPanicFallsBack(t *testing.T) {
	test.NewTempApp(t)
	f := &fake{}
	n, covered := newNative(f)
	if path, err := ask(n, func() (string, error) { panic("gtk initialisation failed") }); path != "/fallback" ||
		err != nil {
		t.Errorf("%q, %v", path, err)
	}
	n.Open(Request{}, func(path string, _ error) {
		if path != "/fallback" {
			t.Errorf("the second dialog gave %q", path)
		}
	})
	if f.opened != 2 || *covered != 0 {
		t.Errorf("%d fallbacks, cover %d", f.opened, *covered)
	}
}

func TestErrorsPass(t *testing.T) {
	test.NewTempApp(t)
	n, _ := newNative(&fake{})
	want := errors.New("no")
	if _, err := ask(n, func() (string, error) { return "", want }); err != want {
		t.Errorf("%v", err)
	}
	if path, err := ask(n, func() (string, error) { return "/a", nil }); path != "/a" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
}

// Two simultaneous GTK dialogs would abort the process.
func TestOneAtATime(t *testing.T) {
	test.NewTempApp(t)
	n, _ := newNative(&fake{})
	release, answered := make(chan struct{}), make(chan struct{})
	n.ask(func() (string, error) { <-release; return "/first", nil }, nil, func(string, error) { close(answered) })
	n.Open(Request{}, func(path string, err error) {
		if !errors.Is(err, ErrBusy) {
			t.Errorf("a second dialog gave %q, %v", path, err)
		}
	})
	close(release)
	<-answered
}
