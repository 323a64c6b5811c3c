package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// work is what detect and correct have in common: where to write, what to compute on, the parameters, and many files
// one after the other.
type work struct {
	*program
	flags *paramFlags

	out, regionText, deviceName string
	limit                       float64
	quiet, timing, wantIndex    bool

	params processing.Params
	region *processing.Region
	limits imagefile.Limits
	device runner
	bar    *bar
	index  *contactSheet
}

// addOutput declares the flag of the output folder; the others follow with addWork, so that a command can put its own
// between them.
func (w *work) addOutput(c *cobra.Command) {
	c.Flags().StringVarP(&w.out, "output", "o", ".", w.say("write into folder `DIR`, made if missing"))
	must(c.MarkFlagDirname("output"))
}

func (w *work) addWork(c *cobra.Command, specs []processing.Spec) {
	f := c.Flags()
	f.StringVar(&w.regionText, "region", "", w.say("search only in this `REGION` (pixels): rect:x,y,w,h, ellipse:x,y,w,h or polygon:x,y,x,y,…"))
	f.StringVar(&w.deviceName, "device", "auto", w.say("`DEVICE` to compute on: auto, cpu, cuda or cuda:N, as blik devices lists them"))
	f.BoolVar(&w.timing, "timing", false, w.say("print the time of each stage, and the peak memory"))
	f.BoolVarP(&w.quiet, "quiet", "q", false, w.say("print nothing but errors"))
	f.Float64Var(&w.limit, "limit", 1000, w.say("refuse pictures of more than `N` megapixels"))
	must(c.RegisterFlagCompletionFunc("device", completeDevices))
	w.flags = w.addParams(c, specs)
}

// checkFlags makes parameters, region and limits of the flags.
func (w *work) checkFlags() error {
	var err error
	if w.params, err = w.flags.params(); err != nil {
		return err
	}
	if w.regionText != "" {
		if w.region, err = processing.ParseRegion(w.regionText); err != nil {
			return w.usage("--region: %v", err)
		}
	}
	if err := w.checkDevice(w.deviceName); err != nil {
		return err
	}
	if !(w.limit > 0 && w.limit <= 1e6) {
		return w.usage("--limit %g: must be a positive number of megapixels", w.limit)
	}
	w.limits = imagefile.DefaultLimits()
	w.limits.Pixels = int64(w.limit * 1e6)
	w.limits.Work = processing.DetectionBytes
	return nil
}

// start makes the output folder and the device, which the caller closes.
func (w *work) start(ctx context.Context) error {
	if err := w.makeFolder(w.out); err != nil {
		return err
	}
	var err error
	w.device, err = w.openDevice(ctx, w.deviceName)
	return err
}

// compute runs a job on the device; where it goes on elsewhere, the user is told.
func (w *work) compute(ctx context.Context, input string, pic *processing.Picture, job func(context.Context, processing.Backend) error) error {
	notice, err := w.device.Run(ctx, pic.Width*pic.Height, job)
	if notice != nil {
		w.remark(input, *notice)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", input, err)
	}
	return nil
}

// remark tells something about a file that is being worked on, on a line that the bar leaves.
func (w *work) remark(input string, text message.Message) {
	w.bar.clear()
	w.complain(fmt.Errorf("%s: %s", input, w.tr.Sprint(text)))
}

// told is where the stage of a file and its share done go.
type told func(stage string, share float64)

// makeFolder makes the output folder with its parents.
func (p *program) makeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return message.Errorf("%s: no permission to make this folder", dir)
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return message.Errorf("%s: this is a file, not a folder", dir)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return message.Errorf("%s: the folder cannot be made (%w)", dir, err)
}

// all does the files one after the other, each with all processors. One that fails is reported and the others go on. What
// one returns is printed.
func (w *work) all(ctx context.Context, files []string, one func(ctx context.Context, i int, progress told) (string, error)) error {
	if !w.quiet {
		w.bar = newBar(w.Stderr)
		defer w.bar.close()
	}
	failed := false
	for i, file := range files {
		progress := func(stage string, share float64) {
			w.bar.set(fmt.Sprintf("%d/%d %s", i+1, len(files), filepath.Base(file)), stage, (float64(i)+share)/float64(len(files)))
		}
		text, err := w.guarded(file, func() (string, error) { return one(ctx, i, progress) })
		w.bar.clear()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = true
			w.complain(err)
			w.index.addFailed(file, w.sentence(err))
			continue
		}
		if _, err := io.WriteString(w.Stdout, text); err != nil {
			return err
		}
	}
	if err := w.writeIndex(ctx); err != nil {
		return err
	}
	if failed {
		return errReported
	}
	return nil
}

// largePicture is the number of pixels from which memory counts more than a tenth of the time.
const largePicture = 50e6

// read reads a picture. Where it is large, and unless the user has set GOGC, memory that is no longer used is collected when
// it amounts to a quarter of what is, not to as much again: 2.1 GiB in place of 3.2 for 100 MP of 16-bit RGB, for a tenth
// more time.
func (w *work) read(ctx context.Context, path string) (*imagefile.File, error) {
	file, err := imagefile.Read(ctx, path, w.limits)
	if err == nil && w.Getenv("GOGC") == "" {
		percent := 100
		if float64(file.Picture.Width)*float64(file.Picture.Height) >= largePicture {
			percent = 25
		}
		debug.SetGCPercent(percent)
	}
	return file, err
}

// guarded does a file and makes an error of a panic, so that the other files are still done.
func (w *work) guarded(file string, do func() (string, error)) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			where := ""
			if w.Recovered != nil {
				where = w.Recovered(r, debug.Stack())
			}
			err = message.Errorf("%s: internal error: %v", file, r)
			if where != "" {
				err = message.Errorf("%w; details in %s", err, where)
			}
		}
	}()
	return do()
}

// detect finds the glare of a picture.
func (w *work) detect(ctx context.Context, input string, pic *processing.Picture, progress func(message.Message, float64)) (*processing.Result, error) {
	if w.region != nil {
		if err := w.region.Validate(pic.Width, pic.Height); errors.Is(err, processing.ErrRegionOutside) {
			return nil, message.Errorf("%s: the region %s lies outside the picture of %d × %d pixels", input, w.region, pic.Width, pic.Height)
		}
	}
	var res *processing.Result
	err := w.compute(ctx, input, pic, func(ctx context.Context, b processing.Backend) (err error) {
		res, err = processing.Detect(ctx, b, pic, w.params, processing.Options{Region: w.region, Progress: progress})
		return err
	})
	return res, err
}

// stageNames are the names of stages in the user's language: timings have the English ones, progress tells both.
type stageNames struct {
	tr *i18n.Printer
	mu sync.Mutex
	of map[string]string
}

// tell returns the name of a stage and remembers it.
func (n *stageNames) tell(stage message.Message) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]string{}
	}
	n.of[stage.String()] = n.tr.Sprint(stage)
	return n.of[stage.String()]
}

// translate returns the times with the names that were told.
func (n *stageNames) translate(times []processing.StageTime) []processing.StageTime {
	n.mu.Lock()
	defer n.mu.Unlock()
	times = slices.Clone(times)
	for i, t := range times {
		if name, ok := n.of[t.Name]; ok {
			times[i].Name = name
		}
	}
	return times
}

// timings prints the time of each stage and the peak memory of the process so far.
func (w *work) timings(b *strings.Builder, input string, pic *processing.Picture, device string, stages []processing.StageTime, total time.Duration) {
	name := w.say("total")
	wide := utf8.RuneCountInString(name)
	for _, s := range stages {
		wide = max(wide, utf8.RuneCountInString(s.Name))
	}
	fmt.Fprint(b, w.say("%s: %d × %d, %d channels of %d bits, device %s\n",
		input, pic.Width, pic.Height, pic.Channels, pic.Depth(), device))
	for _, s := range append(stages, processing.StageTime{Name: name, Time: total}) {
		fmt.Fprintf(b, "  %s %9.1f %s %5.1f %%\n", column(s.Name, wide), float64(s.Time)/1e6, w.say("ms"), 100*float64(s.Time)/float64(max(total, 1)))
	}
	if peak := peakMemory(); peak > 0 {
		fmt.Fprint(b, w.say("  peak memory %d MiB\n", peak>>20))
	}
}
