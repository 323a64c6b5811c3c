package work

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Workshop is where some work is done, one file after the other.
type Workshop struct {
	Work   Work
	Engine Engine
	// Folder is the folder of the results.
	Folder string
	// Texts writes in the language of reports; Program is the version of the program in them, and Now the time.
	Texts   *i18n.Printer
	Program string
	Now     func() time.Time
	// Inputs are files that no result may replace.
	Inputs FileSet
	// Completed says what the files are about that a killed run had finished and that have got their names since.
	Completed map[string]string
	// Read reads a picture; nil: imagefile.Read.
	Read func(ctx context.Context, path string, limits imagefile.Limits) (*imagefile.File, error)
}

// Outcome is the result of the work on a file.
type Outcome struct {
	File *imagefile.File
	// Mask is the mask without halo and veil; Found is the result of detection, nil if the mask was given.
	Mask  *processing.Mask
	Found *detect.Found
	// Saved describes the corrected picture; nil if there is none.
	Saved *imagefile.Saved
	// Device is what the work ran on. Summary describes the result in one line.
	Device, Summary string
	// Outputs are the files written, the result first; Shown are the same in the order in which people look at them.
	Outputs, Shown []string
	// Completed means that a killed run had finished all outputs; then nothing else is known.
	Completed bool
	// Remarks are sentences about the file and the device.
	Remarks []message.Message
	Stages  []processing.StageTime
}

// task is the work on one file.
type task struct {
	*Workshop
	Outcome
	input    string
	progress processing.Progress
	next     Step
	target   string // of the corrected picture
	account  report.Correction
	left     []detect.Finding
	// computed, if not nil, is called when the device is no longer needed.
	computed func()
}

// Do does the work on a file. progress gets its share that is done; it may be nil. computed, if not nil, is called when
// the device is no longer needed for the file. If existing files are in the way, the error is imagefile.ErrExists.
func (s *Workshop) Do(ctx context.Context, file string, progress processing.Progress, computed func()) (
	Outcome, error,
) {
	if progress == nil {
		progress = func(message.Message, float64) {}
	}
	t := &task{Workshop: s, input: file, progress: progress, computed: computed, next: Finding}
	do := t.correct
	if s.Work.Detect {
		do = t.detect
	}
	err := do(ctx)
	return t.Outcome, err
}

// timed does a part of the work and records its time in stages.
func timed(stages *[]processing.StageTime, name message.Text, do func() error) error {
	start := time.Now()
	err := do()
	*stages = append(*stages, processing.StageTime{Name: string(name), Time: time.Since(start)})
	return err
}

func (t *task) remark(text message.Message) { t.Remarks = append(t.Remarks, text) }

func (t *task) read(ctx context.Context) error {
	limits, err := t.Work.Limits()
	if err != nil {
		return err
	}
	read := t.Read
	if read == nil {
		read = imagefile.Read
	}
	t.progress(message.Of("reading"), 0)
	return timed(&t.Stages, "read file", func() error {
		t.File, err = read(ctx, t.input, limits)
		return err
	})
}

// steps does the steps of the work until one.
func (t *task) steps(ctx context.Context, until Step) error {
	region, err := t.Work.region()
	if err != nil {
		return err
	}
	s := Steps{
		Engine: reporting{t.Engine, t}, Params: t.Work.Params, Region: region, Until: until, Progress: t.progress,
	}
	_, err = s.Do(ctx, t.File.Picture, t)
	return err
}

func (t *task) Next() Step { return t.next }

func (t *task) Found(r *detect.Found) error {
	t.Stages = append(t.Stages, r.Timings...)
	t.Outcome.Found, t.Mask, t.next = r, r.Mask, Correcting
	return nil
}

// outputPath returns the path of a result with some ending.
func (t *task) outputPath(tail string) string { return filepath.Join(t.Folder, Stem(t.input)+tail) }

// about identifies the work on the file as it is now: the same name may be that of another picture later.
func (t *task) about() string {
	size, modified := int64(0), time.Time{}
	if t.File != nil {
		size, modified = t.File.Size, t.File.Modified
	} else if info, err := os.Stat(t.input); err == nil {
		size, modified = info.Size(), info.ModTime()
	}
	w := t.Work
	w.Params = processing.Params{} // the preset holds them
	data, _ := json.Marshal([]any{w, string(preset.Encode(t.Work.Params)), t.Program, size, modified.UnixNano()})
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// done reports whether all outputs were finished by a killed run that did the same work on the same file, and named
// since.
func (t *task) done(outputs []string) bool {
	if t.Work.Overwrite || len(t.Workshop.Completed) == 0 {
		return false
	}
	about := t.about()
	for _, path := range outputs {
		if t.Workshop.Completed[filepath.Base(path)] != about {
			return false
		}
	}
	t.Outcome.Completed, t.Outputs = true, outputs
	return true
}
