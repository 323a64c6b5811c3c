package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"blik/app/consent"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// correction is one run of `blik correct`.
type correction struct {
	batch
	maskFile, maskFolder string
	formatName           string
	format               imagefile.Format
	keepTime             bool
	saveMask, noReport   bool
	names                []string // of the inputs, without endings
	sources              fileSet
}

func (p *program) correctCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "correct [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Remove glare and change nothing else in the file"),
		Long: p.say(`Removes glare from PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_corrected.EXT   the picture: a copy of the original in which only pixels in the mask, its halo and the veil of
                       large glints differ
  NAME_corrected.html  a report with all findings before and after, and the proof (not with --no-report)
  NAME_corrected.json  the same for programs
  NAME_mask.png        the mask with halo and veil (with --save-mask)
  index.html           a page with a thumbnail of each file (with --index)

where NAME is the file's name without its extension. Depth, profile, metadata, resolution, other pages and the container
stay those of the original. A JPEG is saved as a TIFF, because JPEG loses detail each time it is written; --format jpeg
keeps JPEG.

The mask comes from --mask or --mask-dir. Without them (or with --auto), detection finds the glare, with all its
parameters. Masks follow the stored pixel order and ignore EXIF orientation; a pixel is glare from 128 up. In --mask-dir
the mask of NAME is the first of NAME_mask, NAME, NAME_glare_mask, NAME_image_mask, NAME_pred. If NAME ends in _glare or
_image, the name without that ending is also tried.

Each result is read back and compared with its original before it gets its name. The original is never modified.

Exit status: 0 success, 1 some files failed (the others are done), 2 usage error, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	d := &correction{batch: batch{program: p}}
	d.addOutput(c)
	f := c.Flags()
	f.StringVar(&d.maskFile, "mask", "", p.say("take the glare from the mask in this picture `FILE`"))
	f.StringVar(&d.maskFolder, "mask-dir", "", p.say("take the glare from the masks in this `FOLDER`"))
	f.StringVar(&d.formatName, "format", "",
		p.say("`FORMAT` of the result: tiff, png or jpeg; by default that of the original, TIFF for JPEG"))
	f.BoolVar(&d.keepTime, "keep-time", false, p.say("give the result the modification time of the original"))
	f.BoolVar(&d.saveMask, "save-mask", false, p.say("also write the mask that was used, with halo and veil"))
	f.BoolVar(&d.noReport, "no-report", false, p.say("write no report"))
	d.addIndex(c)
	must(c.MarkFlagDirname("mask-dir"))
	complete(c, "format", formatNames())
	d.addShared(c, processing.Specs())
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := d.checkFlags(); err != nil {
			return err
		}
		if err := d.checkMask(expand(args)); err != nil {
			return err
		}
		if err := d.checkFormat(); err != nil {
			return err
		}
		inputs, err := d.inputs(args)
		if err == nil {
			d.names, err = p.stems(inputs, "_corrected")
		}
		if err != nil {
			return err
		}
		d.sources = existing(inputs...)
		d.names = sliced(&d.batch, d.names)
		return d.run(c.Context(), sliced(&d.batch, inputs), d.process)
	}
	return c
}

// checkFormat sets the format of the results; an empty one stands for that of the original.
func (d *correction) checkFormat() error {
	if d.formatName == "" {
		return nil
	}
	if err := d.checkChoice("format", d.formatName, formatNames()); err != nil {
		return err
	}
	d.format = imagefile.Formats()[slices.Index(formatNames(), d.formatName)]
	return nil
}

// formatNames lists the values of --format.
func formatNames() []string {
	var names []string
	for _, f := range imagefile.Formats() {
		names = append(names, strings.ToLower(string(f)))
	}
	return names
}

// checkMask refuses contradictory flags for the location of the glare.
func (d *correction) checkMask(inputs []string) error {
	given := d.maskFile != "" || d.maskFolder != ""
	switch {
	case d.maskFile != "" && d.maskFolder != "":
		return d.usage("--mask and --mask-dir exclude each other")
	case d.maskFile != "" && len(inputs) > 1:
		return d.usage("--mask is for one file; use --mask-dir for several")
	case given && d.flags.auto:
		return d.usage("--auto finds the glare itself and cannot be combined with a mask")
	case given && d.regionText != "":
		return d.usage("--region limits detection and cannot be combined with a mask")
	}
	for _, s := range processing.SpecsOf(processing.StageDetection) {
		if _, ok := d.flags.set[s.ID]; ok && given {
			return d.usage("--%s is a parameter of detection and cannot be combined with a mask", s.ID)
		}
	}
	return nil
}

// The approximate shares of the work on a file at which detection and correction end.
const (
	shareDetected  = 0.5
	shareCorrected = 0.85
)

// readMask reads the mask of a picture. Remarks say if it hardly is a mask or may lie elsewhere.
func (d *correction) readMask(ctx context.Context, t *task, path string, file *imagefile.File) (
	*processing.Mask, error,
) {
	w, h := file.Picture.Width, file.Picture.Height
	m, err := imagefile.ReadPlainMask(ctx, path, w, h, d.limits)
	var of *imagefile.Error
	if errors.Is(err, imagefile.ErrNotMask) && errors.As(err, &of) {
		t.remark(of.Message())
		m, err = imagefile.ReadMask(ctx, path, w, h, d.limits)
	}
	if err != nil {
		return nil, err
	}
	if r, turned := file.TurnedRemark(); turned {
		t.remark(r)
	}
	return m, nil
}

// process corrects one file.
func (d *correction) process(ctx context.Context, t *task) error {
	file, err := t.read(ctx)
	if err != nil {
		return err
	}
	for _, r := range file.Remarks(d.formatOf(file)) {
		t.remark(r)
	}
	pic, name := file.Picture, d.names[t.index]
	maskPath, err := d.maskOf(file.Path, name)
	if err != nil {
		return err
	}
	target, err := d.target(file, name, maskPath)
	if errors.Is(err, imagefile.ErrExists) && t.finished(d.outputsOf(d.pathOf(file), name)) {
		return nil
	}
	if err != nil {
		return err
	}

	var (
		mask  *processing.Mask
		found *processing.Result // nil if the mask is given
	)
	if maskPath != "" {
		mask, err = d.readMask(ctx, t, maskPath, file)
	} else if found, err = t.detect(ctx, pic, t.progress(shareRead, shareDetected)); err == nil {
		mask = found.Mask
	}
	if err != nil {
		return err
	}
	var left []processing.Finding
	if found != nil {
		if mask, left, err = consent.Choose(mask, found.Findings, d.params); err != nil {
			return err
		}
	}
	fixed, err := t.correct(ctx, pic, mask, t.progress(shareDetected, shareCorrected))
	if err != nil {
		return err
	}
	origin := &document.Origin{Params: d.params, Device: fixed.Device}
	account := report.NewCorrection(file, d.Version, found, fixed.Patches, []*document.Origin{origin})
	account.Mask, account.Left = mask, left

	out := imagefile.Begin()
	defer out.Close()
	err = t.timed("save and prove", func() error {
		account.Saved, err = out.AddPicture(ctx, file, target, fixed.Patches, imagefile.SaveOptions{
			Overwrite: d.overwrite, AllowLossy: d.format == imagefile.JPEG, KeepTime: d.keepTime, Limits: d.limits,
			Progress: t.progress(shareCorrected, 1),
		})
		return err
	})
	if err != nil {
		return err
	}
	if dropped := account.Saved.Dropped; len(dropped) > 0 {
		t.remark(message.Of("The new file cannot hold: %s.", message.Join(", ", dropped...)))
	}
	account.Date = d.now()
	if err := t.timed("write report", func() error { return d.writeOthers(ctx, out, account, name) }); err != nil {
		return err
	}
	if !d.quiet {
		d.print(&t.out, t.shown, account)
	}
	if d.timing {
		t.printTimings(pic, fixed.Device)
	}
	return nil
}

// formatOf returns the format of the result.
func (d *correction) formatOf(file *imagefile.File) imagefile.Format {
	if d.format == "" {
		return file.SaveFormat()
	}
	return d.format
}

// target returns the path of the result, and reports errors immediately that saving would report only after all the
// work.
func (d *correction) target(file *imagefile.File, name, mask string) (string, error) {
	target := d.pathOf(file)
	outputs := d.outputsOf(target, name)
	if err := shortEnough(outputs, file.Path); err != nil {
		return "", err
	}
	inputs := slices.Concat(d.sources, existing(mask, d.flags.preset))
	if err := free(outputs, d.overwrite, inputs, file.Path); err != nil {
		return "", err
	}
	if d.noReport {
		return target, nil
	}
	jsonPath, _ := report.CorrectionPaths(target)
	return target, report.CheckReport(jsonPath, report.CorrectionFormat, filepath.Base(target))
}

// pathOf returns the path of the result.
func (d *correction) pathOf(file *imagefile.File) string {
	format := d.format
	if format == "" {
		format = file.SaveFormat()
	}
	return imagefile.DefaultName(filepath.Join(d.outDir, filepath.Base(file.Path)), format)
}

// outputsOf lists the files that are written for a picture.
func (d *correction) outputsOf(target, name string) []string {
	outputs := []string{target}
	if !d.noReport {
		jsonPath, htmlPath := report.CorrectionPaths(target)
		outputs = append(outputs, jsonPath, htmlPath)
	}
	if d.saveMask {
		outputs = append(outputs, d.maskOutput(name))
	}
	return outputs
}

func (d *correction) maskOutput(name string) string { return filepath.Join(d.outDir, name+"_mask.png") }

// maskOf returns the path of the mask of a picture; empty if the glare is to be detected.
func (d *correction) maskOf(picture, name string) (string, error) {
	if d.maskFile != "" || d.maskFolder == "" {
		return d.maskFile, nil
	}
	names := []string{name}
	for _, tail := range []string{"_glare", "_image"} {
		if short := strings.TrimSuffix(name, tail); short != name {
			names = append(names, short)
		}
	}
	tails := []string{"_mask", "", "_glare_mask", "_image_mask", "_pred"}
	path := findMask(d.maskFolder, names, tails, existing(picture))
	if path == "" {
		return "", message.Errorf("%s: no mask for it in %s", picture, d.maskFolder)
	}
	return path, nil
}

// writeOthers writes the files that accompany the result, and commits all of them, the result last.
func (d *correction) writeOthers(
	ctx context.Context, out *imagefile.Outputs, account report.Correction, name string,
) error {
	if d.saveMask {
		pic := account.Source.Picture
		account.MaskPath = d.maskOutput(name)
		options := imagefile.WriteOptions{Overwrite: d.overwrite, Like: account.Source}
		mask := imagefile.MaskOf(pic.Width, pic.Height, account.Patches)
		if err := out.AddMask(ctx, account.MaskPath, options, mask); err != nil {
			return err
		}
	}
	outputs := []string{account.Saved.Path}
	pages := []string(nil)
	if !d.noReport {
		jsonPath, htmlPath, err := report.AddCorrection(ctx, out, account, d.tr, d.overwrite)
		if err != nil {
			return err
		}
		outputs, pages = []string{htmlPath, account.Saved.Path, jsonPath}, []string{htmlPath, jsonPath}
	}
	if d.saveMask {
		outputs, pages = append(outputs, account.MaskPath), append(pages, account.MaskPath)
	}
	if err := out.Commit(ctx, account.Saved.Path); err != nil {
		return err
	}
	d.reportOutputs(made{
		sourceSHA256: account.Saved.SourceSHA256, sha256: account.Saved.SHA256, device: account.Device,
		summary: d.summary(account), outputs: append([]string{account.Saved.Path}, pages...),
	})
	return d.index.add(ctx, account.Source, account.Mask, d.summary(account), outputs)
}

// print prints the corrections, the path of the result, and the proof.
func (d *correction) print(b *strings.Builder, input string, account report.Correction) {
	fmt.Fprintf(b, "%s: %s → %s\n", input, d.summary(account), message.Printable(account.Saved.Path))
	if account.Saved.Lossy {
		fmt.Fprintf(b, "  %s\n", d.say("JPEG: the blocks around changed pixels were encoded again."))
	}
	fmt.Fprintf(b, "  %s\n", d.tr.Sprint(account.Saved.Proof.Statement()))
}

// summary summarises the corrections in one line.
func (d *correction) summary(account report.Correction) string {
	pic, changed := account.Source.Picture, account.Saved.PixelsChanged
	text := d.say("findings corrected: %d; pixels changed: %d (%.3f %%)",
		account.Saved.Corrected, changed, 100*float64(changed)/float64(pic.Width*pic.Height))
	if n := len(account.Left); n > 0 {
		text += d.say("; left for you to look at: %d", n)
	}
	return text
}
