package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"blik/app/imagefile"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// batch is the part common to detect and correct: output folder, device, parameters, and the files to process one after
// the other.
type batch struct {
	*program
	flags *paramFlags

	outDir, regionText, deviceName string
	sliceText                      string
	part, parts                    int
	limit                          float64
	quiet, timing, wantIndex       bool
	overwrite                      bool

	params processing.Params
	region *processing.Region
	limits imagefile.Limits
	device runner
	bar    *bar
	index  *contactSheet
	ahead  readAhead
	// completed holds the files that a killed run had finished and that got their names from this run.
	completed map[string]bool
	// made, if not nil, is called with the outputs of each file.
	made func(made)
}

// made describes the outputs of a file: the known checksums, and the paths, the result first.
type made struct {
	sourceSHA256, sha256, device, summary string
	outputs                               []string
}

// reportOutputs reports the outputs of a file.
func (b *batch) reportOutputs(m made) {
	if b.made != nil {
		b.made(m)
	}
}

// addOutput declares the flag for the output folder; the other flags follow with addShared, so that a command can place
// its own in between.
func (b *batch) addOutput(c *cobra.Command) {
	c.Flags().StringVarP(&b.outDir, "output", "o", ".", b.say("write into folder `DIR`, created if missing"))
	must(c.MarkFlagDirname("output"))
	b.addOverwrite(c, &b.overwrite)
}

// addOverwrite declares the flag that permits replacing files.
func (p *program) addOverwrite(c *cobra.Command, overwrite *bool) {
	c.Flags().BoolVar(overwrite, "overwrite", false, p.say("overwrite existing files; inputs are never overwritten"))
}

// addShared declares the common flags of both commands and the flags of the parameters.
func (b *batch) addShared(c *cobra.Command, specs []processing.Spec) {
	f := c.Flags()
	f.StringVar(&b.regionText, "region", "",
		b.say("search only in this `REGION` (pixels): rect:x,y,w,h, ellipse:x,y,w,h or polygon:x,y,x,y,…"))
	f.StringVar(&b.deviceName, "device", "auto",
		b.say("`DEVICE` to compute on: auto, cpu, cuda or cuda:N, as listed by blik devices"))
	f.BoolVar(&b.timing, "timing", false, b.say("print the time of each stage, and the peak memory"))
	f.BoolVarP(&b.quiet, "quiet", "q", false, b.say("print nothing but errors"))
	b.addLimit(c, &b.limit)
	f.StringVar(&b.sliceText, "slice", "",
		b.say("process only part `I/N` of the list, for array jobs of a cluster: 0/8 to 7/8"))
	must(c.RegisterFlagCompletionFunc("device", completeDevices))
	b.flags = b.addParams(c, specs)
}

// checkFlags derives parameters, region and limits from the flags.
func (b *batch) checkFlags() error {
	var err error
	if b.params, err = b.flags.params(); err != nil {
		return err
	}
	if b.regionText != "" {
		if b.region, err = processing.ParseRegion(b.regionText); err != nil {
			return b.usage("--region: %v", err)
		}
	}
	if err := b.checkDevice(b.deviceName); err != nil {
		return err
	}
	if b.limits, err = b.limitsOf(b.limit); err != nil {
		return err
	}
	b.limits.Work = processing.DetectionBytes
	return nil
}

// addLimit declares the flag for the largest picture size.
func (p *program) addLimit(c *cobra.Command, limit *float64) {
	c.Flags().Float64Var(limit, "limit", 1000, p.say("refuse pictures of more than `N` megapixels"))
}

// limitsOf returns the limits for pictures of at most the given number of megapixels.
func (p *program) limitsOf(megapixels float64) (imagefile.Limits, error) {
	limits := imagefile.DefaultLimits()
	if !(megapixels > 0 && megapixels <= 1e6) {
		return limits, p.usage("--limit %g: must be a positive number of megapixels", megapixels)
	}
	limits.Pixels = int64(megapixels * 1e6)
	return limits, nil
}

// inputs returns the files named by the arguments. Without arguments, --save-preset is required.
func (b *batch) inputs(args []string) ([]string, error) {
	files := expand(args)
	if len(files) == 0 && b.flags.savePreset == "" {
		return nil, b.usage("no files given")
	}
	if b.sliceText == "" {
		return files, nil
	}
	if err := b.parseSlice(); err != nil {
		return nil, err
	}
	// All parts use the same list, even if the shells sort differently.
	slices.Sort(files)
	return files, nil
}

// parseSlice reads --slice.
func (b *batch) parseSlice() error {
	part, of, _ := strings.Cut(b.sliceText, "/")
	i, errI := strconv.Atoi(part)
	n, errN := strconv.Atoi(of)
	if errI != nil || errN != nil || n < 1 || i < 0 || i >= n {
		return b.usage("--slice %s: must be I/N with I from 0 to N − 1", b.sliceText)
	}
	if b.wantIndex {
		return b.usage("--slice and --index exclude each other: each part would write the page")
	}
	b.part, b.parts = i, n
	return nil
}

// sliced returns the elements of this run's part of the list of files. Names and outputs are checked for the whole list
// first, so that no part overwrites outputs of another.
func sliced[T any](b *batch, all []T) []T {
	if b.parts == 0 {
		return all
	}
	var own []T
	for k := b.part; k < len(all); k += b.parts {
		own = append(own, all[k])
	}
	return own
}

// run stores the preset, opens folder and device, and processes the files one after the other, each with all
// processors; the next one is read meanwhile if memory permits. A file that fails is reported, and processing continues
// with the others.
func (b *batch) run(ctx context.Context, files []string, process func(context.Context, *task) error) error {
	if err := b.flags.store(ctx, b.params, b.overwrite, files); err != nil || len(files) == 0 {
		return err
	}
	var err error
	if b.completed, err = b.enterFolder(b.outDir); err != nil {
		return err
	}
	if err := b.startIndex(b.overwrite); err != nil {
		return err
	}
	if b.device, err = b.openDevice(ctx, b.deviceName); err != nil {
		return err
	}
	defer b.device.Close()
	if !b.quiet {
		b.bar = newBar(b.terminal)
		defer b.bar.close()
	}
	defer b.ahead.end()
	failed := false
	for i, input := range files {
		t := newTask(b, input, i, len(files))
		if i+1 < len(files) {
			t.next = files[i+1]
		}
		err := t.run(ctx, process)
		b.bar.clear()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = true
			b.printError(err)
			b.index.addFailed(input, b.sentence(err))
		default:
			if _, err := io.WriteString(b.Stdout, t.out.String()); err != nil {
				return err
			}
		}
	}
	if err := b.writeIndex(ctx); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

// finished reports whether all outputs of a file were finished by a killed run and named by this one, and says so.
func (t *task) finished(outputs []string) bool {
	for _, path := range outputs {
		if t.overwrite || !t.completed[filepath.Base(path)] {
			return false
		}
	}
	if !t.quiet {
		t.out.WriteString(t.say("%s: an earlier run was ended while it named the results; they are complete now: %s\n",
			t.shown, message.Printable(outputs[0])))
	}
	return len(outputs) > 0
}

// makeFolder creates a folder with its parents, and completes or removes outputs of killed processes in it.
func (p *program) makeFolder(dir string) error {
	_, err := p.enterFolder(dir)
	return err
}

// enterFolder is makeFolder, and returns the names of the outputs that it has completed.
func (p *program) enterFolder(dir string) (map[string]bool, error) {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		completed := map[string]bool{}
		// Folders that cannot be read or written are skipped.
		names, _ := atomicfile.Complete(atomicfile.Disk{}, dir)
		for _, name := range names {
			completed[name] = true
		}
		return completed, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, message.Errorf("%s: no permission to create this folder", dir)
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return nil, message.Errorf("%s: this is a file, not a folder", dir)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, message.Errorf("%s: the folder cannot be created (%w)", dir, err)
}
