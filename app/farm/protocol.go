package farm

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// The subjects of requests, grouped by who may make them. Those of workers end in the public half of the key that makes
// them.
const (
	// WorkPrefix begins the requests of workers.
	WorkPrefix = "farm.work."

	SubmitBatch  = "farm.submit.batch"
	SubmitList   = "farm.submit.list"
	SubmitNeed   = "farm.submit.need"
	SubmitRoom   = "farm.submit.room"
	SubmitPut    = "farm.submit.put"
	SubmitGet    = "farm.submit.get"
	SubmitTaken  = "farm.submit.taken"
	SubmitReject = "farm.submit.reject"
	SubmitAgain  = "farm.submit.again"
	Control      = "farm.submit.control"

	WorkHello  = "farm.work.hello"
	WorkTake   = "farm.work.take"
	WorkRenew  = "farm.work.renew"
	WorkBack   = "farm.work.back"
	WorkGet    = "farm.work.get"
	WorkRoom   = "farm.work.room"
	WorkPut    = "farm.work.put"
	WorkResult = "farm.work.result"
	WorkCrash  = "farm.work.crash"

	SeeStatus = "farm.see.status"
	SeeJobs   = "farm.see.jobs"

	// Wake is published when there may be something new to do.
	Wake = "farm.wake"
)

// Work is what a batch requests for each of its pictures. It holds parameters only, never arguments or commands.
type Work struct {
	// Command is "correct" or "detect".
	Command string `json:"command"`
	// Preset holds all parameters (package preset).
	Preset json.RawMessage `json:"preset"`
	// Region is the search region, empty for the whole picture; Format is the file format of the results, empty for
	// that of the originals; Limit is the largest picture in megapixels; Language is the language of reports and
	// messages.
	Region   string  `json:"region,omitempty"`
	Format   string  `json:"format,omitempty"`
	Limit    float64 `json:"limit"`
	Language string  `json:"language,omitempty"`
	// Overwrite permits replacing existing files, never originals.
	Overwrite bool `json:"overwrite,omitempty"`
	KeepTime  bool `json:"keep_time,omitempty"`
	SaveMask  bool `json:"save_mask,omitempty"`
	NoReport  bool `json:"no_report,omitempty"`
	Marked    bool `json:"marked,omitempty"`
	Preview   int  `json:"preview,omitempty"`
	// Upload means that originals and results are transferred through the object store.
	Upload bool `json:"upload,omitempty"`
}

// State is the state of a batch.
type State string

// The states of a batch.
const (
	Running   State = "running"
	Paused    State = "paused"
	Cancelled State = "cancelled"
)

// Batch is a set of pictures with the same work. The same work of the same program version is the same batch, so that
// submitting a folder again adds only new files.
type Batch struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Work    Work      `json:"work"`
	// Program and Model are the program version and the SHA-256 of its network; workers with other versions do not take
	// part.
	Program string `json:"program"`
	Model   string `json:"model"`
	State   State  `json:"state"`
	// Round counts how often all lists were restarted.
	Round int `json:"round,omitempty"`
}

// Letters writes IDs as letters and digits (base 32).
var Letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ShortID returns the first bytes of the SHA-256 of data in Letters.
func ShortID(data []byte, bytes int) string {
	sum := sha256.Sum256(data)
	return Letters.EncodeToString(sum[:bytes])
}

// Place is a file or folder below a root that each machine maps to its own folder. Without a root, Path is
// absolute.
type Place struct {
	Root string `json:"root,omitempty"`
	// Path uses slashes on every system.
	Path string `json:"path"`
}

func (p Place) String() string {
	if p.Root == "" {
		return p.Path
	}
	return p.Root + ":" + p.Path
}

// Job is one picture of a batch.
type Job struct {
	ID    string `json:"id"`
	Batch string `json:"batch"`
	// In is the original, Out the folder of the results.
	In  Place `json:"in"`
	Out Place `json:"out"`
	// Size and Modified (in milliseconds since 1970) are those of the original when it was submitted.
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"`
	// Upload is the SHA-256 of an original in the object store, where the results go as well. In and Out are then the
	// names of the file and of the result folder on the submitting machine, and Modified is 0.
	Upload string `json:"upload,omitempty"`
	// file is an original to be uploaded.
	file string
}

// JobBytes is the length of a job ID in bytes: with 80 bits, the probability that two of a million jobs have the same
// ID is below 10⁻¹².
const JobBytes = 10

// Of returns the job as one of a batch, with its ID. The same unchanged file with the same target in the same batch has
// the same ID.
func (j Job) Of(batch string) Job {
	j.ID, j.Batch = "", batch
	data, err := json.Marshal(j)
	if err == nil {
		j.ID = ShortID(data, JobBytes)
	}
	return j
}

// Output is a file that was written for a job.
type Output struct {
	Name string `json:"name"`
	// SHA256 is known for the first output of a job and for all outputs in the object store.
	SHA256 string `json:"sha256,omitempty"`
}

// The ways in which the work on a file can end.
const (
	// Done: the results are written.
	Done = "done"
	// Failed: the file or the request is at fault, and another try would fail in the same way.
	Failed = "failed"
	// Full: there is no space for the results.
	Full = "full"
	// TooLarge: this machine has too little memory.
	TooLarge = "too large"
)

// Outcome is the outcome of a Runner's work on a file.
type Outcome struct {
	// End is Done, Failed, Full or TooLarge.
	End string `json:"end"`
	// Sentence describes the result or the fault.
	Sentence string `json:"sentence,omitempty"`
	// Remarks are sentences about the file, one a line.
	Remarks string `json:"remarks,omitempty"`
	// SourceSHA256 is the checksum of the original, SHA256 that of the first output.
	SourceSHA256 string   `json:"source_sha256,omitempty"`
	SHA256       string   `json:"sha256,omitempty"`
	Outputs      []Output `json:"outputs,omitempty"`
	Device       string   `json:"device,omitempty"`
	// Peak is the peak memory of the work in bytes; 0 if unknown.
	Peak int64 `json:"peak,omitempty"`
	// Found means that an earlier run had already written the same results.
	Found bool `json:"found,omitempty"`
}

// Result is the result of a job.
type Result struct {
	Job Job `json:"job"`
	Outcome
	Worker  string `json:"worker"`
	Program string `json:"program"`
	Model   string `json:"model"`
	// Ended is the server's time; Seconds is how long the work took.
	Ended   time.Time `json:"ended"`
	Seconds float64   `json:"seconds"`
	// Crashes counts the crashes on this file; Log holds the last lines of the last one.
	Crashes int    `json:"crashes,omitempty"`
	Log     string `json:"log,omitempty"`
	// Key is the public half of the worker's key; empty without keys.
	Key string `json:"key,omitempty"`
	// Refused means that the submitter refused the files of the worker.
	Refused bool `json:"refused,omitempty"`
}

// Same reports whether two results hold the same pictures.
func (r Result) Same(other Result) bool {
	return r.End == other.End && r.SourceSHA256 == other.SourceSHA256 && r.SHA256 == other.SHA256
}

// Answer is the reply to any request: the requested data or a refusal.
type Answer struct {
	Error *Refusal `json:"error,omitempty"`

	// of SubmitBatch
	Batch *Batch `json:"batch,omitempty"`
	// of SubmitList: the number of new jobs, of known ones, and of known ones already done
	Added int `json:"added,omitempty"`
	Known int `json:"known,omitempty"`
	Ready int `json:"ready,omitempty"`
	// of SubmitNeed and SubmitReject: the jobs whose originals are to be uploaded
	Need []string `json:"need,omitempty"`
	// of control
	Count int `json:"count,omitempty"`
	// of WorkHello
	Time time.Time `json:"time,omitzero"`
	// Every is the interval between heartbeats.
	Every time.Duration `json:"every,omitempty"`
	// of WorkTake: a job, the work, and the ticket of its holder; without a job, Remark says why none of the waiting
	// ones is for this worker
	Job       *Job     `json:"job,omitempty"`
	Work      *Work    `json:"work,omitempty"`
	Ticket    string   `json:"ticket,omitempty"`
	Delivered int      `json:"delivered,omitempty"`
	Remark    *Refusal `json:"remark,omitempty"`
	// of the requests about a job: one of the verdicts
	Verdict string        `json:"verdict,omitempty"`
	Wait    time.Duration `json:"wait,omitempty"`
	// of the requests for files: the number from which the next piece is found, and whether this is the last one
	Next uint64 `json:"next,omitempty"`
	Last bool   `json:"last,omitempty"`
	// of SeeStatus and SeeJobs
	Status *Status  `json:"status,omitempty"`
	Jobs   []Result `json:"jobs,omitempty"`

	// Content is a part of a file, sent as the data of a message.
	Content []byte `json:"-"`
}

// The verdicts about a job.
const (
	// Proceed: the worker holds the job.
	Proceed = "proceed"
	// Settled: the job is finished, cancelled or held by another worker; leave it.
	Settled = "settled"
)

// Request is the body of every request; which fields are used depends on the subject.
type Request struct {
	Batch Batch  `json:"batch,omitzero"`
	Again string `json:"again,omitempty"`

	ID   string `json:"id,omitempty"`
	Jobs []Job  `json:"jobs,omitempty"`

	Action string `json:"action,omitempty"`

	Worker *Heartbeat `json:"worker,omitempty"`
	// Shared means that the worker has shared folders; Only is the batch to work on, empty for all.
	Shared bool   `json:"shared,omitempty"`
	Only   string `json:"only,omitempty"`
	// Ticket proves that the worker was given a job.
	Ticket string        `json:"ticket,omitempty"`
	Result *Report       `json:"result,omitempty"`
	Log    string        `json:"log,omitempty"`
	Wait   time.Duration `json:"wait,omitempty"`

	// Delivered is the number after which to list results; Failures is the number of failures to list.
	Delivered int `json:"delivered,omitempty"`
	Failures  int `json:"failures,omitempty"`

	// Bytes is the size of files to be uploaded; Names are IDs of jobs.
	Bytes int64    `json:"bytes,omitempty"`
	Names []string `json:"names,omitempty"`

	// File is a file of the object store, Transfer an upload of it, and Piece the number of a piece of the upload.
	File     *Stored `json:"file,omitempty"`
	Transfer string  `json:"transfer,omitempty"`
	Piece    int     `json:"piece,omitempty"`
	Next     uint64  `json:"next,omitempty"`

	// Key is the public half of the key of a worker, which only the server sets; empty without keys. Content is a part
	// of a file.
	Key     string `json:"-"`
	Content []byte `json:"-"`
}

// MaxList is the maximum number of jobs in a request; they fit into a message even with names of 1000 bytes.
const MaxList = 200

// Report is what a worker says about a job that it holds.
type Report struct {
	Outcome
	// Seconds is how long the work took.
	Seconds float64 `json:"seconds"`
}

// Stored names a file of the object store. Submitters give the job, workers their ticket.
type Stored struct {
	// Job is the ID of the job.
	Job    string `json:"job,omitempty"`
	Result bool   `json:"result,omitempty"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size,omitempty"`
}

// textHeader is the header of the messages that carry a piece of a file; it holds the request or the answer.
const textHeader = "Blik"

// NewMessage returns the message for a request or an answer, with a piece of a file or without.
func NewMessage(subject string, text, piece []byte) *nats.Msg {
	msg := nats.NewMsg(subject)
	if piece == nil {
		msg.Data = text
		return msg
	}
	msg.Header.Set(textHeader, string(text))
	msg.Data = piece
	return msg
}

// ReadMessage is the inverse of NewMessage.
func ReadMessage(msg *nats.Msg) (text, piece []byte) {
	if header := msg.Header.Get(textHeader); header != "" {
		return []byte(header), msg.Data
	}
	return msg.Data, nil
}

// Heartbeat is what a worker reports about itself every few seconds.
type Heartbeat struct {
	// Name is the name of the worker, unique in the farm.
	Name    string `json:"name"`
	Program string `json:"program"`
	Model   string `json:"model"`
	System  string `json:"system"`
	Slots   []Slot `json:"slots"`
	// Activities lists the files being processed.
	Activities []Activity `json:"doing,omitempty"`
	// Remark explains why the worker, or a part of it, is currently idle.
	Remark string `json:"remark,omitempty"`
	// Time is the time on the worker's clock.
	Time time.Time `json:"time"`
	// Done counts the files since the worker started.
	Done int `json:"done"`
	// Seen is set by the manager.
	Seen time.Time `json:"seen,omitzero"`
}

// HeartbeatInterval is the longest interval between heartbeats; it is shorter if Patience is short.
const HeartbeatInterval = 2 * time.Second

// MaxSkew is the difference of two clocks from which a remark is shown.
const MaxSkew = 30 * time.Second

// Activity is a file being processed.
type Activity struct {
	Job   string    `json:"job"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

// Slot processes one picture at a time.
type Slot struct {
	Device string `json:"device"`
	// Threads is the number of processors that it uses.
	Threads int `json:"threads"`
}
