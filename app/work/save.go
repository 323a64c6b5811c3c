package work

import (
	"context"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
)

// Target says where a corrected picture and what belongs to it are written.
type Target struct {
	Path string
	// Mask is the file of the mask with halo and veil; empty for none.
	Mask string
	// About is that of imagefile.Outputs; may be empty.
	About string
	// Report writes the report; nil for none. Now returns its date; nil: that of the account.
	Report  *i18n.Printer
	Now     func() time.Time
	Options imagefile.SaveOptions
}

// Written is a corrected picture that was saved. Report and JSON are the paths of its report, empty if none was
// written.
type Written struct {
	Saved        *imagefile.Saved
	Extent       report.Extent
	Report, JSON string
	Stages       []processing.StageTime
}

// Save writes the corrected picture that account describes and what belongs to it: all or nothing; see imagefile.Save.
func Save(ctx context.Context, account report.Correction, t Target) (w Written, err error) {
	out := imagefile.Begin()
	defer out.Close()
	out.About(t.About)
	err = timed(&w.Stages, "save and prove", func() (err error) {
		w.Saved, err = out.AddPicture(ctx, account.Source, t.Path, account.Patches, t.Options)
		if account.Saved = w.Saved; err == nil {
			w.Extent, err = account.Extent()
		}
		return err
	})
	if err != nil {
		return w, err
	}
	if t.Now != nil {
		account.Date = t.Now()
	}
	err = timed(&w.Stages, "write report", func() error {
		if t.Mask != "" {
			pic := account.Source.Picture
			account.MaskPath = t.Mask
			options := imagefile.WriteOptions{Overwrite: t.Options.Overwrite, Like: account.Source}
			mask := imagefile.MaskOf(pic.Width, pic.Height, account.Patches)
			if err := out.AddMask(ctx, t.Mask, options, mask); err != nil {
				return err
			}
		}
		if t.Report != nil {
			if t.Options.Progress != nil {
				t.Options.Progress(message.Of("writing the report"), 1)
			}
			w.JSON, w.Report, err = report.AddCorrection(ctx, out, account, t.Report, t.Options.Overwrite)
			if err != nil {
				return err
			}
		}
		return out.Commit(ctx, t.Path)
	})
	return w, err
}
