package session

import (
	"image"
	"slices"

	"blik/app/document"
	"blik/processing"
	"blik/processing/detect"
)

// Change says what has changed since the last Change. Listeners read the new state from the Session.
type Change struct {
	// Pixels is the part of the mask to redraw. While a stroke is being painted nothing else is set.
	Pixels image.Rectangle
	// Document: another picture is open, so everything about it is new.
	Document bool
	// Mask: the content of the mask, and with it the findings.
	Mask bool
	// Corrections: which pixels of the picture are corrected, or how.
	Corrections bool
	// Result: the result of the last detection.
	Result bool
	// Region: the search region.
	Region bool
	// Decisions: the decisions about findings. Listing: which findings are listed, and in which order.
	Decisions, Listing bool
	// Selection: the selected finding, or its correction.
	Selection bool
	// Compared: the mask to compare with, or the view of the changed pixels.
	Compared bool
	// History: the steps, or how many of them are in effect.
	History bool
	// Saved: what is on disk.
	Saved bool
	// Extent: how many pixels a save would be free to change was counted.
	Extent bool
	// Params: the parameters of detection and correction.
	Params bool
	// Busy: a job began or ended. Progress: the progress of the job.
	Busy, Progress bool
	// Queue: what is queued behind the job.
	Queue bool
	// Device: the chosen device, its state, or the list of devices.
	Device bool
	// Placeholder: the placeholder of the picture that is being read.
	Placeholder bool
	// Recent: the list of recent files. Film: the filmstrip.
	Recent, Film bool
	// Fault is an error that the user should see, nil for none.
	Fault error
	// Cause is the operation that led to this change.
	Cause Cause
}

// Cause is an operation that listeners treat specially.
type Cause uint8

// Other stands for all operations that have no value of their own.
const (
	Other Cause = iota
	Opened
	Restored
	Detected
	CorrectedSpots
	Stepped
	SavedMask
	SavedPicture
)

// Everything is the Change for a listener that has shown nothing yet.
func Everything() Change {
	return Change{
		Document: true, Mask: true, Corrections: true, Result: true, Region: true, Decisions: true, Listing: true,
		Selection: true, History: true, Saved: true, Extent: true, Params: true, Busy: true, Progress: true,
		Device: true, Recent: true, Film: true, Compared: true, Placeholder: true, Queue: true,
	}
}

// Revision identifies the work on a document: equal revisions mean equal work.
type Revision struct {
	doc         *document.Document
	mask        uint64
	corrections *document.Corrections
	result      *detect.Found
	region      *processing.Region
	decisions   *document.Decisions
}

// RevisionOf returns the present revision of a document.
func RevisionOf(d *document.Document) Revision {
	return Revision{d, d.Generation(), d.Corrections(), d.Result(), d.Region(), d.Decisions()}
}

// snapshot is the part of the session's state that Change describes; Publish compares two of them.
type snapshot struct {
	Revision

	selection selection
	history   uint64
	params    processing.Params
	busy      bool
	queue     uint64
	recent    []string
}

// selection describes the selected finding.
type selection struct {
	exists       bool
	number, area int
	bounds       image.Rectangle
	state        document.State
	decision     document.Decision
	method, wish processing.Method
}

// now returns the current state.
func (s *Session) now() snapshot {
	n := snapshot{
		params: s.settings.Params, busy: s.jobs.Busy(), recent: slices.Clone(s.settings.Recent), queue: s.queue.changes,
	}
	if s.open.Doc == nil {
		return n
	}
	n.Revision = RevisionOf(s.open.Doc)
	if f, ok := n.doc.Selected(); ok {
		n.selection = selection{
			true, f.Number, f.Area, f.Bounds(), f.State, f.Decision, f.Method, f.Asked,
		}
	}
	n.history = n.doc.HistoryVersion()
	return n
}

// Publish notifies the listeners of what has changed since the last call. pixels is the part of the mask to redraw.
func (s *Session) Publish(cause Cause, pixels image.Rectangle) {
	if s.open.Doc != nil {
		pixels = pixels.Union(s.open.Doc.Dropped())
	}
	was, is := s.last, s.now()
	s.last = is
	c := Change{
		Pixels:      pixels,
		Document:    is.doc != was.doc,
		Mask:        is.doc != was.doc || is.mask != was.mask,
		Corrections: is.doc != was.doc || is.corrections != was.corrections,
		Result:      is.result != was.result,
		Region:      is.region != was.region,
		Decisions:   is.doc != was.doc || is.decisions != was.decisions,
		Selection:   is.selection != was.selection,
		History:     is.history != was.history,
		Params:      is.params != was.params,
		Busy:        is.busy != was.busy,
		Queue:       is.queue != was.queue,
		Recent:      !slices.Equal(is.recent, was.recent),
		Cause:       cause,
	}
	for _, p := range s.modules {
		if p.Changed != nil {
			p.Changed(&c)
		}
	}
	if c.Document || c.Corrections {
		c.Fault = s.views.update(&s.open, c.Document, nil)
	}
	s.Notify(c)
}

// Notify calls the listeners unless c is empty.
func (s *Session) Notify(c Change) {
	if c == (Change{}) {
		return
	}
	for _, listen := range s.listeners {
		listen(c)
	}
}

// Subscribe calls listen for all future changes, on the session's goroutine.
func (s *Session) Subscribe(listen func(Change)) { s.listeners = append(s.listeners, listen) }
