package ui

import (
	"context"
	"errors"
	"time"

	"blik/app/compute"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/report"
	"blik/processing"
)

// engine is the work that the window has done in jobs; tests put their own in its place.
type engine struct {
	read      func(ctx context.Context, path string) (*imagefile.File, error)
	readMask  func(ctx context.Context, path string, w, h int) (*processing.Mask, error)
	writeMask func(ctx context.Context, path string, m *processing.Mask) error
	// detect and correct run on the device of the moment. notice, if not nil, is a sentence for the user on what became of it.
	detect  func(ctx context.Context, pic *processing.Picture, p processing.Params, o processing.Options) (r *processing.Result, notice *processing.Text, err error)
	correct func(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params, o processing.CorrectOptions) (c *processing.Correction, notice *processing.Text, err error)
	save    func(ctx context.Context, f *imagefile.File, path string, patches []processing.Patch, o imagefile.SaveOptions) (*imagefile.Saved, error)
	// report writes the report on a corrected picture and returns the path of what a person reads.
	report func(ctx context.Context, c report.Correction, lang string) (html string, err error)
}

// programEngine is the work as the program does it, on the device of the slot.
func programEngine(slot *compute.Slot) engine {
	return engine{
		read: func(ctx context.Context, path string) (*imagefile.File, error) {
			limits := imagefile.DefaultLimits()
			limits.Work = processing.DetectionBytes
			return imagefile.Read(ctx, path, limits)
		},
		readMask:  imagefile.ReadMask,
		writeMask: imagefile.WriteMask,
		detect: func(ctx context.Context, pic *processing.Picture, p processing.Params, o processing.Options) (r *processing.Result, notice *processing.Text, err error) {
			notice, err = slot.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
				r, err = processing.Detect(ctx, b, pic, p, o)
				return err
			})
			return r, notice, err
		},
		correct: func(ctx context.Context, pic *processing.Picture, m *processing.Mask, p processing.Params, o processing.CorrectOptions) (c *processing.Correction, notice *processing.Text, err error) {
			notice, err = slot.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, b processing.Backend) error {
				c, err = processing.Correct(ctx, b, pic, m, p, o)
				return err
			})
			return c, notice, err
		},
		save: imagefile.Save,
		report: func(ctx context.Context, c report.Correction, lang string) (string, error) {
			_, html, err := report.SaveCorrection(ctx, c, lang)
			return html, err
		},
	}
}

// start runs work as the window's one job and shows its progress. done runs when it has succeeded; an error is shown, a
// cancel told in the status bar.
func start[T any](w *window, work job.Work[T], done func(T)) {
	startOr(w, work, done, func(error) bool { return false })
}

// startOr is start for work with errors of its own: failed says whether it has taken care of one.
func startOr[T any](w *window, work job.Work[T], done func(T), failed func(error) bool) {
	err := job.Start(w.jobs, work, w.refreshProgress, func(result T, err error) {
		w.refreshBusy()
		switch {
		case err != nil && failed(err):
		case errors.Is(err, context.Canceled):
			w.say(w.t("status.cancelled"))
		case err != nil:
			w.say("")
			w.showError(err)
		default:
			done(result)
		}
	})
	if errors.Is(err, job.ErrBusy) {
		w.say(w.t("status.busy"))
		return
	}
	if err != nil {
		w.showError(err)
		return
	}
	w.refreshProgress(job.Update{})
	w.refreshBusy()
}

// detected is what a detection found, in what time, and the notice of its device, if any.
type detected struct {
	result *processing.Result
	notice *processing.Text
	took   time.Duration
}

// detect looks for glare with the parameters shown.
func (w *window) detect() {
	w.win.Canvas().Unfocus()
	w.port.End()
	doc, params, region := w.doc, w.settings.Params, w.doc.Region()
	work := func(ctx context.Context, report processing.Progress) (detected, error) {
		start := time.Now()
		r, notice, err := w.engine.detect(ctx, doc.Picture(), params, processing.Options{Region: region, Progress: report})
		return detected{r, notice, time.Since(start)}, err
	}
	start(w, work, func(d detected) {
		w.refreshDevice()
		if doc != w.doc {
			return
		}
		w.port.End()
		dirty, err := doc.ApplyResult(d.result, region)
		if err != nil {
			w.showError(err)
			return
		}
		w.stopComparing()
		w.showMask()
		w.port.MaskChanged(dirty)
		w.refreshResult()
		w.refreshMask()
		w.refreshMenu()
		stats := doc.Stats()
		w.say(w.texts.N("status.done", len(d.result.Findings)) + w.ran(d.took, d.result.Device) + w.noticeText(d.notice))
		w.log.line("done %d %d", stats.Spots, stats.Area)
	})
}
