package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Engine detects and corrects glare. A notice, if not nil, is a sentence for the user about the device that was used.
type Engine interface {
	Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
		r *detect.Result, notice *message.Message, err error)
	Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
		o correct.Options) (c *correct.Correction, notice *message.Message, err error)
}

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
	// Completed holds the names of the files that a killed run had finished and that have got their names since.
	Completed map[string]bool
	// Read reads a picture; nil: imagefile.Read.
	Read func(ctx context.Context, path string, limits imagefile.Limits) (*imagefile.File, error)
}

// Outcome is the result of the work on a file.
type Outcome struct {
	File *imagefile.File
	// Mask is the mask without halo and veil; Found is the result of detection, nil if the mask was given.
	Mask  *processing.Mask
	Found *processing.Result
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
	t := &task{Workshop: s, input: file, progress: progress, computed: computed}
	do := t.correct
	if s.Work.Detect {
		do = t.detect
	}
	err := do(ctx)
	return t.Outcome, err
}

// The approximate shares of the work on a file at which its parts end: reading, detection, correction; and detection,
// if nothing is corrected.
const (
	shareRead      = 0.15
	shareDetected  = 0.5
	shareCorrected = 0.85
	shareFound     = 0.9
)

// part returns the progress function for a part of the work, between two shares of it.
func (t *task) part(from, to float64) processing.Progress {
	return func(stage message.Message, done float64) { t.progress(stage, from+done*(to-from)) }
}

// timed does a part of the work and records its time.
func (t *task) timed(name message.Text, do func() error) error {
	start := time.Now()
	err := do()
	t.Stages = append(t.Stages, processing.StageTime{Name: string(name), Time: time.Since(start)})
	return err
}

func (t *task) remark(text message.Message) { t.Remarks = append(t.Remarks, text) }

// read reads the picture.
func (t *task) read(ctx context.Context) error {
	limits, err := t.Work.Limits()
	if err != nil {
		return err
	}
	read := t.Read
	if read == nil {
		read = imagefile.Read
	}
	t.part(0, 0)(message.Of("reading"), 0)
	return t.timed("read file", func() error {
		t.File, err = read(ctx, t.input, limits)
		return err
	})
}

// find finds the glare of the picture.
func (t *task) find(ctx context.Context, progress processing.Progress) error {
	pic := t.File.Picture
	region, err := t.Work.region()
	if err != nil {
		return err
	}
	if region != nil && errors.Is(region.Validate(pic.Width, pic.Height), processing.ErrRegionOutside) {
		return message.Errorf("%s: the region %s lies outside the picture of %d × %d pixels", t.input, region,
			pic.Width, pic.Height)
	}
	o := detect.Options{Region: region, Progress: progress}
	r, notice, err := t.Engine.Detect(ctx, pic, t.Work.Params, o)
	if err = t.used(notice, err); err != nil {
		return err
	}
	t.Stages = append(t.Stages, r.Timings...)
	t.Found, t.Mask = &r.Result, r.Mask
	return nil
}

// used keeps the notice of a device and adds the name of the file to an error.
func (t *task) used(notice *message.Message, err error) error {
	if notice != nil {
		t.remark(*notice)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.input, err)
	}
	return nil
}

// at returns the path of a result with some ending.
func (t *task) at(tail string) string { return filepath.Join(t.Folder, Stem(t.input)+tail) }

// done reports whether all outputs were finished by a killed run and named since.
func (t *task) done(outputs []string) bool {
	for _, path := range outputs {
		if t.Work.Overwrite || !t.Workshop.Completed[filepath.Base(path)] {
			return false
		}
	}
	t.Outcome.Completed, t.Outputs = len(outputs) > 0, outputs
	return len(outputs) > 0
}
