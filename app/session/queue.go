package session

import (
	"image"
	"slices"
	"time"

	"blik/internal/message"
)

// Waiting is an entry of the queue.
type Waiting struct {
	// ID is unique in the session.
	ID int
	// Name describes it to the user.
	Name message.Message
	do   func()
}

// queue is the list of what waits for the running job. The list is replaced when it changes, never modified.
type queue struct {
	waiting []Waiting
	// given is the last ID that was used; changes counts the changes.
	given   int
	changes uint64
	// timed is set while a timer of advanceLater runs.
	timed bool
}

// heldInterval is the interval at which a held queue checks whether it may continue.
const heldInterval = 100 * time.Millisecond

// Queue calls do, which may start a job: immediately if no job runs, otherwise when the running job and everything
// queued before have ended, successfully or not. In the second case queued is true. If the last entry of the queue has
// the same name, do is dropped, and queued is true as well.
func (s *Session) Queue(name message.Message, do func()) (queued bool) {
	if !s.Busy() {
		do()
		return false
	}
	if n := len(s.queue.waiting); n > 0 && s.queue.waiting[n-1].Name.Equal(name) {
		return true
	}
	s.queue.given++
	s.setQueue(append(slices.Clone(s.queue.waiting), Waiting{s.queue.given, name, do}))
	return true
}

// Waiting returns the queue in order. The slice must not be changed.
func (s *Session) Waiting() []Waiting { return s.queue.waiting }

// Withdraw removes an entry from the queue, if it still waits.
func (s *Session) Withdraw(id int) {
	s.setQueue(slices.DeleteFunc(slices.Clone(s.queue.waiting), func(w Waiting) bool { return w.ID == id }))
}

// setQueue replaces the queue.
func (s *Session) setQueue(waiting []Waiting) {
	s.queue.waiting = waiting
	s.queue.changes++
	s.publish(Other, image.Rectangle{})
}

// advance starts entries of the queue until a job runs.
func (s *Session) advance() {
	for len(s.queue.waiting) > 0 && !s.Busy() {
		if s.Hold != nil && s.Hold() {
			s.advanceLater()
			return
		}
		next := s.queue.waiting[0]
		s.setQueue(slices.Clone(s.queue.waiting[1:]))
		next.do()
	}
}

// advanceLater calls advance again after heldInterval.
func (s *Session) advanceLater() {
	if s.queue.timed {
		return
	}
	s.queue.timed = true
	time.AfterFunc(heldInterval, func() {
		s.dispatch(func() {
			s.queue.timed = false
			s.advance()
		})
	})
}
