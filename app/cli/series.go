package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	workbatch "blik/app/batch"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/work"
	"blik/internal/message"
	"blik/internal/simd"
	"blik/processing"
	"blik/processing/detect"

	"github.com/spf13/cobra"
)

// series is one run of `blik detect` or `blik correct`: the work on files one after the other, each with all
// processors.
type series struct {
	workFlags
	deviceName, slice string
	timing, wantIndex bool

	device runner
	bar    *bar
	index  *contactSheet
	ahead  readAhead
}

// addSeries declares the flags of a series.
func addSeries(p *program, c *cobra.Command, kinds work.Kind, specs []processing.Spec) {
	s := &series{workFlags: workFlags{program: p}}
	s.addFlags(c, kinds, specs)
	f := c.Flags()
	addDevice(p, c, &s.deviceName)
	f.BoolVar(&s.wantIndex, "index", false, p.say("also write index.html, a page with a thumbnail of each file"))
	f.BoolVar(&s.timing, "timing", false, p.say("print the time of each stage, and the peak memory"))
	f.StringVar(&s.slice, "slice", "",
		p.say("process only part `I/N` of the list, for array jobs of a cluster: 0/8 to 7/8"))
	c.RunE = func(c *cobra.Command, args []string) error { return s.run(c.Context(), args) }
}

// run checks the flags and names of all files, and then processes those of this run.
func (s *series) run(ctx context.Context, args []string) error {
	files := expand(args)
	if err := s.check(files); err != nil {
		return err
	}
	if err := s.checkDevice(s.deviceName); err != nil {
		return err
	}
	if len(files) == 0 && s.params.savePreset == "" {
		return s.usage("no files given")
	}
	part, err := s.sliceOf(files)
	if err != nil {
		return err
	}
	w := work.Workshop{
		Work: s.Work, Folder: s.outDir, Texts: s.tr, Program: s.Version, Now: s.now, Read: s.read,
		Inputs: work.Existing(append(slices.Clone(files), s.params.preset)...),
	}
	// No part may overwrite outputs of another.
	err = s.Distinct(files)
	if err == nil {
		err = w.Refuse(files)
	}
	if err != nil {
		return &usageError{err}
	}
	if err := s.params.store(ctx, s.Params, s.Overwrite, part); err != nil || len(part) == 0 {
		return err
	}
	return s.process(ctx, &w, part)
}

// sliceOf returns the files of this run, by --slice, from a list that is sorted so that all runs use the same.
func (s *series) sliceOf(files []string) ([]string, error) {
	if s.slice == "" {
		return files, nil
	}
	part, of, _ := strings.Cut(s.slice, "/")
	i, errI := strconv.Atoi(part)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || n < 1 || i < 0 || i >= n {
		return nil, s.usage("--slice %s: must be I/N with I from 0 to N − 1", s.slice)
	}
	if s.wantIndex {
		return nil, s.usage("--slice and --index exclude each other: each part would write the page")
	}
	slices.Sort(files)
	var own []string
	for k := i; k < len(files); k += n {
		own = append(own, files[k])
	}
	return own, nil
}

// process opens folder and device, and processes the files. A file that fails is reported, and processing continues
// with the others.
func (s *series) process(ctx context.Context, w *work.Workshop, files []string) error {
	var err error
	if w.Completed, err = work.EnterFolder(s.outDir); err != nil {
		return err
	}
	if err := s.startIndex(); err != nil {
		return err
	}
	if s.device, err = s.openDevice(ctx, s.deviceName); err != nil {
		return err
	}
	defer s.device.Close()
	w.Engine = session.On(s.device)
	if !s.quiet {
		s.bar = newBar(s.terminal)
		defer s.bar.close()
	}
	defer s.ahead.end()
	failed, out := false, ""
	err = workbatch.Each(ctx, files, func(ctx context.Context, i int) (err error) {
		out, err = s.one(ctx, w, files, i)
		return err
	}, func(i int, err error) error {
		s.bar.clear()
		if err != nil {
			failed = true
			s.printError(err)
			s.index.addFailed(files[i], s.sentence(err))
			return nil
		}
		fmt.Fprint(s.Stdout, out)
		return nil
	})
	if err == nil {
		err = s.writeIndex(ctx)
	}
	if err == nil && failed {
		err = errReported
	}
	return err
}

// one processes one of the files and returns what to print. A panic is an error, so that the other files are still
// processed. Remarks on the file are printed if the work succeeds; a refusal is one line.
func (s *series) one(ctx context.Context, w *work.Workshop, files []string, i int) (text string, err error) {
	defer s.survive(files[i], &err)
	started := time.Now()
	s.ahead.next = ""
	var computed func()
	if i+1 < len(files) {
		s.ahead.next = files[i+1]
	} else {
		// The planes of the device are no longer needed, but their memory is.
		computed = func() { _ = s.device.Close() }
	}
	title := fmt.Sprintf("%d/%d %s", i+1, len(files), message.Printable(filepath.Base(files[i])))
	progress := func(stage message.Message, share float64) {
		s.bar.set(title, s.tr.Sprint(stage), (float64(i)+share)/float64(len(files)))
	}
	o, err := w.Do(ctx, files[i], progress, computed)
	if err == nil && !o.Completed {
		err = s.index.add(ctx, o)
	}
	if err != nil {
		return "", err
	}
	printRemarks(s.program, s.bar, files[i], o.Remarks)
	var out strings.Builder
	if !s.quiet {
		s.describe(&out, files[i], o)
	}
	if s.timing && !o.Completed {
		s.describeTimes(&out, files[i], o, time.Since(started))
	}
	return out.String(), nil
}

// largePicture is the number of pixels from which the heap may grow by heapGrowth per cent only before the garbage
// collector runs: planes hold no pointers, so that a run takes a millisecond or two.
const (
	largePicture = 8e6
	heapGrowth   = 5
)

// read reads a picture, and begins to read the next one if memory permits. After a large one the garbage collector runs
// often, unless the user has set GOGC.
func (s *series) read(ctx context.Context, path string, limits imagefile.Limits) (*imagefile.File, error) {
	file, err := s.ahead.picture(ctx, path, limits)
	if err == nil && s.Getenv("GOGC") == "" {
		percent := 100
		if float64(file.Picture.Width)*float64(file.Picture.Height) >= largePicture {
			percent = heapGrowth
		}
		debug.SetGCPercent(percent)
	}
	if next := s.ahead.next; err == nil && next != "" && roomForBoth(path, next, limits) {
		s.ahead.begin(ctx, s.program, next, limits)
	}
	return file, err
}

// printRemarks prints each remark on a file on its own line, in place of a bar.
func printRemarks(p *program, b *bar, input string, remarks []message.Message) {
	for _, text := range remarks {
		b.clear()
		p.printError(fmt.Errorf("%s: %s", input, p.tr.Sprint(text)))
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

// describe writes the outcome of a file: the result, and its proof or the values that were chosen.
func (s *series) describe(b *strings.Builder, input string, o work.Outcome) {
	shown, result := message.Printable(input), message.Printable(o.Outputs[0])
	if o.Completed {
		b.WriteString(s.say("%s: an earlier run was ended while it named the results; they are complete now: %s\n",
			shown, result))
		return
	}
	fmt.Fprintf(b, "%s: %s → %s\n", shown, o.Summary, result)
	if o.Saved == nil {
		s.describeChosen(b, o.Found)
		return
	}
	if o.Saved.Lossy {
		fmt.Fprintf(b, "  %s\n", s.say("JPEG: the blocks around changed pixels were encoded again."))
	}
	fmt.Fprintf(b, "  %s\n", s.tr.Sprint(o.Saved.Proof.Statement()))
}

// describeChosen writes the measurements and choices of adaptive mode with reasons.
func (s *series) describeChosen(b *strings.Builder, found *detect.Found) {
	var rows [][3]string
	var width [2]int
	for _, c := range found.Chosen {
		value := strings.TrimSpace(s.tr.Decimal(figure(c)) + " " + s.tr.Sprint(c.Unit))
		row := [3]string{s.tr.Sprint(c.Name), value, s.tr.Sprint(c.Why)}
		for i := range width {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		fmt.Fprintf(b, "  %s  %s  %s\n", column(row[0], width[0]), column(row[1], width[1]), row[2])
	}
}

// figure writes a chosen value as its parameter does, and a measured one with four significant digits.
func figure(c detect.Chosen) string {
	if s, ok := processing.SpecByID(c.ID); ok && s.Check(c.Value) == nil && s.Kind != processing.KindReal {
		return s.Format(c.Value)
	}
	return fmt.Sprintf("%.4g", c.Value)
}

// describeTimes writes the time of each stage and the peak memory of the process so far.
func (s *series) describeTimes(b *strings.Builder, input string, o work.Outcome, total time.Duration) {
	width := 0
	stages := append(o.Stages, processing.StageTime{Name: string(message.Text("total")), Time: total})
	for i, stage := range stages {
		stages[i].Name = s.say(message.Text(stage.Name))
		width = max(width, utf8.RuneCountInString(stages[i].Name))
	}
	device, pic := o.Device, o.File.Picture
	if device == "cpu" {
		device += ", " + s.say("kernels: %s", simd.Chosen().String())
	}
	b.WriteString(s.say("%s: %d × %d, %d channels of %d bits, device %s\n", message.Printable(input), pic.Width,
		pic.Height, pic.Channels, pic.Depth(), device))
	for _, stage := range stages {
		share := 100 * float64(stage.Time) / float64(max(total, 1))
		ms := s.tr.Decimal(fmt.Sprintf("%9.1f", float64(stage.Time)/1e6))
		fmt.Fprintf(b, "  %s %s %s %s %%\n", column(stage.Name, width), ms, s.say("ms"),
			s.tr.Decimal(fmt.Sprintf("%5.1f", share)))
	}
	if peak := peakMemory(); peak > 0 {
		b.WriteString(s.say("  peak memory %d MiB\n", peak>>20))
	}
}
