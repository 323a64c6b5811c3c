package session

import (
	"image"
	"slices"
	"time"

	"blik/internal/message"
)

// Waiting is something that waits for the running job and for what was queued before it.
type Waiting struct {
	// ID tells it apart from all others.
	ID int
	// Name says what it is.
	Name message.Message
	do   func()
}

// queue is a list that is replaced when anything in it changes.
type queue struct {
	waiting []Waiting
	// given is the last ID, changes counts the changes.
	given   int
	changes uint64
	// looks says that the queue will be looked at again although no job ends.
	looks bool
}

// heldStep is the time after which a queue that is held is looked at again.
const heldStep = 100 * time.Millisecond

// Queue calls do, which may start a job: at once where no job runs, and otherwise when the running one and what was
// queued before have ended, whether they succeeded or not. queued says that it waits, or that the last thing that waits
// has the same name, which is then left alone.
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

// Waiting returns what waits, in its order. The slice must not be changed.
func (s *Session) Waiting() []Waiting { return s.queue.waiting }

// Withdraw takes something out of the queue, if it still waits.
func (s *Session) Withdraw(id int) {
	s.setQueue(slices.DeleteFunc(slices.Clone(s.queue.waiting), func(w Waiting) bool { return w.ID == id }))
}

// setQueue replaces the queue.
func (s *Session) setQueue(waiting []Waiting) {
	s.queue.waiting = waiting
	s.queue.changes++
	s.publish(Other, image.Rectangle{})
}

// advance goes on with what waits until a job runs.
func (s *Session) advance() {
	for len(s.queue.waiting) > 0 && !s.Busy() {
		if s.Held != nil && s.Held() {
			s.lookLater()
			return
		}
		next := s.queue.waiting[0]
		s.setQueue(slices.Clone(s.queue.waiting[1:]))
		next.do()
	}
}

// lookLater looks again after a while whether the queue is still held.
func (s *Session) lookLater() {
	if s.queue.looks {
		return
	}
	s.queue.looks = true
	time.AfterFunc(heldStep, func() {
		s.dispatch(func() {
			s.queue.looks = false
			s.advance()
		})
	})
}
