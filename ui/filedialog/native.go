//go:build !nogtk

package filedialog

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"fyne.io/fyne/v2"
	"github.com/sqweek/dialog"
)

// System shows the system's dialogs for all windows of the program. All of them run on one goroutine that is locked to
// its thread, one at a time: GTK aborts the process when two threads use it.
type System struct {
	start    sync.Once
	requests chan func()
	busy     bool
	broken   bool
}

// NewSystem returns the system's dialogs; a program may have only one System.
func NewSystem() *System { return &System{requests: make(chan func(), 1)} }

// native shows the system's dialogs for one window.
type native struct {
	*System
	fallback Dialogs
	confirm  Confirm
	// shield covers the window while a dialog is open, because the dialog is not modal and may be hidden behind the
	// window.
	shield func() (remove func())
}

// Dialogs returns the dialogs of a window; they fall back to the given ones when the system's cannot be shown. shield
// covers the window while a dialog is open.
func (s *System) Dialogs(fallback Dialogs, confirm Confirm, shield func() (remove func())) Dialogs {
	return &native{System: s, fallback: fallback, confirm: confirm, shield: shield}
}

// Open asks for a file to read.
func (n *native) Open(r Request, done Done) {
	if n.broken {
		n.fallback.Open(r, done)
		return
	}
	n.ask(func() (string, error) { return build(r).Load() }, func() { n.fallback.Open(r, done) }, done)
}

// Save asks for a path to write to.
func (n *native) Save(r Request, done Done) {
	if n.broken {
		n.fallback.Save(r, done)
		return
	}
	ask := func() (string, error) { return build(r).SetStartFile(r.File).Save() }
	n.ask(ask, func() { n.fallback.Save(r, done) }, func(path string, err error) {
		full := path
		if path != "" {
			full = r.withExtension(path)
		}
		if full != path && exists(full) {
			// The dialog asked for confirmation only for the name without extension.
			n.confirm(full, func() { done(full, nil) })
			return
		}
		done(full, err)
	})
}

// Choose asks for a folder.
func (n *native) Choose(r Request, done Done) {
	if n.broken {
		n.fallback.Choose(r, done)
		return
	}
	b := dialog.Directory().Title(r.Title)
	if r.Folder != "" {
		b = b.SetStartDir(r.Folder)
	}
	n.ask(b.Browse, func() { n.fallback.Choose(r, done) }, done)
}

func build(r Request) *dialog.FileBuilder {
	b := dialog.File().Title(r.Title).Filter(r.Name, r.bothCases()...)
	if r.Folder != "" {
		b = b.SetStartDir(r.Folder)
	}
	return b
}

// errBroken is the error for a panic of the system's dialogs.
var errBroken = errors.New("the system's file dialog cannot be shown")

// ask shows a dialog on its goroutine and calls back on the toolkit's.
func (n *native) ask(show func() (string, error), instead func(), done Done) {
	if n.busy {
		done("", ErrBusy)
		return
	}
	n.busy = true
	n.start.Do(func() { go n.serve() })
	remove := n.shield()
	n.requests <- func() {
		path, err := guarded(show)
		fyne.Do(func() {
			n.busy = false
			remove()
			switch {
			case errors.Is(err, errBroken):
				n.broken = true
				instead()
			case errors.Is(err, dialog.ErrCancelled):
				done("", nil)
			default:
				done(path, err)
			}
		})
	}
}

// guarded turns a panic of the system's dialogs into an error, for instance if GTK finds no display.
func guarded(show func() (string, error)) (path string, err error) {
	defer func() {
		if p := recover(); p != nil {
			path, err = "", fmt.Errorf("%w: %v", errBroken, p)
		}
	}()
	return show()
}

func (s *System) serve() {
	runtime.LockOSThread()
	for request := range s.requests {
		request()
	}
}
