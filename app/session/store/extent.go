package store

import (
	"image"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/report"
	"blik/app/session"
)

// extent counts what a save of the corrected picture would be free to change, on a goroutine of its own.
type extent struct {
	// of are the corrections that were counted last, told those of which the last Change told, running those that are
	// being counted.
	of, told, running *document.Corrections
	counted           report.Extent
}

// Extent returns the pixels that a save of the corrected picture would be free to change. If they are not counted yet,
// ok is false, and Change.Extent says when they are.
func (d *Store) Extent() (e report.Extent, ok bool) {
	switch {
	case !d.s.Corrected():
		return report.Extent{}, false
	case d.extent.of == d.s.Document().Corrections():
		return d.extent.counted, true
	case d.extent.running == nil:
		d.count()
	}
	return report.Extent{}, false
}

// count counts the pixels of the present corrections.
func (d *Store) count() {
	doc := d.s.Document()
	shot, of := doc.Snapshot(), doc.Corrections()
	account := AccountOf(&imagefile.File{Picture: doc.Picture()}, doc, d.o.Version)
	d.extent.running = of
	go func() {
		account.Mask, account.Date = shot.Mask(), time.Now()
		e, err := account.Extent()
		d.s.Dispatch(func() {
			d.extent.running = nil
			if err == nil {
				d.extent.of, d.extent.counted = of, e
			}
			d.s.Publish(session.Other, image.Rectangle{})
		})
	}()
}
