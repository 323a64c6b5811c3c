package farm

import (
	"time"

	"blik/internal/message"
)

// Status is the state of a farm.
type Status struct {
	Program string        `json:"program,omitempty"`
	Started time.Time     `json:"started"`
	Now     time.Time     `json:"now"`
	Batches []BatchStatus `json:"batches"`
	Workers []Heartbeat   `json:"workers"`
	// Fault describes what stops the server, in English, and Cause is the same for display; empty if nothing does.
	Fault string   `json:"fault,omitempty"`
	Cause *Refusal `json:"cause,omitempty"`
	// Rate is the number of files done per second during the last minute.
	Rate float64 `json:"files_per_second"`
	// Stored is the size of the streams in bytes.
	Stored int64 `json:"stored"`
}

// BatchStatus is the progress of a batch.
type BatchStatus struct {
	ID      string    `json:"id"`
	Command string    `json:"command"`
	Program string    `json:"program"`
	Model   string    `json:"model"`
	State   State     `json:"state"`
	Created time.Time `json:"created"`
	// Last is the time of the last result.
	Last  time.Time `json:"last"`
	Files int       `json:"files"`
	Done  int       `json:"done"`
	// Failed counts failed files, Working those that a worker is processing.
	Failed  int `json:"failed"`
	Working int `json:"working"`
	Waiting int `json:"waiting"`
	// Seconds is the mean time for a file; Left is the remaining time of the batch at the rate of the last minute, 0 if
	// unknown.
	Seconds  float64   `json:"seconds_per_file"`
	Left     float64   `json:"seconds_left"`
	Failures []Failure `json:"failures,omitempty"`
	// Conflicts are second results that differ from the first.
	Conflicts []Conflict `json:"conflicts,omitempty"`
}

// Failure is a file that failed, and why.
type Failure struct {
	Job    string `json:"job"`
	File   string `json:"file"`
	Reason string `json:"why"`
	Worker string `json:"worker,omitempty"`
	Log    string `json:"log,omitempty"`
}

// Finished reports whether a batch is complete or cancelled.
func (b BatchStatus) Finished() bool { return b.Done+b.Failed == b.Files || b.State == Cancelled }

// StateName returns the state of a batch in words.
func (b BatchStatus) StateName() message.Message {
	switch {
	case b.Files > 0 && b.Done+b.Failed == b.Files:
		return message.Of("finished")
	case b.State == Paused:
		return message.Of("paused")
	case b.State == Cancelled:
		return message.Of("cancelled")
	}
	return message.Of("running")
}

// Conflict is a second result of a file that differs from the first, which counts.
type Conflict struct {
	File string `json:"file"`
	// Worker and SHA256 are those of the first result, Other and OtherSHA256 those of the second.
	Worker      string `json:"worker"`
	SHA256      string `json:"sha256"`
	Other       string `json:"other"`
	OtherSHA256 string `json:"other_sha256"`
}

// The actions of control.
const (
	Pause  = "pause"
	Resume = "resume"
	Cancel = "cancel"
	Retry  = "retry"
)
