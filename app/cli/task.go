package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"blik/app/imagefile"
	"blik/app/session"
	"blik/internal/message"
	"blik/internal/simd"
	"blik/processing"
	"blik/processing/detect"
)

// task is the work on one file of a batch.
type task struct {
	*batch
	input string
	index int // of the file in the batch
	// out is printed after the work, remarks before it.
	out     strings.Builder
	remarks []message.Message

	// shown is the display name of the input, title the one on the progress bar.
	shown   string
	title   string
	of      int // files in the batch
	next    string
	started time.Time
	stages  []processing.StageTime
}

func newTask(b *batch, input string, index, of int) *task {
	title := fmt.Sprintf("%d/%d %s", index+1, of, message.Printable(filepath.Base(input)))
	return &task{
		batch: b, input: input, shown: message.Printable(input), index: index, of: of, title: title,
		started: time.Now(),
	}
}

// run calls process and turns a panic into an error, so that the other files are still processed.
//
// Remarks on the file are printed if the work succeeds; a refusal is one line.
func (t *task) run(ctx context.Context, process func(context.Context, *task) error) (err error) {
	defer t.survive(t.input, &err)
	if err := process(ctx, t); err != nil {
		return err
	}
	t.printRemarks()
	return nil
}

// printRemarks prints each remark on its own line.
func (t *task) printRemarks() {
	for _, text := range t.remarks {
		t.bar.clear()
		t.printError(fmt.Errorf("%s: %s", t.input, t.tr.Sprint(text)))
	}
}

// survive, when deferred, turns a panic into an error about the input.
func (p *program) survive(input string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	*err = message.Errorf("%s: internal error: %v", input, r)
	if p.Recovered == nil {
		return
	}
	if log := p.Recovered(r, debug.Stack()); log != "" {
		*err = message.Errorf("%w; details in %s", *err, log)
	}
}

// progress returns the progress function for a part of the work on the file, between two shares of it.
func (t *task) progress(from, to float64) processing.Progress {
	return func(stage message.Message, done float64) {
		share := from + done*(to-from)
		t.bar.set(t.title, t.tr.Sprint(stage), (float64(t.index)+share)/float64(t.of))
	}
}

// timed runs a part of the work and records its time for --timing.
func (t *task) timed(name message.Text, do func() error) error {
	start := time.Now()
	err := do()
	t.stages = append(t.stages, processing.StageTime{Name: string(name), Time: time.Since(start)})
	return err
}

// largePicture is the number of pixels from which the heap may grow by heapGrowth per cent only before the garbage
// collector runs: planes hold no pointers, so that a run takes a millisecond or two.
const (
	largePicture = 8e6
	heapGrowth   = 5
)

// read reads the picture. After a large one the garbage collector runs often, unless the user has set GOGC.
func (t *task) read(ctx context.Context) (file *imagefile.File, err error) {
	t.progress(0, 0)(message.Of("reading"), 0)
	err = t.timed("read file", func() error {
		file, err = t.ahead.take(ctx, t.input, t.limits)
		return err
	})
	if err == nil && t.Getenv("GOGC") == "" {
		percent := 100
		if float64(file.Picture.Width)*float64(file.Picture.Height) >= largePicture {
			percent = heapGrowth
		}
		debug.SetGCPercent(percent)
	}
	if err == nil && t.next != "" && t.roomForNext() {
		t.ahead.begin(ctx, t.program, t.next, t.limits)
	}
	return file, err
}

// detect finds the glare of the picture.
func (t *task) detect(ctx context.Context, pic *processing.Picture, progress processing.Progress) (
	*processing.Result, error,
) {
	if t.region != nil {
		if err := t.region.Validate(pic.Width, pic.Height); errors.Is(err, processing.ErrRegionOutside) {
			return nil, message.Errorf("%s: the region %s lies outside the picture of %d × %d pixels",
				t.input, t.region, pic.Width, pic.Height)
		}
	}
	o := detect.Options{Region: t.region, Progress: progress}
	r, notice, err := session.On(t.device).Detect(ctx, pic, t.params, o)
	if err = t.computed(notice, err); err != nil {
		return nil, err
	}
	t.stages = append(t.stages, r.Timings...)
	return &r.Result, nil
}

// correct removes what is in the mask from the picture.
func (t *task) correct(ctx context.Context, pic *processing.Picture, mask *processing.Mask,
	progress processing.Progress,
) (*processing.Correction, error) {
	o := processing.CorrectOptions{Progress: progress}
	c, notice, err := session.On(t.device).Correct(ctx, pic, mask, t.params, o)
	if err = t.computed(notice, err); err == nil {
		t.stages = append(t.stages, c.Timings...)
	}
	return c, err
}

// computed prints the notice of a device and adds the name of the file to an error.
func (t *task) computed(notice *message.Message, err error) error {
	if notice != nil {
		t.remark(*notice)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.input, err)
	}
	return nil
}

// remark keeps a remark on the file.
func (t *task) remark(text message.Message) { t.remarks = append(t.remarks, text) }

// printTimings prints the time of each stage and the peak memory of the process so far.
func (t *task) printTimings(pic *processing.Picture, device string) {
	total := time.Since(t.started)
	width := 0
	stages := append(t.stages, processing.StageTime{Name: string(message.Text("total")), Time: total})
	for i, s := range stages {
		stages[i].Name = t.say(message.Text(s.Name))
		width = max(width, utf8.RuneCountInString(stages[i].Name))
	}
	if device == "cpu" {
		device += ", " + t.say("kernels: %s", simd.Chosen().String())
	}
	t.out.WriteString(t.say("%s: %d × %d, %d channels of %d bits, device %s\n",
		t.shown, pic.Width, pic.Height, pic.Channels, pic.Depth(), device))
	for _, s := range stages {
		share := 100 * float64(s.Time) / float64(max(total, 1))
		ms := t.tr.Decimal(fmt.Sprintf("%9.1f", float64(s.Time)/1e6))
		fmt.Fprintf(&t.out, "  %s %s %s %s %%\n", column(s.Name, width), ms, t.say("ms"),
			t.tr.Decimal(fmt.Sprintf("%5.1f", share)))
	}
	if peak := peakMemory(); peak > 0 {
		t.out.WriteString(t.say("  peak memory %d MiB\n", peak>>20))
	}
}
