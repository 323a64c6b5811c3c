package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"blik/app/farm"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// farmTaskCommand is the process that a worker starts for each file: it reads a farm.Task and writes a farm.Outcome.
func (p *program) farmTaskCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "task",
		Hidden: true,
		Args:   p.exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			var t farm.Task
			if err := json.NewDecoder(p.Stdin).Decode(&t); err != nil {
				return err
			}
			out, err := p.farmTask(c.Context(), t)
			if err != nil {
				return err
			}
			return json.NewEncoder(p.Stdout).Encode(out)
		},
	}
}

// farmTask processes one file in the same way as `blik correct` and `blik detect`. The error is nil unless ctx has
// ended: a fault of the file is an outcome.
func (p *program) farmTask(ctx context.Context, t farm.Task) (farm.Outcome, error) {
	if t.Work.Language != "" {
		own := *p
		own.tr = i18n.For(t.Work.Language)
		p = &own
	}
	if t.Again {
		imagefile.Recover(t.Folder)
	}
	out, err := p.once(ctx, t)
	if err != nil && errors.Is(err, imagefile.ErrExists) {
		out, err = p.compared(ctx, t, err)
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

// once does the work without replacing existing files, unless they may be overwritten.
func (p *program) once(ctx context.Context, t farm.Task) (farm.Outcome, error) {
	w := t.Work
	params, _, err := preset.Decode(w.Preset)
	if err != nil {
		return farm.Outcome{}, err
	}
	b := batch{
		program: p, flags: &paramFlags{p: p}, outDir: t.Folder, deviceName: t.Device, quiet: true,
		overwrite: w.Overwrite, params: params,
	}
	if w.Region != "" {
		if b.region, err = processing.ParseRegion(w.Region); err != nil {
			return farm.Outcome{}, err
		}
	}
	if b.limits, err = p.limitsOf(w.Limit); err != nil {
		return farm.Outcome{}, err
	}
	b.limits.Work = processing.DetectionBytes
	if b.device, err = p.openDevice(ctx, t.Device); err != nil {
		return farm.Outcome{}, err
	}
	defer b.device.Close()
	var m made
	b.made = func(got made) { m = got }
	inputs := []string{t.Input}
	var process func(context.Context, *task) error
	var shared *batch
	if w.Command == "detect" {
		d := &detection{batch: b, marked: w.Marked, preview: w.Preview}
		if err := d.plan(inputs); err != nil {
			return farm.Outcome{}, err
		}
		process, shared = d.process, &d.batch
	} else {
		d := &correction{
			batch: b, formatName: w.Format, keepTime: w.KeepTime, saveMask: w.SaveMask, noReport: w.NoReport,
			names: []string{stem(t.Input)}, sources: existing(t.Input),
		}
		if err := d.checkFormat(); err != nil {
			return farm.Outcome{}, err
		}
		process, shared = d.process, &d.batch
	}
	if err := newTask(shared, t.Input, 0, 1).run(ctx, process); err != nil {
		return farm.Outcome{}, err
	}
	return p.outcome(ctx, t, m)
}

// outcome describes the written files.
func (p *program) outcome(ctx context.Context, t farm.Task, m made) (farm.Outcome, error) {
	out := farm.Outcome{
		End: farm.Done, Sentence: m.summary, SourceSHA256: m.sourceSHA256, SHA256: m.sha256, Device: m.device,
		Peak: peakMemory(),
	}
	var err error
	if out.SourceSHA256 == "" {
		if out.SourceSHA256, err = imagefile.SHA256(ctx, t.Input); err != nil {
			return out, err
		}
	}
	for i, path := range m.outputs {
		sum := ""
		if i == 0 {
			if out.SHA256 == "" {
				if out.SHA256, err = imagefile.SHA256(ctx, path); err != nil {
					return out, err
				}
			}
			sum = out.SHA256
		}
		out.Outputs = append(out.Outputs, farm.Output{Name: filepath.Base(path), SHA256: sum})
	}
	return out, nil
}

// compared repeats the work in a separate folder if the results already exist because a killed process or another
// worker wrote them. They are correct if both are equal.
func (p *program) compared(ctx context.Context, t farm.Task, found error) (farm.Outcome, error) {
	dir, err := os.MkdirTemp("", "blik-compare-")
	if err != nil {
		return farm.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	second := t
	second.Folder, second.Again = dir, false
	out, err := p.once(ctx, second)
	if err != nil {
		return out, err
	}
	for i, o := range out.Outputs {
		path := filepath.Join(t.Folder, o.Name)
		if slices.Contains([]string{".json", ".html", ".csv"}, filepath.Ext(o.Name)) {
			// These files contain the time of writing.
			if !exists(path) {
				return out, found
			}
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
		if there != own {
			return out, message.Errorf("%w, and differs from what would be written now", found)
		}
		if i == 0 {
			out.Outputs[i].SHA256 = there
		}
	}
	out.Found = true
	return out, nil
}
