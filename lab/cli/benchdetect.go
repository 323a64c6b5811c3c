package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"blik/app/device"
	"blik/app/imagefile"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/detect"

	"github.com/spf13/cobra"
)

// comparison is one run of `blik bench detect`.
type comparison struct {
	benchOutput
	params        func() (processing.Params, error)
	store         func(ctx context.Context, p processing.Params, overwrite bool, inputs []string) error
	devices       []string
	input         string
	megapixels    float64
	depth, repeat int
	seed          uint64
	quick         bool
}

// The defaults of `blik bench detect`, without and with --quick.
const (
	compareMP, quickMP         = 18.7, 1
	compareRepeat, quickRepeat = 9, 3
	maxRepeats                 = 10000
)

// compareBytes is the memory for painting a picture and finding its glare, in bytes per pixel: the process peaked at 54
// with 24 MP of 8 bits, at 56 with 16.
const compareBytes = 56

// fits refuses to paint a picture that needs more than limit bytes.
func (b *comparison) fits(limit int64) error {
	if need := b.megapixels * 1e6 * compareBytes; b.input == "" && need > float64(limit) {
		return b.Usage("--megapixels %g: takes %.1f GiB of memory, more than the limit of %.1f GiB",
			b.megapixels, need/(1<<30), float64(limit)/(1<<30))
	}
	return nil
}

func (t *tool) benchDetectCommand() *cobra.Command {
	b := &comparison{benchOutput: benchOutput{tool: t}}
	c := &cobra.Command{
		Use:   detectionName + " [flags]",
		Short: t.Say("Measure detection on the CPU and on GPUs side by side"),
		Long: t.Say(`Finds the glare of one picture on every device with the same parameters, and prints the times of
each stage: copies to the device, kernels, copies back and the total, cold (opening the device and the first detection)
and warm (medians with quartiles). It also prints the speed-up, and the bytes per second of each stage and their share
of the rate of a plain copy on that device. It reports whether the masks and findings are identical, and why there is no
GPU.

Exit status: 0 success, 1 a device failed or the results differ, 2 usage error, 130 cancelled.`),
		Args: t.Exactly(0),
	}
	f := c.Flags()
	f.StringSliceVar(&b.devices, "device", nil,
		t.Say("compare these `DEVICES`, comma-separated: cpu, cuda, cuda:N; by default all"))
	f.StringVar(&b.input, "input", "", t.Say("use the picture in `FILE` instead of a generated one"))
	f.Float64Var(&b.megapixels, "megapixels", compareMP,
		t.Say("size of the generated picture in megapixels (`MP`) at 4:3"))
	f.IntVar(&b.depth, "depth", 8, t.Say("`bits` per sample of the generated picture: 8 or 16"))
	f.Uint64Var(&b.seed, "seed", 1, t.Say("random `seed` of it"))
	f.IntVar(&b.repeat, "repeat", compareRepeat, t.Say("time `N` warm detections on each device"))
	f.BoolVar(&b.quick, "quick", false, t.Say("quick run: %d MP, %d repetitions", quickMP, quickRepeat))
	b.addFlags(c)
	offered := func(c *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		names, directive := t.CompleteDevices(c, args, text)
		return slices.DeleteFunc(names, func(name string) bool { return name == "auto" }), directive
	}
	must(c.RegisterFlagCompletionFunc("device", offered))
	b.params, b.store = t.AddParams(c, processing.SpecsOf(processing.StageDetection))
	c.RunE = func(c *cobra.Command, _ []string) error {
		if b.quick && !f.Changed("megapixels") {
			b.megapixels = quickMP
		}
		if b.quick && !f.Changed("repeat") {
			b.repeat = quickRepeat
		}
		return b.run(c.Context())
	}
	return c
}

// request derives the request from the flags, without its picture.
func (b *comparison) request() (bench.Request, error) {
	var r bench.Request
	var err error
	if r.Params, err = b.params(); err != nil {
		return r, err
	}
	if err := b.CheckChoice("format", b.format, benchFormats()); err != nil {
		return r, err
	}
	switch {
	case b.repeat < 1 || b.repeat > maxRepeats:
		return r, b.Usage("--repeat %d: must be between 1 and %d", b.repeat, maxRepeats)
	case !(b.megapixels > 0 && b.megapixels <= sampleMaxMP):
		return r, b.Usage("--megapixels %g: must be above 0 and at most %d", b.megapixels, sampleMaxMP)
	case b.depth != 8 && b.depth != 16:
		return r, b.Usage("--depth %d: must be 8 or 16", b.depth)
	}
	for _, name := range b.devices {
		if device.Check(name) != nil || name == "" || name == "auto" {
			return r, b.Usage("--device %s: must be cpu, cuda or cuda:N", name)
		}
	}
	if err := b.fits(imagefile.DefaultLimits().Bytes); err != nil {
		return r, err
	}
	r.Devices, r.Repeat = b.devices, b.repeat
	r.Open = b.open
	return r, nil
}

// picture reads the user's picture or paints one.
func (b *comparison) picture(ctx context.Context) (*processing.Picture, error) {
	if b.input != "" {
		limits := imagefile.DefaultLimits()
		limits.Work = detect.BytesPerPixel
		file, err := imagefile.Read(ctx, b.input, limits)
		if err != nil {
			return nil, err
		}
		return file.Picture, nil
	}
	glare, err := synth.Preset("default")
	if err != nil {
		return nil, err
	}
	w, h := sidesOf(b.megapixels, 1)
	pic, _, _, err := synth.Generate(ctx, w, h, b.depth, b.seed, synth.PaintOptions{}, glare)
	return pic, err
}

func (b *comparison) run(ctx context.Context) error {
	before := bench.SinceStart()
	r, err := b.request()
	if err != nil {
		return err
	}
	r.Before = before
	if err := b.store(ctx, r.Params, b.overwrite, nil); err != nil {
		return err
	}
	if err := b.start(detectionName); err != nil {
		return err
	}
	progress := b.Progress(b.quiet)
	defer progress.Close()
	progress.Set("detect", b.Say("picture"), 0)
	if r.Picture, err = b.picture(ctx); err != nil {
		return err
	}
	r.Progress = func(p bench.Progress) { progress.Set(p.Device, b.Printer.Sprint(p.Doing), p.Done) }
	machine := bench.ThisMachine(b.Version, b.Now())
	c, err := bench.Compare(ctx, r)
	progress.Clear()
	if err != nil {
		return err
	}
	for _, m := range c.Devices {
		if m.Name != "cpu" && m.State != experiment.NeedsGPU {
			machine.GPUs = append(machine.GPUs, m.Title)
		}
	}
	err = b.publish(
		func(w io.Writer) error { return c.Table(w, machine, b.Printer) },
		c.CSV,
		func(w io.Writer) error { return c.JSON(w, machine, b.Printer) },
		func() ([]string, error) { return c.Save(ctx, b.dir, b.overwrite, machine, b.Printer) },
	)
	if err != nil {
		return err
	}
	return b.judge(c)
}

// judge reports failures, missing devices and differing results as errors.
func (b *comparison) judge(c *bench.Comparison) error {
	failed := false
	for _, m := range c.Devices {
		if m.State != experiment.Measured {
			failed = true
			b.PrintError(errors.New(b.Failure(m.Name, m.Note)))
		}
	}
	for _, d := range c.Differences {
		failed = true
		b.PrintError(fmt.Errorf("%s", b.Printer.Sprint(d.Text())))
	}
	if failed {
		return b.Reported()
	}
	return nil
}
