package preview

// phase says what the session's job does to follow changes of the parameters. In a stale phase they have changed again
// since the job began.
type phase uint8

const (
	// idle: no job follows the parameters.
	idle phase = iota
	// part: detection in the visible part, which is shown before the whole picture.
	part
	stalePart
	// whole: detection in the whole picture. When it becomes stale it is cancelled.
	whole
	staleWhole
	// deciding: another decision about components that are known.
	deciding
	staleDeciding
	// correcting: correction of the selected finding.
	correcting
	staleCorrecting
	phases
)

// event is what happens to a phase.
type event uint8

const (
	// changed: the parameters have changed.
	changed event = iota
	// ended: the job has ended with a result; cancelled: it was cancelled; failed: it has ended with another error.
	ended
	cancelled
	failed
	events
)

// next returns the phase that follows an event. needed is the phase that would follow the present parameters if no job
// were running.
func (p phase) next(e event, needed phase) phase {
	switch {
	case e == changed && p == idle:
		return needed
	case e == changed:
		return p.stale()
	case e == ended && p == part && needed != idle:
		return whole
	case e == ended && p != idle && p == p.stale(), e == cancelled && p == staleWhole:
		return needed
	}
	return idle
}

// stale returns the phase after a change of the parameters.
func (p phase) stale() phase {
	switch p {
	case part, whole, deciding, correcting:
		return p + 1
	}
	return p
}

// announces reports whether the user gets to know of an event: the end of a job that shows nothing preliminary and was
// not given up for another one.
func (p phase) announces(e event) bool {
	switch e {
	case changed:
		return false
	case ended:
		return p != part && p != stalePart
	case cancelled:
		return p != staleWhole
	}
	return true
}
