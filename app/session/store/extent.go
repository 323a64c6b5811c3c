package store

import (
	"context"
	"image"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/job"
	"blik/app/report"
	"blik/app/session"
	"blik/processing"
)

// extent counts what a save of the corrected picture would be free to change, in parallel with other work.
type extent struct {
	jobs *job.Runner
	// of are the corrections that were counted last, told those of which the last Change told.
	of, told *document.Corrections
	counted  report.Extent
}

// Extent returns the pixels that a save of the corrected picture would be free to change. If they are not counted yet,
// ok is false, and Change.Extent says when they are.
func (d *Store) Extent() (e report.Extent, ok bool) {
	if !d.s.Corrected() {
		return report.Extent{}, false
	}
	doc := d.s.Document()
	of := doc.Corrections()
	if d.extent.of == of {
		return d.extent.counted, true
	}
	if d.extent.jobs.Busy() {
		// The Change of that count asks again.
		return report.Extent{}, false
	}
	shot, account := doc.Snapshot(), AccountOf(&imagefile.File{Picture: doc.Picture()}, doc, d.o.Version)
	work := func(context.Context, processing.Progress) (report.Extent, error) {
		account.Mask = shot.Mask()
		return account.Extent()
	}
	// It fails only while the program ends.
	_ = job.Start(d.extent.jobs, work, nil, func(counted report.Extent, err error) {
		if err == nil {
			d.extent.of, d.extent.counted = of, counted
			d.s.Publish(session.Other, image.Rectangle{})
		}
	})
	return report.Extent{}, false
}
