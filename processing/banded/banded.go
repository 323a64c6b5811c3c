package banded

import (
	"errors"
	"slices"
	"sync"

	"blik/processing"
)

// ErrMemory reports that not even one row of a picture, with the rows around it that an operation needs, fits into the
// memory for bands.
var ErrMemory = errors.New("too little memory for bands of the picture")

// Backend implements processing.Backend by bands on another one.
//
// An operation may return before it is carried out. Errors of its device or of memory are then returned by the call
// that requests its result.
type Backend struct {
	inner, host processing.Backend
	// limit is the memory of inner in bytes that a band may take; it is lowered when inner has less.
	limit int64
	// short reports whether an error of inner is for lack of memory, so that a smaller band may work.
	short func(error) bool

	// crowded: inner had no memory for a whole plane; from then on, components are made on the host.
	crowded bool

	// open are the running stages, the innermost last.
	open []*stage
	// number is that of the last entry, live the number of planes.
	number, live int
}

var _ processing.Backend = (*Backend)(nil)

// New returns a Backend that works on inner by bands of at most limit bytes, and on host where bands are of no use. The
// planes lie on host, whose method Host must return their samples themselves, as that of package cpu does, because
// results of inner are written there. short reports whether an error of inner means lack of memory; the bands are then
// halved as often as needed. The caller still owns both backends, and must not use them directly while the Backend is
// in use.
func New(inner, host processing.Backend, limit int64, short func(error) bool) *Backend {
	return &Backend{inner: inner, host: host, limit: limit, short: short}
}

// Name returns the name of the device that works on the bands.
func (b *Backend) Name() string { return b.inner.Name() }

// Close does nothing: the caller keeps the two backends.
func (b *Backend) Close() error { return nil }

// stage is a stage of inner that is held open.
type stage struct {
	name string
	end  func()
}

// Stage starts a named stage of inner. Recorded operations count towards the stage in which they were called.
func (b *Backend) Stage(name string) (end func()) {
	s := &stage{name: name, end: b.inner.Stage(name)}
	b.open = append(b.open, s)
	return sync.OnceFunc(func() {
		s.end()
		b.open = slices.DeleteFunc(b.open, func(o *stage) bool { return o == s })
	})
}

// pause ends the open stages until resume is called, so that work in between is not counted twice.
func (b *Backend) pause() (resume func()) {
	for _, s := range b.open {
		s.end()
	}
	return func() {
		for _, s := range b.open {
			s.end = b.inner.Stage(s.name)
		}
	}
}

// The stages of uploading and downloading bands.
const (
	stageUpload   = "upload"
	stageDownload = "download"
)

// timed runs f as a stage of inner.
func (b *Backend) timed(name string, f func() error) error {
	if name != "" {
		defer b.inner.Stage(name)()
	}
	return f()
}

// Timings returns the stages as inner has timed them; transfers of bands are the stages "upload" and "download".
func (b *Backend) Timings() []processing.StageTime { return b.inner.Timings() }
