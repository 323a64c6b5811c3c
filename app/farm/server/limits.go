package server

import (
	"encoding/json"
	"math"
	"path"
	"strings"
	"time"

	"blik/app/farm"
)

// The limits of what others may send. Texts that only people read are cut; anything else beyond a limit is refused.
const (
	maxPath    = 4096     // of a file
	maxText    = 2000     // of a sentence
	maxLog     = 2 * 2000 // of the end of a log
	maxOutputs = 16       // of a job
	maxSlots   = 32       // shown of a worker
	maxWork    = 32 << 10 // of the parameters of a batch
	maxTicket  = 24 << 10
	maxRequest = 700 << 10 // of a request without a piece of a file
	maxAnswer  = 900 << 10
	// maxSize bounds the size of a file.
	maxSize = 1 << 46
	// maxWorkers bounds the workers that are listed, maxKeyWorkers those of one key.
	maxWorkers    = 1024
	maxKeyWorkers = 128
	// maxBatches, maxJobs and maxFailuresListed bound what is stored and listed.
	maxBatches        = 2000
	maxJobs           = 8 << 20
	maxFailuresListed = 1000
	// maxConcurrent bounds the requests of a kind that are answered at a time; further ones wait.
	maxConcurrent = 64
)

func errUnreadable() *farm.Refusal { return farm.Refuse("the request cannot be read") }

// clipHeartbeat cuts what a worker says about itself.
func clipHeartbeat(w *farm.Heartbeat) {
	for _, name := range []*string{&w.Name, &w.Program, &w.Model, &w.System} {
		*name = farm.Clip(*name, farm.MaxName)
	}
	w.Remark = farm.Clip(w.Remark, maxText)
	w.Slots = w.Slots[:min(len(w.Slots), maxSlots)]
	for i, s := range w.Slots {
		w.Slots[i] = farm.Slot{Device: farm.Clip(s.Device, farm.MaxName), Threads: min(max(s.Threads, 0), 1<<16)}
	}
	w.Activities = w.Activities[:min(len(w.Activities), maxSlots)]
	for i, a := range w.Activities {
		w.Activities[i].Job, w.Activities[i].Name = farm.Clip(a.Job, 2*farm.JobBytes), farm.Clip(a.Name, farm.MaxName)
	}
	w.Done = max(w.Done, 0)
}

// validBatch refuses a batch with values that no version of the program sends.
func validBatch(b farm.Batch, again string) error {
	w := b.Work
	data, err := json.Marshal(w)
	switch {
	case w.Command != "correct" && w.Command != "detect":
		return farm.Refuse("unknown kind of work: %q", farm.Clip(w.Command, farm.MaxName))
	case err != nil, len(data) > maxWork, len(again) > maxPath, len(b.Program) > farm.MaxName,
		len(b.Model) > farm.MaxName:
		return farm.Refuse("the parameters of the batch are too long")
	case len(w.Format) > 16, len(w.Language) > 16, !(w.Limit > 0 && w.Limit <= 1e6), w.Preview < 0, w.Preview > 1<<16:
		return farm.Refuse("the parameters of the batch are outside their ranges")
	}
	return nil
}

// validPlace reports whether a place has a length that systems allow.
func validPlace(p farm.Place) bool {
	return len(p.Root) <= farm.MaxName && p.Path != "" && len(p.Path) <= maxPath && !strings.ContainsRune(p.Path, 0)
}

// validJob refuses a job with values that no version of the program sends.
func validJob(job farm.Job, upload bool) error {
	name := farm.Clip(job.In.Path, farm.MaxName)
	switch {
	case !validPlace(job.In) || !validPlace(job.Out):
		return farm.Refuse("%s: the name is empty or too long", name)
	case job.Size < 0 || job.Size > maxSize || job.Modified < -1<<52 || job.Modified > 1<<52:
		return farm.Refuse("%s: size or time are outside their ranges", name)
	case upload != (job.Upload != ""), upload && !farm.ValidSum(job.Upload):
		return farm.Refuse("%s: the SHA-256 of the file is missing or damaged", name)
	}
	return nil
}

// clean checks a report on a job, and cuts its texts. The time cannot be longer than that since the job was taken.
// Results in a shared folder may be hidden, or impossible on some system, only if the original is.
func clean(r *farm.Report, job farm.Job, since time.Duration) error {
	if r.End != farm.Done && r.End != farm.Failed || len(r.Outputs) > maxOutputs || r.Peak < 0 || r.Peak > maxSize ||
		len(r.SHA256) > 64 || len(r.SourceSHA256) > 64 {
		return errUnreadable()
	}
	valid := farm.ValidOutput
	if job.Upload == "" && !farm.ValidOutput(path.Base(job.In.Path)) {
		valid = farm.ValidName
	}
	for _, o := range r.Outputs {
		if !valid(o.Name) || len(o.SHA256) > 64 || job.Upload != "" && !farm.ValidSum(o.SHA256) {
			return farm.Refuse("the result %s does not have a valid file name", farm.Clip(o.Name, farm.MaxName))
		}
	}
	r.Sentence, r.Remarks = farm.Clip(r.Sentence, maxText), farm.Clip(r.Remarks, maxText)
	r.Device = farm.Clip(r.Device, farm.MaxName)
	if math.IsNaN(r.Seconds) {
		r.Seconds = 0
	}
	r.Seconds = min(max(r.Seconds, 0), max(since.Seconds(), 0))
	return nil
}
