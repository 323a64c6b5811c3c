package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	workbatch "blik/app/batch"
	"blik/app/farm"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/session"
	"blik/app/work"
	"blik/internal/message"

	"github.com/spf13/cobra"
)

// farmTaskCommand is the process that a worker starts for each file: it reads a farm.Task and writes a farm.Outcome.
func farmTaskCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "task",
		Hidden: true,
		Args:   exactly(p, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			var t farm.Task
			if err := json.NewDecoder(p.Stdin).Decode(&t); err != nil {
				return err
			}
			out, err := doTask(c.Context(), p, t)
			if err != nil {
				return err
			}
			return json.NewEncoder(p.Stdout).Encode(out)
		},
	}
}

// doTask processes one file in the same way as `blik correct` and `blik detect`. The error is nil unless ctx has
// ended: a fault of the file is an outcome.
func doTask(ctx context.Context, p *program, t farm.Task) (farm.Outcome, error) {
	if t.Work.Language != "" {
		own := *p
		own.tr = i18n.For(t.Work.Language)
		p = &own
	}
	if t.Again {
		imagefile.Recover(t.Folder)
	}
	out, err := doTaskOnce(ctx, p, t)
	if err != nil && errors.Is(err, imagefile.ErrExists) {
		out, err = compareTask(ctx, p, t, err)
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err == nil:
		return out, nil
	}
	out = farm.Outcome{End: farm.Failed, Sentence: p.sentence(err)}
	switch {
	case errors.Is(err, imagefile.ErrFull):
		out.End = farm.Full
	case errors.Is(err, imagefile.ErrMemory):
		out.End = farm.TooLarge
	}
	return out, nil
}

// doTaskOnce does the work without replacing existing files, unless they may be overwritten.
func doTaskOnce(ctx context.Context, p *program, t farm.Task) (out farm.Outcome, err error) {
	w := work.Workshop{
		Folder: t.Folder, Texts: p.tr, Program: p.Version, Now: p.now, Inputs: work.Existing(t.Input),
	}
	if w.Work, err = workbatch.Work(t.Work); err != nil {
		return out, err
	}
	device, err := p.openDevice(ctx, t.Device)
	if err != nil {
		return out, err
	}
	defer device.Close()
	w.Engine = session.On(device)
	if err := w.Refuse([]string{t.Input}); err != nil {
		return out, err
	}
	defer p.survive(t.Input, &err)
	o, err := w.Do(ctx, t.Input, nil, nil)
	if err != nil {
		return out, err
	}
	return outcomeOf(ctx, p, t, o)
}

// outcomeOf describes the written files.
func outcomeOf(ctx context.Context, p *program, t farm.Task, o work.Outcome) (farm.Outcome, error) {
	out := farm.Outcome{End: farm.Done, Sentence: o.Summary, Device: o.Device, Peak: peakMemory()}
	for _, r := range o.Remarks {
		out.Remarks += p.tr.Sprint(r) + "\n"
	}
	var err error
	if o.Saved != nil {
		out.SourceSHA256, out.SHA256 = o.Saved.SourceSHA256, o.Saved.SHA256
	} else if out.SourceSHA256, err = imagefile.SHA256(ctx, t.Input); err == nil {
		out.SHA256, err = imagefile.SHA256(ctx, o.Outputs[0])
	}
	for i, path := range o.Outputs {
		f := farm.Output{Name: filepath.Base(path)}
		if i == 0 {
			f.SHA256 = out.SHA256
		}
		out.Outputs = append(out.Outputs, f)
	}
	return out, err
}

// compareTask repeats the work in a separate folder if the results already exist because a killed process or another
// worker wrote them. They are correct if both are equal. If some were deleted, and the others are what would be written
// now, all are written again.
func compareTask(ctx context.Context, p *program, t farm.Task, found error) (farm.Outcome, error) {
	dir, err := os.MkdirTemp("", "blik-compare-")
	if err != nil {
		return farm.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	second := t
	second.Folder, second.Again = dir, false
	out, err := doTaskOnce(ctx, p, second)
	if err != nil {
		return out, err
	}
	deleted, same := false, true
	for i, o := range out.Outputs {
		path := filepath.Join(t.Folder, o.Name)
		if !work.Exists(path) {
			deleted = true
			continue
		}
		there, err := imagefile.SHA256(ctx, path)
		if err != nil {
			return out, err
		}
		own, err := imagefile.SHA256(ctx, filepath.Join(dir, o.Name))
		if err != nil {
			return out, err
		}
		// Reports contain the time of writing.
		if there != own && !slices.Contains([]string{".json", ".html", ".csv"}, filepath.Ext(o.Name)) {
			return out, message.Errorf("%w; it differs from what would be written now", found)
		}
		same = same && there == own
		if i == 0 {
			out.Outputs[i].SHA256 = there
		}
	}
	if deleted {
		result := filepath.Join(t.Folder, out.Outputs[0].Name)
		if !same && (t.Work.Command == "detect" || !report.Renewable(ctx, result, out.SHA256)) {
			return out, found
		}
		t.Work.Overwrite = true
		return doTaskOnce(ctx, p, t)
	}
	out.Found = true
	return out, nil
}
