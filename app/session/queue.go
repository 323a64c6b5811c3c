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

// Queue is the list of what waits for the session's job. The list is replaced when it changes, never modified.
type Queue struct {
	s *Session
	// hold, which may be nil, reports whether the queue must wait although no job runs.
	hold    func() bool
	waiting []Waiting
	// given is the last ID that was used; changes counts the changes.
	given   int
	changes uint64
	// timed is set while a timer of advanceLater runs.
	timed bool
}

// heldInterval is the interval at which a held queue checks whether it may continue.
const heldInterval = 100 * time.Millisecond

// Add calls do, which may start a job: immediately if no job runs, otherwise when the running job and everything
// queued before have ended, successfully or not. In the second case queued is true. If the last entry of the queue has
// the same name, do is dropped, and queued is true as well.
func (q *Queue) Add(name message.Message, do func()) (queued bool) {
	if !q.s.Busy() {
		do()
		return false
	}
	if n := len(q.waiting); n > 0 && q.waiting[n-1].Name.Equal(name) {
		return true
	}
	q.given++
	q.set(append(slices.Clone(q.waiting), Waiting{q.given, name, do}))
	return true
}

// Waiting returns the queue in order. The slice must not be changed.
func (q *Queue) Waiting() []Waiting { return q.waiting }

// Withdraw removes an entry from the queue, if it still waits.
func (q *Queue) Withdraw(id int) {
	q.set(slices.DeleteFunc(slices.Clone(q.waiting), func(w Waiting) bool { return w.ID == id }))
}

// Clear withdraws all entries; ok is false if there are none.
func (q *Queue) Clear() (ok bool) {
	if len(q.waiting) == 0 {
		return false
	}
	q.set(nil)
	return true
}

// set replaces the queue.
func (q *Queue) set(waiting []Waiting) {
	q.waiting = waiting
	q.changes++
	q.s.Publish(Other, image.Rectangle{})
}

// advance starts entries of the queue until a job runs.
func (q *Queue) advance() {
	for len(q.waiting) > 0 && !q.s.Busy() {
		if q.hold != nil && q.hold() {
			q.advanceLater()
			return
		}
		next := q.waiting[0]
		q.set(slices.Clone(q.waiting[1:]))
		next.do()
	}
}

// advanceLater calls advance again after heldInterval.
func (q *Queue) advanceLater() {
	if q.timed {
		return
	}
	q.timed = true
	time.AfterFunc(heldInterval, func() {
		q.s.dispatch(func() {
			q.timed = false
			q.advance()
		})
	})
}
