package session

import (
	"context"
	"image"

	"blik/app/device"
	"blik/app/imagefile"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// Limits returns the limits of pictures that detection can process.
func Limits() imagefile.Limits {
	limits := imagefile.DefaultLimits()
	limits.Work = detect.BytesPerPixel
	return limits
}

// Engine detects and corrects glare, and computes what only a window shows.
type Engine interface {
	work.Engine
	// Search is detect.Search.
	Search(ctx context.Context, pic *processing.Picture, o detect.Options) (
		t *detect.Table, notice *message.Message, err error)
	Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
		*detect.LayerMap, error)
	// Levels is detect.LevelHistogram.
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
	o correct.Options,
) (c *correct.Correction, notice *message.Message, err error) {
	if o.Memory == 0 {
		_, o.Memory = imagefile.MachineMemory()
	}
	notice, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		c, err = correct.Correct(ctx, b, pic.Visible(), m, p, o)
		return err
	})
	if err == nil {
		c.Hide(pic)
	}
	return c, notice, err
}

// Inspect ignores the notice of the device, because it is only for display.
func (e engine) Inspect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.LayerOptions) (
	m *detect.LayerMap, err error,
) {
	part := o.Rect.Intersect(image.Rect(0, 0, pic.Width, pic.Height))
	_, err = e.runner.Run(ctx, part.Dx()*part.Dy(), func(ctx context.Context, b processing.Backend) error {
		m, err = detect.Inspect(ctx, b, pic.Visible(), p, o)
		return err
	})
	return m, err
}

// Levels ignores the notice of the device, like Inspect.
func (e engine) Levels(ctx context.Context, pic *processing.Picture, region *processing.Region) (
	all, inside []uint64, err error,
) {
	_, err = e.runner.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
		all, inside, err = detect.LevelHistogram(ctx, b, pic.Visible(), region)
		return err
	})
	return all, inside, err
}
