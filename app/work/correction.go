package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"blik/app/consent"
	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
)

// plan returns the path of the corrected picture, and reports errors immediately that saving would report only after
// all the work.
func (t *task) plan(mask string) (string, error) {
	target := imagefile.ResultName(t.File.Path, t.Folder, t.format())
	outputs := []string{target}
	jsonPath, htmlPath := report.CorrectionPaths(target)
	if !t.Work.NoReport {
		outputs = append(outputs, jsonPath, htmlPath)
	}
	if t.Work.SaveMask {
		outputs = append(outputs, t.outputPath("_mask.png"))
	}
	if err := shortEnough(outputs, t.File.Path); err != nil {
		return "", err
	}
	err := Free(outputs, t.Work.Overwrite, slices.Concat(t.Inputs, Existing(mask)), t.File.Path)
	if errors.Is(err, imagefile.ErrExists) && t.done(outputs) {
		return "", nil
	}
	if err != nil || t.Work.NoReport {
		return target, err
	}
	return target, report.CheckReport(jsonPath, report.CorrectionFormat, filepath.Base(target))
}

// format returns the format of the result.
func (t *task) format() imagefile.Format {
	if f := t.Work.format(); f != "" {
		return f
	}
	return t.File.SaveFormat()
}

// readMask reads the mask of the picture. Remarks say if it hardly is a mask or may lie elsewhere.
func (t *task) readMask(ctx context.Context, path string) error {
	w, h := t.File.Picture.Width, t.File.Picture.Height
	limits, err := t.Work.Limits()
	if err != nil {
		return err
	}
	t.Mask, err = imagefile.ReadPlainMask(ctx, path, w, h, limits)
	var of *imagefile.Error
	if errors.Is(err, imagefile.ErrNotMask) && errors.As(err, &of) {
		t.remark(of.Message())
		t.Mask, err = imagefile.ReadMask(ctx, path, w, h, limits)
	}
	if err != nil {
		return err
	}
	if r, turned := t.File.TurnedRemark(); turned {
		t.remark(r)
	}
	return nil
}

func (t *task) correct(ctx context.Context) error {
	if err := t.read(ctx); err != nil {
		return err
	}
	for _, r := range t.File.Remarks(t.format()) {
		t.remark(r)
	}
	maskPath, err := t.Work.maskOf(t.File.Path)
	if err != nil {
		return err
	}
	if t.target, err = t.plan(maskPath); err != nil || t.Outcome.Completed {
		return err
	}
	if maskPath != "" {
		if err := t.readMask(ctx, maskPath); err != nil {
			return err
		}
		t.next = Correcting
	}
	return t.steps(ctx, Saving)
}

// Choose implements Sheet: findings that a person should look at are left alone, what a mask shows is not.
func (t *task) Choose() (Choice, error) {
	if t.Outcome.Found != nil {
		var err error
		if t.Mask, t.left, err = consent.Choose(t.Mask, t.Outcome.Found.Findings, t.Work.Params); err != nil {
			return Choice{}, fmt.Errorf("%s: %w", t.input, err)
		}
	}
	return Choice{Mask: t.Mask}, nil
}

func (t *task) Corrected(c *correct.Correction, _ Choice) error {
	t.Stages = append(t.Stages, c.Timings...)
	origin := &document.Origin{Params: t.Work.Params, Device: c.Device}
	t.account = report.NewCorrection(t.File, t.Program, t.Outcome.Found, c.Patches, []*document.Origin{origin})
	t.account.Mask, t.account.Left, t.Device, t.next = t.Mask, t.left, c.Device, Saving
	return nil
}

// Save implements Sheet: it writes the corrected picture and the files that accompany it.
func (t *task) Save(ctx context.Context, progress processing.Progress) error {
	t.next = Nothing
	o := Target{
		Path: t.target, About: t.about(), Now: t.Now,
		Options: imagefile.SaveOptions{
			Overwrite: t.Work.Overwrite, AllowLossy: t.Work.format() == imagefile.JPEG, KeepTime: t.Work.KeepTime,
			Progress: progress,
		},
	}
	var err error
	if o.Options.Limits, err = t.Work.Limits(); err != nil {
		return err
	}
	if t.Work.SaveMask {
		o.Mask = t.outputPath("_mask.png")
	}
	if !t.Work.NoReport {
		o.Report = t.Texts
	}
	saved, err := Save(ctx, t.account, o)
	t.Stages = append(t.Stages, saved.Stages...)
	if err != nil {
		return err
	}
	t.Saved = saved.Saved
	if dropped := t.Saved.Dropped; len(dropped) > 0 {
		t.remark(message.Of("The new file cannot hold: %s.", message.Join(", ", dropped...)))
	}
	t.Outputs = nonEmpty(t.Saved.Path, saved.Report, saved.JSON, o.Mask)
	t.Shown = nonEmpty(saved.Report, t.Saved.Path, saved.JSON, o.Mask)
	pic, changed := t.File.Picture, t.Saved.PixelsChanged
	t.Summary = t.Texts.Sprintf("findings corrected: %d; pixels changed: %d (%.3f %%); %s", t.Saved.Corrected, changed,
		100*float64(changed)/float64(pic.Width*pic.Height), saved.Extent.Message())
	if n := len(t.left); n > 0 {
		t.Summary += t.Texts.Sprintf("; left for you to look at: %d", n)
	}
	return nil
}
