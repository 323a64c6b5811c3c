package work

import (
	"context"
	"io"
	"path/filepath"

	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/thumbnail"
	"blik/internal/message"
)

// findings are the files of a detection; marked and preview are empty unless they are asked for.
type findings struct{ preview, marked, mask, csv, json string }

func (o findings) list() []string {
	return nonEmpty(o.preview, o.marked, o.mask, o.csv, o.json)
}

// findings names the files of a detection.
func (t *task) findings() findings {
	o := findings{
		mask: t.outputPath("_mask.png"), csv: t.outputPath("_findings.csv"), json: t.outputPath("_findings.json"),
	}
	if t.Work.Marked {
		o.marked = t.outputPath("_marked.png")
	}
	if t.Work.Preview > 0 {
		o.preview = t.outputPath("_preview.jpg")
	}
	return o
}

// Refuse refuses files whose results would replace inputs, before any work. Corrections refuse them one by one.
func (s *Workshop) Refuse(files []string) error {
	if !s.Work.Detect {
		return nil
	}
	for _, file := range files {
		t := &task{Workshop: s, input: file}
		if err := Free(t.findings().list(), true, s.Inputs, file); err != nil {
			return err
		}
	}
	return nil
}

// detect finds the glare in a file.
func (t *task) detect(ctx context.Context) error {
	o := t.findings()
	if err := shortEnough(o.list(), t.input); err != nil {
		return err
	}
	if t.done(o.list()) {
		return nil
	}
	if err := Free(o.list(), t.Work.Overwrite, t.Inputs, t.input); err != nil {
		return err
	}
	if err := report.CheckReport(o.json, report.Format, filepath.Base(t.input)); err != nil {
		return err
	}
	if err := t.read(ctx); err != nil {
		return err
	}
	t.Remarks = append(t.Remarks, t.File.Info.Warnings...)
	if err := t.steps(ctx, Finding); err != nil {
		return err
	}
	if t.computed != nil {
		t.computed()
	}
	t.progress(message.Of("writing"), shareFound)
	return timed(&t.Stages, "write files", func() error { return t.writeFound(ctx, o) })
}

// writeFound writes the files of a detection, all or none.
func (t *task) writeFound(ctx context.Context, o findings) error {
	file, result := t.File, t.Outcome.Found
	region, err := t.Work.region()
	if err != nil {
		return err
	}
	r := report.Report{
		File: filepath.Base(t.input), Program: t.Program, Picture: file.Picture, Region: region,
		Mode: t.Work.Params.Mode, Result: result,
	}
	out := imagefile.Begin()
	defer out.Close()
	out.About(t.about())
	options := imagefile.WriteOptions{Overwrite: t.Work.Overwrite, Like: file}
	if err := out.AddMask(ctx, o.mask, options, result.Mask); err != nil {
		return err
	}
	for _, output := range []struct {
		path  string
		write func(w io.Writer) error
	}{
		{o.preview, func(w io.Writer) error {
			preview, err := report.Preview(ctx, file, result.Mask, t.Work.Preview)
			if err != nil {
				return err
			}
			return thumbnail.WriteJPEG(w, preview)
		}},
		{o.csv, func(w io.Writer) error { return report.WriteCSV(w, r, report.Table(t.Work.Table)) }},
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
		marked, err := report.Marked(ctx, file.Picture, file.Profile, result.Mask)
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
	area := result.Mask.Area()
	t.Device, t.Shown = result.Device, o.list()
	t.Outputs = nonEmpty(o.mask, o.preview, o.marked, o.csv, o.json)
	t.Summary = t.Texts.Sprintf("findings: %d; mask: %d px (%.3f %%)", len(result.Findings), area,
		100*float64(area)/float64(len(result.Mask.Pix)))
	return nil
}
