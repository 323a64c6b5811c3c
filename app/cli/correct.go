package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// correction is one run of `blik correct`.
type correction struct {
	work
	maskFile, maskFolder string
	formatName           string
	format               imagefile.Format
	overwrite, keepTime  bool
	saveMask, noReport   bool
	inputs               present
}

func (p *program) correctCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "correct [flags] -o " + p.say("DIR FILE") + "…",
		Short: p.say("Take glare away and change nothing else in the file"),
		Long: p.say(`Takes the glare away from PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_corrected.EXT   the picture: the source in which only pixels in the mask and its halo differ
  NAME_corrected.html  a report with all places before and after, and the proof (not with --no-report)
  NAME_corrected.json  the same for programs
  NAME_mask.png        the mask with the halo (with --save-mask)
  index.html           a page with a thumbnail of each file (with --index)

where NAME is the file's name without its ending. Depth, profile, metadata, resolution, other pages and the container stay
those of the source. A JPEG becomes a TIFF, since JPEG loses detail at each writing; --format jpeg insists on JPEG.

The glare is that of --mask, of --mask-dir, or (--auto, as without any of them) what detection finds, with all its
parameters. Masks have the rows of the file, also where EXIF turns the picture; a pixel is glare from 128 on. In a
--mask-dir the mask of NAME is the first of NAME_mask, NAME, NAME_glare_mask, NAME_image_mask, NAME_pred; a NAME that
ends in _glare or _image also does without that.

Each result is read back and compared with its source before it gets its name. The source is never written to.

Exit status: 0 done, 1 some file failed (the others are done), 2 wrong use, 130 cancelled.`),
		ValidArgsFunction: completePictures,
	}
	d := &correction{work: work{program: p}}
	d.addOutput(c)
	f := c.Flags()
	f.StringVar(&d.maskFile, "mask", "", p.say("take the glare from the mask in this picture `FILE`"))
	f.StringVar(&d.maskFolder, "mask-dir", "", p.say("take the glare from the masks in this `FOLDER`"))
	f.StringVar(&d.formatName, "format", "", p.say("`FORMAT` of the result: tiff, png or jpeg; that of the source by default, TIFF for JPEG"))
	f.BoolVar(&d.overwrite, "overwrite", false, p.say("replace results that are there"))
	f.BoolVar(&d.keepTime, "keep-time", false, p.say("give the result the modification time of the source"))
	f.BoolVar(&d.saveMask, "save-mask", false, p.say("also write the mask with the halo that was used"))
	f.BoolVar(&d.noReport, "no-report", false, p.say("write no report"))
	d.addIndex(c)
	must(c.MarkFlagDirname("mask-dir"))
	must(c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp)))
	d.addWork(c, processing.Specs())

	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		if err := d.checkFlags(); err != nil {
			return err
		}
		inputs := expand(args)
		if err := d.checkMask(inputs); err != nil {
			return err
		}
		var known bool
		if d.format, known = formats()[d.formatName]; !known {
			return p.usage("--format %s: must be one of tiff, png, jpeg", d.formatName)
		}
		if len(inputs) == 0 && d.flags.savePreset == "" {
			return p.usage("no files given")
		}
		names, err := p.stems(inputs, "_corrected")
		if err != nil {
			return err
		}
		if err := d.flags.store(ctx, d.params); err != nil || len(inputs) == 0 {
			return err
		}
		d.inputs = presentOf(inputs)
		if err := d.start(ctx); err != nil {
			return err
		}
		if err := d.startIndex(d.overwrite); err != nil {
			return err
		}
		defer d.device.Close()
		return d.all(ctx, inputs, func(ctx context.Context, i int, progress told) (string, error) {
			return d.one(ctx, inputs[i], names[i], progress)
		})
	}
	return c
}

// formats are the values of --format; none is that of the source.
func formats() map[string]imagefile.Format {
	all := map[string]imagefile.Format{"": ""}
	for _, f := range imagefile.Formats() {
		all[strings.ToLower(string(f))] = f
	}
	return all
}

// formatNames are the values of --format in their order.
func formatNames() []string {
	var names []string
	for _, f := range imagefile.Formats() {
		names = append(names, strings.ToLower(string(f)))
	}
	return names
}

// checkMask refuses what says twice where the glare is.
func (d *correction) checkMask(inputs []string) error {
	given := d.maskFile != "" || d.maskFolder != ""
	switch {
	case d.maskFile != "" && d.maskFolder != "":
		return d.usage("--mask and --mask-dir exclude each other")
	case d.maskFile != "" && len(inputs) > 1:
		return d.usage("--mask is for one file; use --mask-dir for several")
	case given && d.flags.auto:
		return d.usage("--auto finds the glare itself, so it cannot go with a mask")
	case given && d.regionText != "":
		return d.usage("--region limits detection, so it cannot go with a mask")
	}
	if given {
		for _, s := range processing.SpecsOf(processing.StageDetection) {
			if _, ok := d.flags.set[s.ID]; ok {
				return d.usage("--%s is for detection, so it cannot go with a mask", s.ID)
			}
		}
	}
	return nil
}

// Detection and correction end at these shares of the work on a file, roughly.
const (
	shareDetected  = 0.5
	shareCorrected = 0.85
)

// one corrects a file and returns what to print about it.
func (d *correction) one(ctx context.Context, input, name string, progress told) (string, error) {
	start := time.Now()
	progress(d.say("reading"), 0)
	file, err := d.read(ctx, input)
	if err != nil {
		return "", err
	}
	for _, w := range file.Info.Warnings {
		d.remark(input, w)
	}
	names := stageNames{tr: d.tr}
	stages := []processing.StageTime{{Name: d.say("read file"), Time: time.Since(start)}}
	mask, err := d.mask(file.Path, name)
	if err != nil {
		return "", err
	}
	target, err := d.target(file, name, mask)
	if err != nil {
		return "", err
	}

	pic := file.Picture
	var (
		glare *processing.Mask
		found *processing.Result // nil where the mask is given
	)
	if mask != "" {
		if glare, err = imagefile.ReadMask(ctx, mask, pic.Width, pic.Height); err != nil {
			return "", err
		}
	} else {
		found, err = d.detect(ctx, input, pic, func(stage message.Message, done float64) {
			progress(names.tell(stage), shareRead+done*(shareDetected-shareRead))
		})
		if err != nil {
			return "", err
		}
		glare = found.Mask
		stages = append(stages, names.translate(found.Timings)...)
	}
	var fixed *processing.Correction
	err = d.compute(ctx, input, pic, func(ctx context.Context, b processing.Backend) (err error) {
		fixed, err = processing.Correct(ctx, b, pic, glare, d.params, processing.CorrectOptions{
			Progress: func(stage message.Message, done float64) {
				progress(names.tell(stage), shareDetected+done*(shareCorrected-shareDetected))
			},
		})
		return err
	})
	if err != nil {
		return "", err
	}
	stages = append(stages, names.translate(fixed.Timings)...)
	account := report.NewCorrection(file, d.Version, found, fixed.Patches, []*document.Origin{{Params: d.params, Device: fixed.Device}})
	account.Mask = glare

	saving := time.Now()
	account.Saved, err = imagefile.Save(ctx, file, target, fixed.Patches, imagefile.SaveOptions{
		Overwrite: d.overwrite, AllowLossy: d.format == imagefile.JPEG, KeepTime: d.keepTime, Limits: d.limits,
		Progress: func(stage message.Message, done float64) {
			progress(d.tr.Sprint(stage), shareCorrected+done*(1-shareCorrected))
		},
	})
	if err != nil {
		return "", err
	}
	stages = append(stages, processing.StageTime{Name: d.say("save and prove"), Time: time.Since(saving)})
	account.Date = d.now()
	reporting := time.Now()
	if err := d.accompany(ctx, account, name); err != nil {
		return "", err
	}
	stages = append(stages, processing.StageTime{Name: d.say("write report"), Time: time.Since(reporting)})

	var b strings.Builder
	if !d.quiet {
		d.summary(&b, input, account)
	}
	if d.timing {
		d.timings(&b, input, pic, fixed.Device, stages, time.Since(start))
	}
	return b.String(), nil
}

// target returns the path of the result, and refuses at once what saving would refuse after all the work.
func (d *correction) target(file *imagefile.File, name, mask string) (string, error) {
	format := d.format
	if format == "" {
		format = file.SaveFormat()
	}
	target := imagefile.DefaultName(filepath.Join(d.out, filepath.Base(file.Path)), format)
	jsonPath, htmlPath := report.CorrectionNames(target)
	outputs := []string{target}
	if !d.noReport {
		outputs = append(outputs, jsonPath, htmlPath)
	}
	if d.saveMask {
		outputs = append(outputs, d.maskOut(name))
	}
	for _, out := range outputs {
		if d.inputs.holds(out) || presentOf([]string{mask}).holds(out) {
			return "", message.Errorf("%s: this is an input and would be overwritten by the result of %s; choose another folder with -o", out, file.Path)
		}
		if _, err := os.Lstat(out); err == nil && !d.overwrite {
			return "", message.Errorf("%s: a file of this name is there already; --overwrite replaces it", out)
		}
	}
	return target, nil
}

func (d *correction) maskOut(name string) string { return filepath.Join(d.out, name+"_mask.png") }

// mask returns the path of the mask of a picture; empty where detection is to find the glare.
func (d *correction) mask(picture, name string) (string, error) {
	if d.maskFile != "" || d.maskFolder == "" {
		return d.maskFile, nil
	}
	path := findMask(d.maskFolder, name, picture)
	if path == "" {
		return "", message.Errorf("%s: there is no mask for it in %s", picture, d.maskFolder)
	}
	return path, nil
}

// findMask returns the mask of the picture NAME in a folder, empty where there is none. The picture itself is none.
func findMask(folder, name, picture string) string {
	self := presentOf([]string{picture})
	names := []string{name}
	for _, tail := range []string{"_glare", "_image"} {
		if short := strings.TrimSuffix(name, tail); short != name {
			names = append(names, short)
		}
	}
	for _, name := range names {
		for _, tail := range []string{"_mask", "", "_glare_mask", "_image_mask", "_pred"} {
			for _, ending := range imagefile.MaskEndings() {
				path := filepath.Join(folder, name+tail+"."+ending)
				if info, err := os.Stat(path); err == nil && !info.IsDir() && !self.holds(path) {
					return path
				}
			}
		}
	}
	return ""
}

// accompany writes what goes beside the result.
func (d *correction) accompany(ctx context.Context, account report.Correction, name string) error {
	outputs := []string{account.Saved.Path}
	if !d.noReport {
		jsonPath, htmlPath, err := report.SaveCorrection(ctx, account, d.tr)
		if err != nil {
			return err
		}
		outputs = []string{htmlPath, account.Saved.Path, jsonPath}
	}
	if d.saveMask {
		pic := account.Source.Picture
		if err := imagefile.WriteMask(ctx, d.maskOut(name), imagefile.MaskOf(pic.Width, pic.Height, account.Patches)); err != nil {
			return err
		}
		outputs = append(outputs, d.maskOut(name))
	}
	return d.index.add(ctx, account.Source, account.Mask, d.corrected(account), outputs)
}

// summary prints what was corrected, where it was written, and the proof.
func (d *correction) summary(b *strings.Builder, input string, account report.Correction) {
	saved := account.Saved
	fmt.Fprintf(b, "%s: %s → %s\n", input, d.corrected(account), saved.Path)
	if saved.Lossy {
		fmt.Fprintf(b, "  %s\n", d.say("JPEG: around each changed pixel its block of the picture was encoded anew."))
	}
	fmt.Fprintf(b, "  %s\n", d.tr.Sprint(saved.Proof.Statement()))
}

// corrected says in a line what was corrected.
func (d *correction) corrected(account report.Correction) string {
	pic, changed := account.Source.Picture, account.Saved.PixelsChanged
	return d.say("places: %d; pixels changed: %d (%.3f %%)",
		len(account.Patches), changed, 100*float64(changed)/float64(pic.Width*pic.Height))
}
