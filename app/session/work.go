package session

import (
	"context"
	"path/filepath"

	"blik/app/device"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Files reads and writes the files of a session.
type Files interface {
	Read(ctx context.Context, path string) (*imagefile.File, error)
	// ReadPreview reads a reduced picture, with at most side pixels in a row or column, in much less time than Read. It
	// returns nil if that is not possible.
	ReadPreview(ctx context.Context, path string, side int) (*imagefile.Preview, error)
	// ReadMask reads a mask of w × h pixels. Without anyPicture, a picture that hardly is a mask is
	// imagefile.ErrNotMask.
	ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error)
	WriteMask(ctx context.Context, path string, m *processing.Mask, o imagefile.WriteOptions) error
	// Save writes the corrected picture that account describes and, unless lang is empty, its report in that language.
	// It writes both or neither; see imagefile.Save.
	Save(ctx context.Context, account report.Correction, path, lang string, o imagefile.SaveOptions) (Written, error)
}

// Disk returns Files on the disks of this machine. Reading fails for pictures beyond the limits.
func Disk(limits imagefile.Limits) Files { return disk{limits} }

type disk struct{ limits imagefile.Limits }

func (d disk) Read(ctx context.Context, path string) (*imagefile.File, error) {
	return imagefile.Read(ctx, path, d.limits)
}

func (d disk) ReadPreview(ctx context.Context, path string, side int) (*imagefile.Preview, error) {
	return imagefile.ReadPreview(ctx, path, d.limits, side)
}

func (d disk) ReadMask(ctx context.Context, path string, w, h int, anyPicture bool) (*processing.Mask, error) {
	if anyPicture {
		return imagefile.ReadMask(ctx, path, w, h, d.limits)
	}
	return imagefile.ReadPlainMask(ctx, path, w, h, d.limits)
}

func (disk) WriteMask(ctx context.Context, path string, m *processing.Mask, o imagefile.WriteOptions) error {
	imagefile.Recover(filepath.Dir(path))
	return imagefile.WriteMask(ctx, path, o, m)
}

func (disk) Save(ctx context.Context, account report.Correction, path, lang string, o imagefile.SaveOptions) (
	w Written, err error,
) {
	imagefile.Recover(filepath.Dir(path))
	out := imagefile.Begin()
	defer out.Close()
	if w.Saved, err = out.AddPicture(ctx, account.Source, path, account.Patches, o); err != nil {
		return Written{}, err
	}
	if lang != "" {
		account.Saved = w.Saved
		if o.Progress != nil {
			o.Progress(message.Of("writing the report"), 1)
		}
		if _, w.Report, err = report.AddCorrection(ctx, out, account, i18n.For(lang), o.Overwrite); err != nil {
			return Written{}, err
		}
	}
	if err := out.Commit(ctx, path); err != nil {
		return Written{}, err
	}
	return w, nil
}

// Limits returns the limits of pictures that detection can process.
func Limits() imagefile.Limits {
	limits := imagefile.DefaultLimits()
	limits.Work = processing.DetectionBytes
	return limits
}

// Engine detects and corrects glare. A notice, if not nil, is a sentence for the user about the device that was used.
type Engine interface {
	Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
		r *detect.Result, notice *message.Message, err error)
	Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
		o processing.CorrectOptions) (c *processing.Correction, notice *message.Message, err error)
	// Search is detect.Search.
	Search(ctx context.Context, pic *processing.Picture, o detect.Options) (
		t *detect.Table, notice *message.Message, err error)
	Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
		*processing.LayerMap, error)
	// Levels is processing.LevelHistogram.
	Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (all, inside []uint64, err error)
}

// Runner runs a job on a device; *device.Runner and *device.Switch implement it.
type Runner interface {
	Run(ctx context.Context, pixels int, job device.Job) (notice *message.Message, err error)
}

// On returns the Engine that runs on a device.
func On(r Runner) Engine { return engine{r} }

type engine struct{ runner Runner }

func (e engine) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	r *detect.Result, notice *message.Message, err error,
) {
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		r, err = detect.Detect(ctx, b, pic.Visible(), p, o)
		return err
	})
	if err == nil {
		r.Hide(pic.Hidden)
	}
	return r, notice, err
}

func (e engine) Search(ctx context.Context, pic *processing.Picture, o detect.Options) (
	t *detect.Table, notice *message.Message, err error,
) {
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		t, err = detect.Search(ctx, b, pic.Visible(), o)
		return err
	})
	return t, notice, err
}

func (e engine) Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
	o processing.CorrectOptions,
) (c *processing.Correction, notice *message.Message, err error) {
	if o.Memory == 0 {
		_, o.Memory = imagefile.MachineMemory()
	}
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		c, err = processing.Correct(ctx, b, pic.Visible(), m, p, o)
		return err
	})
	if err == nil {
		c.Hide(pic)
	}
	return c, notice, err
}

// Written is a corrected picture that was saved. Report is the path of its report, empty if none was written.
type Written struct {
	Saved  *imagefile.Saved
	Report string
}

// WithStage returns p with the parameters of one stage replaced by those of others, which must be valid.
func WithStage(p, others processing.Params, stage processing.Stage) processing.Params {
	for _, s := range processing.SpecsOf(stage) {
		// Values of valid parameters cause no error.
		_ = s.Set(&p, s.Get(others))
	}
	return p
}
