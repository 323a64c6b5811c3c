package banded

import (
	"errors"
	"slices"
	"sync"

	"blik/processing"
)

// ErrMemory says that not even one row of a picture and what an operation reaches around it fit into the memory that
// bands may take.
var ErrMemory = errors.New("too little memory for bands of the picture")

// Backend implements processing.Backend by bands on another one.
//
// An operation may return before it was done. What goes wrong with its device or its memory is then told by the call
// that asks for its result.
type Backend struct {
	inner, host processing.Backend
	// limit is the memory of inner in bytes that a band may take; it falls when inner has less.
	limit int64
	// short says that an error of inner is for want of memory, so that a smaller band may do.
	short func(error) bool

	// crowded says that inner had no memory for a whole plane, so that components are the host's from then on.
	crowded bool

	// open are the stages that were begun and not ended, the innermost last.
	open []*stage
	// number is that of the last step, live the number of planes.
	number, live int
}

var _ processing.Backend = (*Backend)(nil)

// New returns a Backend that works on inner by bands of at most limit bytes, and on host where bands are of no use.
// Planes are kept by host, whose method Host must return their samples themselves, as that of package cpu does: what
// comes back from inner is written there. short says whether an error of inner means that its memory does not suffice:
// the bands are halved then, as often as need be. Both backends stay the caller's, who may use them for nothing else
// meanwhile.
func New(inner, host processing.Backend, limit int64, short func(error) bool) *Backend {
	return &Backend{inner: inner, host: host, limit: limit, short: short}
}

// Name returns the name of the device that works on the bands.
func (b *Backend) Name() string { return b.inner.Name() }

// Close does nothing: the two backends stay the caller's.
func (b *Backend) Close() error { return nil }

// stage is a stage of inner that is held open.
type stage struct {
	name string
	end  func()
}

// Stage starts a named stage of inner. Operations that wait are timed as of the stage that they were called in.
func (b *Backend) Stage(name string) (end func()) {
	s := &stage{name: name, end: b.inner.Stage(name)}
	b.open = append(b.open, s)
	return sync.OnceFunc(func() {
		s.end()
		b.open = slices.DeleteFunc(b.open, func(o *stage) bool { return o == s })
	})
}

// pause ends the open stages until resume is called, so that what is done meanwhile is not counted twice.
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

// The stages of sending a band and of taking it back.
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

// Timings returns the stages as inner has timed them; sending bands and taking them back are the stages "upload" and
// "download".
func (b *Backend) Timings() []processing.StageTime { return b.inner.Timings() }
