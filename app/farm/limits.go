package farm

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// The limits of what others may send. Texts that only people read are cut; anything else beyond a limit is refused.
const (
	maxName    = 200      // of a worker, version, device
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

func errUnreadable() *Refusal { return refuse("the request cannot be read") }

// clip cuts a text to n bytes, and replaces what is not UTF-8.
func clip(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	if utf8.ValidString(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "?")
	for len(text) > n {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// clipEnd keeps the last n bytes.
func clipEnd(text string, n int) string { return clip(text[max(0, len(text)-n):], n) }

// clipHeartbeat cuts what a worker says about itself.
func clipHeartbeat(w *Heartbeat) {
	w.Name, w.Program, w.Model = clip(w.Name, maxName), clip(w.Program, maxName), clip(w.Model, maxName)
	w.System, w.Remark = clip(w.System, maxName), clip(w.Remark, maxText)
	w.Slots = w.Slots[:min(len(w.Slots), maxSlots)]
	for i, s := range w.Slots {
		w.Slots[i] = Slot{clip(s.Device, maxName), min(max(s.Threads, 0), 1<<16)}
	}
	w.Activities = w.Activities[:min(len(w.Activities), maxSlots)]
	for i, a := range w.Activities {
		w.Activities[i].Job, w.Activities[i].Name = clip(a.Job, 2*jobBytes), clip(a.Name, maxName)
	}
	w.Done = max(w.Done, 0)
}

// validSum reports whether a text is a SHA-256 in hexadecimal.
func validSum(text string) bool {
	data, err := hex.DecodeString(text)
	return err == nil && len(data) == 32 && strings.ToLower(text) == text
}

// validBatch refuses a batch with values that no version of the program sends.
func validBatch(b Batch, again string) error {
	w := b.Work
	data, err := json.Marshal(w)
	switch {
	case w.Command != "correct" && w.Command != "detect":
		return refuse("unknown kind of work: %q", clip(w.Command, maxName))
	case err != nil, len(data) > maxWork, len(again) > maxPath, len(b.Program) > maxName, len(b.Model) > maxName:
		return refuse("the parameters of the batch are too long")
	case len(w.Format) > 16, len(w.Language) > 16, !(w.Limit > 0 && w.Limit <= 1e6), w.Preview < 0, w.Preview > 1<<16:
		return refuse("the parameters of the batch are outside their ranges")
	}
	return nil
}

// validPlace reports whether a place has a length that systems allow.
func validPlace(p Place) bool {
	return len(p.Root) <= maxName && p.Path != "" && len(p.Path) <= maxPath && !strings.ContainsRune(p.Path, 0)
}

// validJob refuses a job with values that no version of the program sends.
func validJob(job Job, upload bool) error {
	name := clip(job.In.Path, maxName)
	switch {
	case !validPlace(job.In) || !validPlace(job.Out):
		return refuse("%s: the name is empty or too long", name)
	case job.Size < 0 || job.Size > maxSize || job.Modified < -1<<52 || job.Modified > 1<<52:
		return refuse("%s: size or time are outside their ranges", name)
	case upload != (job.Upload != ""), upload && !validSum(job.Upload):
		return refuse("%s: the SHA-256 of the file is missing or damaged", name)
	}
	return nil
}

// validOutput reports whether a name is that of a file beside others, which no system hides.
func validOutput(name string) bool {
	return name != "" && len(name) <= 255 && name == path.Base(name) && !strings.HasPrefix(name, ".") &&
		utf8.ValidString(name) && Portable(name) == nil
}

// clean checks a report on a job, and cuts its texts. The time cannot be longer than that since the job was taken.
func (r *Report) clean(upload bool, since time.Duration) error {
	if r.End != Done && r.End != Failed || len(r.Outputs) > maxOutputs || r.Peak < 0 || r.Peak > maxSize {
		return errUnreadable()
	}
	for _, sum := range []string{r.SHA256, r.SourceSHA256} {
		if len(sum) > 64 {
			return errUnreadable()
		}
	}
	for _, o := range r.Outputs {
		if !validOutput(o.Name) || len(o.SHA256) > 64 || upload && !validSum(o.SHA256) {
			return refuse("the result %s does not have a valid file name", clip(o.Name, maxName))
		}
	}
	r.Sentence, r.Device = clip(r.Sentence, maxText), clip(r.Device, maxName)
	if math.IsNaN(r.Seconds) {
		r.Seconds = 0
	}
	r.Seconds = min(max(r.Seconds, 0), max(since.Seconds(), 0))
	return nil
}
