package session

import (
	"context"
	"time"

	"blik/app/device"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
)

// Files reads and writes what a session works on.
type Files interface {
	Read(ctx context.Context, path string) (*imagefile.File, error)
	ReadMask(ctx context.Context, path string, w, h int) (*processing.Mask, error)
	WriteMask(ctx context.Context, path string, m *processing.Mask) error
	// Save writes a picture with the patches applied; see imagefile.Save.
	Save(ctx context.Context, f *imagefile.File, path string, patches []processing.Patch, o imagefile.SaveOptions) (
		*imagefile.Saved, error)
	// Report writes the report on a corrected picture and returns the path of its readable form.
	Report(ctx context.Context, c report.Correction, lang string) (html string, err error)
}

// Disk returns the Files of this machine, which refuses to read pictures beyond the limits.
func Disk(limits imagefile.Limits) Files { return disk{limits} }

type disk struct{ limits imagefile.Limits }

func (d disk) Read(ctx context.Context, path string) (*imagefile.File, error) {
	return imagefile.Read(ctx, path, d.limits)
}

func (disk) ReadMask(ctx context.Context, path string, w, h int) (*processing.Mask, error) {
	return imagefile.ReadMask(ctx, path, w, h)
}

func (disk) WriteMask(ctx context.Context, path string, m *processing.Mask) error {
	return imagefile.WriteMask(ctx, path, m)
}

func (disk) Save(ctx context.Context, f *imagefile.File, path string, patches []processing.Patch,
	o imagefile.SaveOptions,
) (*imagefile.Saved, error) {
	return imagefile.Save(ctx, f, path, patches, o)
}

func (disk) Report(ctx context.Context, c report.Correction, lang string) (string, error) {
	_, html, err := report.SaveCorrection(ctx, c, i18n.For(lang))
	return html, err
}

// Limits are those of pictures that detection can work on.
func Limits() imagefile.Limits {
	limits := imagefile.DefaultLimits()
	limits.Work = processing.DetectionBytes
	return limits
}

// Engine detects and corrects glare. A notice, if not nil, is a sentence for the user on the device that was used.
type Engine interface {
	Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o processing.Options) (
		r *processing.Result, notice *message.Message, err error)
	Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
		o processing.CorrectOptions) (c *processing.Correction, notice *message.Message, err error)
}

// Runner runs a job on a device; *device.Runner and *device.Switch are runners.
type Runner interface {
	Run(ctx context.Context, pixels int, job device.Job) (notice *message.Message, err error)
}

// On returns the Engine that computes on a device.
func On(r Runner) Engine { return engine{r} }

type engine struct{ runner Runner }

func (e engine) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o processing.Options) (
	r *processing.Result, notice *message.Message, err error,
) {
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		r, err = processing.Detect(ctx, b, pic, p, o)
		return err
	})
	return r, notice, err
}

func (e engine) Correct(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params,
	o processing.CorrectOptions,
) (c *processing.Correction, notice *message.Message, err error) {
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		c, err = processing.Correct(ctx, b, pic, m, p, o)
		return err
	})
	return c, notice, err
}

// Written is a corrected picture that was saved, with the path of its report, if one was written.
type Written struct {
	Saved  *imagefile.Saved
	Report string
}

// ReportError is a report that could not be written about a picture that was.
type ReportError struct{ Err error }

func (e *ReportError) Error() string { return e.Err.Error() }
func (e *ReportError) Unwrap() error { return e.Err }

// SavePicture writes the corrected picture that account describes, and, with a language, its report. If only the report
// fails, Written holds the picture and the error is a *ReportError.
func SavePicture(ctx context.Context, f Files, account report.Correction, path, lang string, o imagefile.SaveOptions) (
	w Written, err error,
) {
	if w.Saved, err = f.Save(ctx, account.Source, path, account.Patches, o); err != nil || lang == "" {
		return w, err
	}
	account.Saved = w.Saved
	if account.Date.IsZero() {
		account.Date = time.Now()
	}
	if o.Progress != nil {
		o.Progress(message.Of("writing the report"), 1)
	}
	if w.Report, err = f.Report(ctx, account, lang); err != nil {
		err = &ReportError{err}
	}
	return w, err
}

// WithStage returns p with the parameters of one stage taken from others, which must be valid.
func WithStage(p, others processing.Params, stage processing.Stage) processing.Params {
	for _, s := range processing.SpecsOf(stage) {
		// A value of valid parameters is valid.
		_ = s.Set(&p, s.Get(others))
	}
	return p
}
