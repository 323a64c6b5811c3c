package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"blik/app/device"
	"blik/app/imagefile"
	"blik/lab/bench"
	"blik/lab/experiment"
	"blik/lab/gpu"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Names that `blik bench` accepts in addition to those of experiments: everyExperiment runs all of them, detectionName
// is a subcommand.
const (
	everyExperiment = "all"
	detectionName   = "detect"
)

// benchOutput is common to both benchmarks: it writes their results.
type benchOutput struct {
	*tool
	format, dir string
	quiet       bool
	overwrite   bool
}

func (o *benchOutput) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.dir, "output", "o", "", o.Say("also write tables and plots into folder `DIR`, created if missing"))
	o.AddOverwrite(c, &o.overwrite)
	f.StringVar(&o.format, "format", "table", o.Say("`FORMAT` of the output: table, csv or json"))
	f.BoolVarP(&o.quiet, "quiet", "q", false, o.Say("show no progress"))
	must(c.MarkFlagDirname("output"))
	o.CompleteWith(c, "format", benchFormats())
}

// start creates the output folder, and refuses immediately to replace existing tables in it.
func (o *benchOutput) start(names ...string) error {
	if o.dir == "" {
		return nil
	}
	if err := o.MakeFolder(o.dir); err != nil {
		return err
	}
	var tables []string
	for _, name := range names {
		for _, extension := range []string{".txt", ".md", ".csv", ".json"} {
			tables = append(tables, filepath.Join(o.dir, name+extension))
		}
	}
	return o.Free(tables, o.overwrite, nil, "")
}

// publish prints results in the requested format and saves their files.
func (o *benchOutput) publish(table, csv, json func(io.Writer) error, save func() ([]string, error)) error {
	err := map[string]func(io.Writer) error{"table": table, "csv": csv, "json": json}[o.format](o.Stdout)
	if err != nil || o.dir == "" {
		return err
	}
	written, err := save()
	if o.format == "table" && len(written) > 0 {
		fmt.Fprint(o.Stdout, o.Say("\nWritten:\n  %s\n", strings.Join(written, "\n  ")))
	}
	return err
}

// benchmark is one run of `blik bench`.
type benchmark struct {
	benchOutput
	variants, sizes, values []string
	input, deviceName       string
	quick                   bool
	memory, longest         float64
}

func (t *tool) benchCommand() *cobra.Command {
	b := &benchmark{benchOutput: benchOutput{tool: t}}
	c := &cobra.Command{
		Use:   "bench [flags] [" + t.Say("EXPERIMENT") + "]",
		Short: t.Say("Repeat the experiments behind the program"),
		Long: t.Say(`Repeats an experiment of the papers behind the program on this machine: every variant is compared
with a slow reference, then timed. Prints a table, the paper's figures, and whether its claims are confirmed. Without a
name it lists the experiments with their variants and parameters; all runs every one.

Exit status: 0 success, 1 some variant failed or the device does not exist, 2 usage error, 130 cancelled.`),
		ValidArgs: append(experimentIDs(), everyExperiment),
	}
	f := c.Flags()
	f.StringSliceVar(&b.variants, "variant", nil, t.Say("measure only these `VARIANTS`, comma-separated"))
	f.StringSliceVar(&b.sizes, "size", nil, t.Say("measure these `SIZES`: 1024x768, 18.7MP, 2^20 or 1000"))
	f.StringArrayVar(&b.values, "param", nil, t.Say("`NAME=VALUE,…` of a parameter; may be repeated"))
	f.StringVar(&b.input, "input", "", t.Say("use the picture in `FILE`, as 8-bit grey, instead of a generated one"))
	b.addFlags(c)
	f.BoolVar(&b.quick, "quick", false, t.Say("quick run: fewer cases and repetitions"))
	f.Float64Var(&b.longest, "longest", 1, t.Say("skip what would take longer than `SECONDS` per run"))
	f.Float64Var(&b.memory, "memory", 0,
		t.Say("skip what needs more than `GiB` of memory; by default half of the machine's"))
	f.StringVar(&b.deviceName, "device", "auto",
		t.Say("`DEVICE` of the GPU variants: auto, cuda or cuda:N, as listed by blik devices; cpu leaves them out"))
	must(c.RegisterFlagCompletionFunc("variant", completeVariants))
	must(c.RegisterFlagCompletionFunc("size", cobra.NoFileCompletions))
	must(c.RegisterFlagCompletionFunc("param", cobra.NoFileCompletions))
	must(c.RegisterFlagCompletionFunc("device", t.CompleteDevices))
	c.AddCommand(t.benchDetectCommand())
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			given := false
			c.Flags().Visit(func(f *pflag.Flag) { given = given || f.Name != "lang" })
			if given {
				return t.Usage("name an experiment: %s", benchNames())
			}
			return b.list()
		}
		return b.run(c.Context(), args)
	}
	return c
}

func benchFormats() []string { return []string{"table", "csv", "json"} }

func experimentIDs() []string {
	var ids []string
	for _, e := range experiment.All() {
		ids = append(ids, e.ID)
	}
	return ids
}

// benchNames lists everything that `blik bench` accepts as a name.
func benchNames() string {
	return strings.Join(append(experimentIDs(), everyExperiment, detectionName), ", ")
}

// completeVariants offers the variants of the experiments named.
func completeVariants(_ *cobra.Command, names []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, name := range names {
		if e, err := experiment.Find(name); err == nil {
			for _, v := range e.Variants {
				ids = append(ids, v.ID)
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// list prints the experiments with their variants and parameters.
func (b *benchmark) list() error {
	var s strings.Builder
	for i, e := range experiment.All() {
		if i > 0 {
			s.WriteByte('\n')
		}
		fmt.Fprintf(&s, "%s — %s\n  %s\n", e.ID, b.Printer.Sprint(e.Name), b.Printer.Sprint(e.Question))
		for _, v := range e.Variants {
			needs := b.Printer.Sprint(v.Requires())
			if needs != "" {
				needs = " (" + needs + ")"
			}
			name, help := b.Printer.Sprint(v.Name), b.Printer.Sprint(v.Help)
			fmt.Fprintf(&s, "    %s  %s: %s%s\n", b.Column(v.ID, 26), name, help, needs)
		}
		for _, p := range e.Params {
			fmt.Fprintf(&s, "    %s  %s: %s\n",
				b.Column("--param "+p.ID+"=…", 26), b.Printer.Sprint(p.Help), strings.Join(p.Values, ", "))
		}
	}
	s.WriteString(b.Say("\ndetect — detection on the CPU and on GPUs side by side: blik bench detect --help\n"))
	_, err := fmt.Fprint(b.Stdout, s.String())
	return err
}

// options derives the options from the flags and reads the picture.
func (b *benchmark) options(ctx context.Context) (experiment.Options, error) {
	o := experiment.Options{Variants: b.variants, Quick: b.quick}
	for _, text := range b.sizes {
		s, err := experiment.ParseSize(text)
		if err != nil {
			return o, b.Usage("--size: %s", b.Sentence(err))
		}
		o.Sizes = append(o.Sizes, s)
	}
	for _, text := range b.values {
		name, values, ok := strings.Cut(text, "=")
		if !ok || values == "" {
			return o, b.Usage("--param %s: expected as NAME=VALUE,…", text)
		}
		if o.Values == nil {
			o.Values = map[string][]string{}
		}
		o.Values[name] = append(o.Values[name], strings.Split(values, ",")...)
	}
	if !(b.longest > 0 && b.longest <= 1e6) {
		return o, b.Usage("--longest %g: must be a positive number of seconds", b.longest)
	}
	o.Longest = time.Duration(b.longest * 1e9)
	if !(b.memory >= 0 && b.memory <= 1e6) {
		return o, b.Usage("--memory %g: must be a positive number of GiB", b.memory)
	}
	// The limit of a picture is three quarters of the machine's memory.
	if o.Memory = int64(b.memory * (1 << 30)); o.Memory == 0 {
		o.Memory = imagefile.DefaultLimits().Bytes / 3 * 2
	}
	if b.input != "" {
		file, err := imagefile.Read(ctx, b.input, imagefile.DefaultLimits())
		if err != nil {
			return o, err
		}
		o.Picture = file.Picture
	}
	return o, nil
}

// provider opens the GPU. If there is none, it returns nil and prints the reason, unless the GPU was requested by name.
func (b *benchmark) provider(ctx context.Context) (gpu.Provider, error) {
	p, err := gpu.Open(ctx, b.deviceName)
	if err == nil {
		return p, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	why := device.Explain(err)
	if b.deviceName != "auto" {
		return nil, errors.New("--device " + b.Failure(b.deviceName, why))
	}
	if !b.quiet {
		fmt.Fprintln(b.Stderr, b.Printer.Sprint(why))
	}
	return nil, nil
}

// find returns the experiments of the given names.
func (b *benchmark) find(names []string) ([]*experiment.Experiment, error) {
	var chosen []*experiment.Experiment
	for _, name := range names {
		switch e, err := experiment.Find(name); {
		case name == everyExperiment:
			chosen = append(chosen, experiment.All()...)
		case name == detectionName:
			return nil, b.Usage("%s is a separate command: blik bench %s", name, name)
		case err != nil:
			return nil, b.Usage("unknown experiment %q; choose from %s", name, benchNames())
		default:
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

func (b *benchmark) run(ctx context.Context, names []string) error {
	if err := b.CheckChoice("format", b.format, benchFormats()); err != nil {
		return err
	}
	chosen, err := b.find(names)
	if err != nil {
		return err
	}
	if len(chosen) > 1 && len(b.variants)+len(b.sizes)+len(b.values) > 0 {
		return b.Usage("--variant, --size and --param apply to a single experiment")
	}
	if len(chosen) > 1 && b.format != "table" {
		// A sequence of several results is not a valid document.
		return b.Usage("--format %s applies to a single experiment; -o DIR writes it for several", b.format)
	}
	if err := b.CheckDevice(b.deviceName); err != nil {
		return err
	}
	o, err := b.options(ctx)
	if err != nil {
		return err
	}
	gpu, err := b.provider(ctx)
	if err != nil {
		return err
	}
	if gpu != nil {
		defer gpu.Close()
		o.Providers = append(o.Providers, gpu)
	}
	var ids []string
	for _, e := range chosen {
		ids = append(ids, e.ID)
	}
	if err := b.start(ids...); err != nil {
		return err
	}
	failed := false
	for i, e := range chosen {
		if i > 0 && b.format == "table" {
			fmt.Fprintln(b.Stdout)
		}
		r, err := b.measure(ctx, e, o)
		if err != nil {
			return err
		}
		for _, row := range r.Rows {
			if row.State == experiment.Failed {
				failed = true
				note := b.Printer.Sprint(row.Note)
				b.PrintError(fmt.Errorf("%s, %s, %s: %s", e.ID, row.Variant.ID, row.Case.Size, note))
			}
		}
	}
	if failed {
		return b.Reported()
	}
	return nil
}

// measure runs one experiment, prints it, and writes its files.
func (b *benchmark) measure(ctx context.Context, e *experiment.Experiment, o experiment.Options) (
	*experiment.Result, error,
) {
	progress := b.Progress(b.quiet)
	defer progress.Close()
	o.Progress = func(p experiment.Progress) {
		stage := b.Printer.Sprint(p.Variant.Name) + " " + p.Case.Size.String()
		progress.Set(e.ID, stage, float64(p.Done)/float64(max(p.Total, 1)))
	}
	machine := bench.ThisMachine(b.Version, b.Now())
	r, err := experiment.Run(ctx, e, o)
	progress.Clear()
	switch {
	case r == nil: // invalid options
		return nil, b.UsageOf(err)
	case err != nil:
		return nil, err
	}
	machine.GPUs = append(machine.GPUs, r.Devices...)
	return r, b.publish(
		func(w io.Writer) error { return bench.Table(w, machine, r, b.Printer) },
		func(w io.Writer) error { return bench.CSV(w, r) },
		func(w io.Writer) error { return bench.JSON(w, machine, r, b.Printer) },
		func() ([]string, error) { return bench.Save(ctx, b.dir, b.overwrite, machine, r, b.Printer) },
	)
}
