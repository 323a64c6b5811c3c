package cli

import (
	"context"

	"blik/app/imagefile"
)

// readAhead reads the next picture of a batch while the current one is processed. The zero value reads nothing.
type readAhead struct {
	next  string // the picture to read while the current one is processed; empty for none
	input string
	read  chan struct{} // closed once file and err are set; nil if nothing was started
	stop  context.CancelFunc
	file  *imagefile.File
	err   error
}

// begin starts reading a picture.
func (r *readAhead) begin(ctx context.Context, p *program, input string, limits imagefile.Limits) {
	r.end()
	ctx, stop := context.WithCancel(ctx)
	*r = readAhead{next: r.next, input: input, read: make(chan struct{}), stop: stop}
	go func() {
		defer close(r.read)
		defer p.survive(input, &r.err)
		r.file, r.err = imagefile.Read(ctx, input, limits)
	}()
}

// picture returns the picture: the one being read ahead if the paths match, otherwise it is read now.
func (r *readAhead) picture(ctx context.Context, input string, limits imagefile.Limits) (*imagefile.File, error) {
	if r.read == nil || r.input != input {
		return imagefile.Read(ctx, input, limits)
	}
	<-r.read
	file, err := r.file, r.err
	r.end()
	return file, err
}

// end stops reading and drops the picture.
func (r *readAhead) end() {
	if r.read == nil {
		return
	}
	r.stop()
	<-r.read
	*r = readAhead{next: r.next}
}

// roomForBoth reports whether a picture may be read while another one is processed.
func roomForBoth(path, next string, limits imagefile.Limits) bool {
	return fitBoth(imagefile.MemoryFor(path, limits), imagefile.MemoryFor(next, limits), imagefile.AvailableMemory())
}

// fitBoth reports whether two pictures may be in memory at once: the available memory must be twice that of the work on
// them, so that no picture is refused because another was read ahead. Unknown sizes do not fit.
func fitBoth(one, other, available int64) bool {
	return one > 0 && other > 0 && one <= available/4 && other <= available/4
}
