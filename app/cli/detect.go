package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
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
	work
	marked  bool
	preview int
}

func (p *program) detectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "detect [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Find glare in pictures; write masks and findings"),
		Long: p.say(`Finds glare in PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_mask.png       8-bit mask, 255 = glare, 0 = not
  NAME_findings.csv   a line for each glint
  NAME_findings.json  everything known, with the values used
  NAME_marked.png     the picture with the glints outlined (with --marked)
  NAME_preview.jpg    the same upright and small (with --preview)
  index.html          a page with a thumbnail of each file (with --index)

where NAME is the file's name without its ending. By default the program measures each picture and chooses every value
itself (--auto); giving a manual parameter switches to manual mode unless --mode says otherwise.

Exit status: 0 done, 1 some file failed (the others are done), 2 wrong use, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	d := &detection{work: work{program: p}}
	d.addOutput(c)
	c.Flags().BoolVar(&d.marked, "marked", false, p.say("also write the picture with the glints outlined"))
	c.Flags().IntVar(&d.preview, "preview", 0, p.say("also write a small picture with the glints outlined, at most `N` × N pixels"))
	d.addIndex(c)
	d.addWork(c, processing.SpecsOf(processing.StageDetection))

	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		if err := d.checkFlags(); err != nil {
			return err
		}
		inputs := expand(args)
		if len(inputs) == 0 && d.flags.savePreset == "" {
			return p.usage("no files given")
		}
		if d.preview != 0 && (d.preview < minPreview || d.preview > maxPreview) {
			return p.usage("--preview %d: must be from %d to %d pixels", d.preview, minPreview, maxPreview)
		}
		jobs, err := p.plan(inputs, d.out, d.marked, d.preview > 0)
		if err != nil {
			return err
		}
		if err := d.flags.store(ctx, d.params); err != nil || len(jobs) == 0 {
			return err
		}
		if err := d.start(ctx); err != nil {
			return err
		}
		if err := d.startIndex(true); err != nil {
			return err
		}
		defer d.device.Close()
		return d.all(ctx, inputs, func(ctx context.Context, i int, progress told) (string, error) {
			return d.one(ctx, jobs[i], progress)
		})
	}
	return c
}

// The sizes of a preview.
const (
	minPreview = 16
	maxPreview = 10000
)

// Reading and writing are these shares of the work on a file, roughly.
const (
	shareRead  = 0.15
	shareWrite = 0.1
)

// one does a job and returns what to print about it.
func (d *detection) one(ctx context.Context, j job, progress told) (string, error) {
	start := time.Now()
	progress(d.say("reading"), 0)
	file, err := d.read(ctx, j.input)
	if err != nil {
		return "", err
	}
	read := time.Since(start)
	pic := file.Picture
	names := stageNames{tr: d.tr}
	res, err := d.detect(ctx, j.input, pic, func(stage message.Message, done float64) {
		progress(names.tell(stage), shareRead+done*(1-shareRead-shareWrite))
	})
	if err != nil {
		return "", err
	}
	progress(d.say("writing"), 1-shareWrite)
	writing := time.Now()
	if err := d.write(ctx, j, file, res); err != nil {
		return "", err
	}
	wrote, total := time.Since(writing), time.Since(start)

	var b strings.Builder
	if !d.quiet {
		d.summary(&b, j, res)
	}
	if d.timing {
		stages := []processing.StageTime{{Name: d.say("read file"), Time: read}}
		stages = append(stages, names.translate(res.Timings)...)
		stages = append(stages, processing.StageTime{Name: d.say("write files"), Time: wrote})
		d.timings(&b, j.input, pic, res.Device, stages, total)
	}
	return b.String(), nil
}

func (d *detection) write(ctx context.Context, j job, file *imagefile.File, res *processing.Result) error {
	if j.marked != "" {
		marked, err := report.Marked(ctx, file.Picture, file.Profile, res.Mask)
		if err == nil {
			err = imagefile.WritePNG(ctx, j.marked, marked)
		}
		if err != nil {
			return err
		}
	}
	if j.preview != "" {
		preview, err := report.Preview(ctx, file, res.Mask, d.preview)
		if err == nil {
			err = imagefile.WriteFile(ctx, j.preview, func(w io.Writer) error { return thumbnail.WriteJPEG(w, preview) })
		}
		if err != nil {
			return err
		}
	}
	r := report.Report{
		File: filepath.Base(j.input), Program: d.Version, Picture: file.Picture, Region: d.region, Mode: d.params.Mode, Result: res,
	}
	if err := imagefile.WriteFile(ctx, j.csv, func(w io.Writer) error { return report.WriteCSV(w, r) }); err != nil {
		return err
	}
	if err := imagefile.WriteFile(ctx, j.json, func(w io.Writer) error { return report.WriteJSON(w, r) }); err != nil {
		return err
	}
	if err := imagefile.WriteMask(ctx, j.mask, res.Mask); err != nil {
		return err
	}
	return d.index.add(ctx, file, res.Mask, d.found(res), j.outputs())
}

// summary prints what was found, where it was written, and what adaptive mode chose and why.
func (d *detection) summary(b *strings.Builder, j job, res *processing.Result) {
	fmt.Fprintf(b, "%s: %s → %s\n", j.input, d.found(res), j.mask)
	d.chosen(b, res)
}

// found says in a line what was found.
func (d *detection) found(res *processing.Result) string {
	area := res.Mask.Area()
	return d.say("findings: %d; mask: %d px (%.3f %%)",
		len(res.Findings), area, 100*float64(area)/float64(len(res.Mask.Pix)))
}

// chosen prints what adaptive mode measured and chose, and why.
func (w *work) chosen(b *strings.Builder, res *processing.Result) {
	names, values := make([]string, len(res.Chosen)), make([]string, len(res.Chosen))
	wide, long := 0, 0
	for i, c := range res.Chosen {
		names[i] = w.tr.Sprint(c.Name)
		values[i] = strings.TrimSpace(number(c) + " " + w.tr.Sprint(c.Unit))
		wide, long = max(wide, utf8.RuneCountInString(names[i])), max(long, utf8.RuneCountInString(values[i]))
	}
	for i, c := range res.Chosen {
		fmt.Fprintf(b, "  %s  %s  %s\n", column(names[i], wide), column(values[i], long), w.tr.Sprint(c.Why))
	}
}

// number writes a chosen value as its parameter does, a measured figure with four significant digits.
func number(c processing.Chosen) string {
	if s, ok := processing.SpecByID(c.ID); ok && s.Check(c.Value) == nil && s.Kind != processing.KindReal {
		return s.Format(c.Value)
	}
	return fmt.Sprintf("%.4g", c.Value)
}
