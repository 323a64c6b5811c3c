package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/thumbnail"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// detection is one run of `blik detect`.
type detection struct {
	batch
	marked  bool
	preview int
	table   string
	outputs []detectionOutputs // of each file
	sources fileSet
}

// The range of --preview.
const (
	minPreview = 16
	maxPreview = 10000
)

func (p *program) detectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "detect [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Find glare in pictures; write masks and findings"),
		Long: p.say(`Finds glare in PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_mask.png       8-bit mask: 255 is glare, 0 is not
  NAME_findings.csv   one line for each finding
  NAME_findings.json  all findings, with the values used
  NAME_marked.png     the picture with the findings outlined (with --marked)
  NAME_preview.jpg    the same, small and upright (with --preview)
  index.html          a page with a thumbnail of each file (with --index)

where NAME is the file's name without its extension. By default the program measures each picture and chooses every
value itself (--auto); a manual parameter switches to manual mode unless --mode says otherwise.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	d := &detection{batch: batch{program: p}}
	d.addOutput(c)
	c.Flags().BoolVar(&d.marked, "marked", false, p.say("also write the picture with the findings outlined"))
	c.Flags().IntVar(&d.preview, "preview", 0,
		p.say("also write a small picture with the findings outlined, at most `N` × N pixels"))
	c.Flags().StringVar(&d.table, "csv", report.Tables()[0], p.say(
		"`FORM` of the CSV file: comma (decimal points), or semicolon (decimal commas and a byte order mark, as "+
			"spreadsheets expect it where a comma is the decimal sign)"))
	complete(c, "csv", report.Tables())
	d.addIndex(c)
	d.addShared(c, processing.SpecsOf(processing.StageDetection))
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := d.checkFlags(); err != nil {
			return err
		}
		if err := d.checkChoice("csv", d.table, report.Tables()); err != nil {
			return err
		}
		if d.preview != 0 && (d.preview < minPreview || d.preview > maxPreview) {
			return p.usage("--preview %d: must be from %d to %d pixels", d.preview, minPreview, maxPreview)
		}
		inputs, err := d.inputs(args)
		if err == nil {
			err = d.plan(inputs)
		}
		if err != nil {
			return err
		}
		d.outputs = sliced(&d.batch, d.outputs)
		return d.run(c.Context(), sliced(&d.batch, inputs), d.process)
	}
	return c
}

// detectionOutputs are the files written for one input; marked and preview are empty unless requested.
type detectionOutputs struct{ preview, marked, mask, csv, json string }

func (o detectionOutputs) list() []string {
	var paths []string
	for _, path := range []string{o.preview, o.marked, o.mask, o.csv, o.json} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// resultFirst lists the files, the mask first.
func (o detectionOutputs) resultFirst() []string {
	all := o.list()
	rest := slices.DeleteFunc(all, func(path string) bool { return path == o.mask })
	return append([]string{o.mask}, rest...)
}

// plan names the outputs and refuses, before any work, those that are inputs.
func (d *detection) plan(inputs []string) error {
	names, err := d.stems(inputs, "_mask.png")
	if err != nil {
		return err
	}
	d.sources = existing(append(inputs, d.flags.preset)...)
	for i, name := range names {
		at := func(tail string) string { return filepath.Join(d.outDir, name+tail) }
		o := detectionOutputs{mask: at("_mask.png"), csv: at("_findings.csv"), json: at("_findings.json")}
		if d.marked {
			o.marked = at("_marked.png")
		}
		if d.preview > 0 {
			o.preview = at("_preview.jpg")
		}
		if err := free(o.list(), true, d.sources, inputs[i]); err != nil {
			return &usageError{err}
		}
		d.outputs = append(d.outputs, o)
	}
	return nil
}

// The approximate shares of reading and writing in the work on a file.
const (
	shareRead  = 0.15
	shareWrite = 0.1
)

// process finds the glare in one file.
func (d *detection) process(ctx context.Context, t *task) error {
	o := d.outputs[t.index]
	if err := shortEnough(o.list(), t.input); err != nil {
		return err
	}
	if t.finished(o.list()) {
		return nil
	}
	if err := free(o.list(), d.overwrite, d.sources, t.input); err != nil {
		return err
	}
	if err := report.CheckReport(o.json, report.Format, filepath.Base(t.input)); err != nil {
		return err
	}
	file, err := t.read(ctx)
	if err != nil {
		return err
	}
	found, err := t.detect(ctx, file.Picture, t.progress(shareRead, 1-shareWrite))
	if err != nil {
		return err
	}
	if t.next == "" {
		// Close the device: its planes are no longer needed, but their memory is.
		_ = d.device.Close()
	}
	t.progress(1-shareWrite, 1)(message.Of("writing"), 0)
	if err := t.timed("write files", func() error { return d.write(ctx, t, file, found) }); err != nil {
		return err
	}
	if !d.quiet {
		fmt.Fprintf(&t.out, "%s: %s → %s\n", t.shown, d.summary(found),
			message.Printable(d.outputs[t.index].mask))
		d.printChosen(&t.out, found)
	}
	if d.timing {
		t.printTimings(file.Picture, found.Device)
	}
	return nil
}

// write writes the outputs of one file, all or none.
func (d *detection) write(ctx context.Context, t *task, file *imagefile.File, found *processing.Result) error {
	o := d.outputs[t.index]
	r := report.Report{
		File: filepath.Base(t.input), Program: d.Version, Picture: file.Picture, Region: d.region,
		Mode: d.params.Mode, Result: found,
	}
	out := imagefile.Begin()
	defer out.Close()
	options := imagefile.WriteOptions{Overwrite: d.overwrite, Like: file}
	if err := out.AddMask(ctx, o.mask, options, found.Mask); err != nil {
		return err
	}
	for _, output := range []struct {
		path  string
		write func(w io.Writer) error
	}{
		{o.preview, func(w io.Writer) error {
			preview, err := report.Preview(ctx, file, found.Mask, d.preview)
			if err != nil {
				return err
			}
			return thumbnail.WriteJPEG(w, preview)
		}},
		{o.csv, func(w io.Writer) error { return report.WriteCSV(w, r, report.Table(d.table)) }},
		{o.json, func(w io.Writer) error { return report.WriteJSON(w, r) }},
	} {
		if output.path == "" {
			continue
		}
		if err := out.Add(ctx, output.path, options, output.write); err != nil {
			return err
		}
	}
	if o.marked != "" {
		marked, err := report.Marked(ctx, file.Picture, file.Profile, found.Mask)
		if err == nil {
			err = out.AddPNG(ctx, o.marked, options, marked)
		}
		if err != nil {
			return err
		}
	}
	if err := out.Commit(ctx, o.mask); err != nil {
		return err
	}
	d.reportOutputs(made{device: found.Device, summary: d.summary(found), outputs: o.resultFirst()})
	return d.index.add(ctx, file, found.Mask, d.summary(found), o.list())
}

// summary summarises the findings in one line.
func (d *detection) summary(found *processing.Result) string {
	area := found.Mask.Area()
	return d.say("findings: %d; mask: %d px (%.3f %%)",
		len(found.Findings), area, 100*float64(area)/float64(len(found.Mask.Pix)))
}

// printChosen prints the measurements and choices of adaptive mode with reasons.
func (d *detection) printChosen(b *strings.Builder, found *processing.Result) {
	var rows [][3]string
	var width [2]int
	for _, c := range found.Chosen {
		value := strings.TrimSpace(d.tr.Decimal(figure(c)) + " " + d.tr.Sprint(c.Unit))
		row := [3]string{d.tr.Sprint(c.Name), value, d.tr.Sprint(c.Why)}
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
func figure(c processing.Chosen) string {
	if s, ok := processing.SpecByID(c.ID); ok && s.Check(c.Value) == nil && s.Kind != processing.KindReal {
		return s.Format(c.Value)
	}
	return fmt.Sprintf("%.4g", c.Value)
}
