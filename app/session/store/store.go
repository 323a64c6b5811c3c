package store

import (
	"context"
	"errors"
	"image"
	"slices"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/project"
	"blik/app/session"
	"blik/app/thumbnail"
	"blik/app/work"
	"blik/internal/atomicfile"
)

// Options are the parts of a store.
type Options struct {
	Files Files
	// Journal is the folder for the journal of unsaved work, or empty for none. It lies on Disk; nil is that of this
	// machine.
	Journal string
	Disk    atomicfile.FileSystem
	// Thumbnails stores the thumbnails of recent files; it may be nil. Thumbnailed, which may be nil, returns further
	// pictures whose thumbnails are kept.
	Thumbnails  *thumbnail.Cache
	Thumbnailed func() []string
	// Version is the version of the program, for reports.
	Version string
	// Ahead is the placeholder of the picture that will be opened first; it may be nil.
	Ahead *Ahead
	// PlaceholderWait is the longest time that reading a picture waits for its placeholder to appear; 0 for the
	// default.
	PlaceholderWait time.Duration
}

// Store opens pictures, saves the work on them, and keeps what is not saved in a journal.
type Store struct {
	s *session.Session
	o Options
	// disk is what is on disk of the open picture, told what the last Change told of it.
	disk    onDisk
	told    saved
	loading loading
	extent  extent
	// journal, which may be nil, stores unsaved work. forget is set if the user does not want to keep it.
	journal *journal
	forget  bool
}

// onDisk says what is on disk of the open picture and of the work on it.
type onDisk struct {
	// state is the state of the picture's file when it was read, small its thumbnail.
	state string
	small image.Image
	// maskFile is the file in which the mask was last saved, maskState its state then (imagefile.State). written is the
	// corrected picture that was last saved.
	maskFile, maskState string
	written             work.Written
	// overwritten is the generation of the mask when the corrected picture replaced the original; 0 if it did not.
	overwritten uint64
	// continued says whether the project of the picture was used. project is its file, kept the work that the file
	// holds; keptSaved is set if it says that the picture is saved.
	continued Continued
	project   project.Fingerprint
	kept      session.Revision
	keptSaved bool
	// leftManual is the path of the picture whose manual mode ended when this one was opened.
	leftManual string
}

// saved is the part of what is on disk that Change.Saved describes.
type saved struct {
	maskDirty, pictureDirty bool
	maskFile                string
	picture                 *imagefile.Saved
	overwritten             uint64
	project                 time.Time
}

func New(s *session.Session, o Options) *Store {
	if o.PlaceholderWait == 0 {
		o.PlaceholderWait = placeholderWait
	}
	if o.Disk == nil {
		o.Disk = atomicfile.Disk{}
	}
	d := &Store{s: s, o: o, loading: loading{ahead: o.Ahead}}
	if o.Journal != "" {
		d.journal = newJournal(o.Disk, o.Journal, d.journalFailed)
	}
	d.extent.jobs = s.Beside()
	s.AddModule(session.Module{Changed: d.changed, Close: func(ctx context.Context) error {
		return errors.Join(d.extent.jobs.Close(ctx), d.closeJournal(ctx))
	}})
	return d
}

func (d *Store) changed(c *session.Change) {
	mask, picture := d.Unsaved()
	now := saved{mask, picture, d.disk.maskFile, d.disk.written.Saved, d.disk.overwritten, d.disk.continued.Date}
	c.Saved = now != d.told
	d.told = now
	c.Extent = d.extent.of != d.extent.told
	d.extent.told = d.extent.of
	if d.journal != nil && (c.Document || c.Mask || c.Corrections || c.Saved || c.Region || c.Decisions || c.Result) {
		d.journal.note(d.unsaved())
	}
}

// Unsaved reports whether the mask and the corrected picture contain work that is neither saved nor in the project.
func (d *Store) Unsaved() (mask, picture bool) {
	doc := d.s.Document()
	if doc == nil || d.safe() {
		return false, false
	}
	picture = doc.PictureDirty()
	return doc.Dirty() && (picture || !corrected(doc)), picture
}

// corrected reports whether all that is marked is corrected: then a saved picture shows what the mask would.
func corrected(doc *document.Document) bool {
	return doc.Corrections() != nil && !slices.ContainsFunc(doc.Spots(), func(s document.Spot) bool {
		return s.State != document.Corrected
	})
}

// Small returns the thumbnail of the open picture; nil if it could not be made.
func (d *Store) Small() image.Image { return d.disk.small }
