package cli

import (
	"context"

	"blik/app/imagefile"
)

// readAhead reads the next picture of a batch while the one before it is worked on. The zero value reads nothing.
type readAhead struct {
	input string
	read  chan struct{} // closed when file and err are there; nil where nothing was begun
	stop  context.CancelFunc
	file  *imagefile.File
	err   error
}

// begin starts to read a picture.
func (r *readAhead) begin(ctx context.Context, p *program, input string, limits imagefile.Limits) {
	r.end()
	ctx, stop := context.WithCancel(ctx)
	*r = readAhead{input: input, read: make(chan struct{}), stop: stop}
	go func() {
		defer close(r.read)
		defer p.survive(input, &r.err)
		r.file, r.err = imagefile.Read(ctx, input, limits)
	}()
}

// take returns the picture: the one that was begun, if it is that, or else it reads it now.
func (r *readAhead) take(ctx context.Context, input string, limits imagefile.Limits) (*imagefile.File, error) {
	if r.read == nil || r.input != input {
		return imagefile.Read(ctx, input, limits)
	}
	<-r.read
	file, err := r.file, r.err
	r.end()
	return file, err
}

// end stops reading and forgets what was read.
func (r *readAhead) end() {
	if r.read == nil {
		return
	}
	r.stop()
	<-r.read
	*r = readAhead{}
}

// roomForNext reports whether the next picture may be read while this one is worked on.
func (t *task) roomForNext() bool {
	return fitBoth(imagefile.MemoryFor(t.input, t.limits), imagefile.MemoryFor(t.next, t.limits),
		imagefile.AvailableMemory())
}

// fitBoth reports whether two pictures may be in memory at once: what the work on them takes must fit twice into what
// is available, so that no picture is refused for one that was read ahead. Unknown sizes do not fit.
func fitBoth(one, other, available int64) bool {
	return one > 0 && other > 0 && one <= available/4 && other <= available/4
}
