package document

import (
	"errors"
	"image"

	"blik/processing"
)

// Document is an open picture with its mask and its history.
type Document struct {
	path   string
	pic    *processing.Picture
	region *processing.Region
	mask   *processing.Mask
}

// Brush is what a stroke paints with.
type Brush struct {
	// Radius in image pixels, 0.5…MaxRadius; it is clamped. Below 1 the brush snaps to the middle of the pixel, so that
	// 0.5 paints single pixels.
	Radius float64
	// Erase takes out of the mask instead of adding to it.
	Erase bool
	// Soft lets the edge fall off over the outer half of the radius.
	Soft bool
}

// MaxRadius is the largest radius of a brush, in image pixels.
const MaxRadius = 2000

// Spot is a finding as it stands now: an 8-connected component of the mask. Its place and area are those of the mask;
// ID counts the spots of the current mask from 1 in reading order and changes with the mask. Peak, Contrast,
// Elongation and Score are those of the strongest finding of the last detection that it holds, if any. Runs is nil:
// see Document.SpotRuns.
type Spot struct {
	processing.Finding
	// Detected says that the spot holds a finding of the last detection; otherwise it was painted or loaded.
	Detected bool
}

// Bounds returns the bounding box of the spot.
func (s Spot) Bounds() image.Rectangle {
	return image.Rect(s.Left, s.Top, s.Left+s.Width, s.Top+s.Height)
}

// Stats sum up the mask.
type Stats struct {
	// Spots is the number of findings in the mask.
	Spots int
	// Area is the number of pixels that count as glare.
	Area int
}

// Pixel is what is known of one pixel.
type Pixel struct {
	X, Y int
	// Channels is 1 or 3; Samples holds as many values in the file's own depth: 0…255, 0…65535, or floats.
	Channels, Depth int
	Samples         [3]float64
	// Mask is the value of the mask, 0…255.
	Mask uint8
	// Spot is the finding under the pixel, where InSpot is set. While a stroke is painted it is not looked for.
	Spot   Spot
	InSpot bool
}

// Snapshot is a document at one moment, for work on another goroutine.
type Snapshot struct {
	Path string
	// Picture and Region are shared and never change; Region may be nil.
	Picture *processing.Picture
	Region  *processing.Region
	// Mask is a copy.
	Mask *processing.Mask
	// Generation is that of the document when it was taken.
	Generation uint64
}

// ErrStroke is returned for a change that is not possible while a stroke is being painted.
var ErrStroke = errors.New("a brush stroke is still being painted")

// New returns a document of a valid picture with an empty mask. path may be empty.
func New(path string, pic *processing.Picture) (*Document, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	return &Document{path: path, pic: pic, mask: processing.NewMask(pic.Width, pic.Height)}, nil
}

// Path returns the file that the picture was read from.
func (d *Document) Path() string { return d.path }

// Picture returns the picture; it must not be changed.
func (d *Document) Picture() *processing.Picture { return d.pic }

// Size returns width and height of the picture.
func (d *Document) Size() image.Point { return image.Pt(d.pic.Width, d.pic.Height) }

// Mask returns the mask itself, for views: it stays the same object for the document's life, must not be changed
// and not be read from another goroutine.
func (d *Document) Mask() *processing.Mask { return d.mask }

// Region returns the search region, nil for the whole picture. It must not be changed.
func (d *Document) Region() *processing.Region { return d.region }

// Result returns the last detection without its mask, nil before the first one. It must not be changed.
func (d *Document) Result() *processing.Result { return nil }

// Snapshot copies what a job needs.
func (d *Document) Snapshot() Snapshot { return Snapshot{} }

// Generation changes whenever the mask does.
func (d *Document) Generation() uint64 { return 0 }

// Dirty says whether the mask differs from the one that MarkSaved was told of.
func (d *Document) Dirty() bool { return false }

// MarkSaved says that the mask of the given generation is on disk; that of a Snapshot, or Generation for the current one.
func (d *Document) MarkSaved(generation uint64) {}

// SetRegion sets the search region, nil for the whole picture. It can be undone and leaves the mask alone.
func (d *Document) SetRegion(r *processing.Region) error { return nil }

// ApplyResult makes the mask and the findings of a detection the document's. Where the result was limited to a region,
// pass the region: the mask outside it stays. It can be undone.
func (d *Document) ApplyResult(r *processing.Result, region *processing.Region) (image.Rectangle, error) {
	return image.Rectangle{}, nil
}

// LoadMask replaces the mask by a copy of m, which must have the size of the picture. It can be undone.
func (d *Document) LoadMask(m *processing.Mask) (image.Rectangle, error) {
	return image.Rectangle{}, nil
}

// ClearMask empties the mask. It can be undone.
func (d *Document) ClearMask() image.Rectangle { return image.Rectangle{} }

// InvertMask turns every value v of the mask into 255 − v. It can be undone.
func (d *Document) InvertMask() image.Rectangle { return image.Rectangle{} }

// BeginStroke starts a stroke at (x, y), in image coordinates that may lie outside the picture, and paints its first dab.
// A stroke still open is ended first.
func (d *Document) BeginStroke(b Brush, x, y float64) image.Rectangle { return image.Rectangle{} }

// StrokeTo paints from the last point to (x, y): all pixels whose middles are within the radius of the segment, as
// endlessly many dabs would. Without an open stroke it does nothing.
func (d *Document) StrokeTo(x, y float64) image.Rectangle { return image.Rectangle{} }

// EndStroke makes the stroke one step of the history. Without an open stroke it does nothing.
func (d *Document) EndStroke() {}

// CancelStroke takes the open stroke back.
func (d *Document) CancelStroke() image.Rectangle { return image.Rectangle{} }

// Painting says whether a stroke is open.
func (d *Document) Painting() bool { return false }

// RemoveSpot takes the finding at pixel (x, y) with its soft edge out of the mask. It can be undone. ok is false where
// there is none.
func (d *Document) RemoveSpot(x, y int) (dirty image.Rectangle, ok bool) {
	return image.Rectangle{}, false
}

// RestoreSpot puts back what the last detection found at pixel (x, y). It can be undone. ok is false where it found
// nothing or all of it is in the mask.
func (d *Document) RestoreSpot(x, y int) (dirty image.Rectangle, ok bool) {
	return image.Rectangle{}, false
}

// Undo takes back the last step; ok is false where there is none. An open stroke is ended first. The rectangle is
// empty for a step that did not touch the mask.
func (d *Document) Undo() (dirty image.Rectangle, ok bool) { return image.Rectangle{}, false }

// Redo does the last step again that was undone.
func (d *Document) Redo() (dirty image.Rectangle, ok bool) { return image.Rectangle{}, false }

// UndoName returns the name of the step that Undo takes back; ok is false where there is none.
func (d *Document) UndoName() (name processing.Text, ok bool) { return processing.Text{}, false }

// RedoName returns the name of the step that Redo does again; ok is false where there is none.
func (d *Document) RedoName() (name processing.Text, ok bool) { return processing.Text{}, false }

// SetHistoryBudget bounds the memory of the history, in bytes; the oldest steps are dropped. The default is
// DefaultHistoryBudget.
func (d *Document) SetHistoryBudget(bytes int64) {}

// DefaultHistoryBudget is 512 MiB.
const DefaultHistoryBudget = 512 << 20

// Stats returns number and area of the findings in the mask.
func (d *Document) Stats() Stats { return Stats{} }

// Spots returns the findings in the mask in reading order of their first pixels. The slice must not be changed.
func (d *Document) Spots() []Spot { return nil }

// SpotAt returns the finding at pixel (x, y).
func (d *Document) SpotAt(x, y int) (Spot, bool) { return Spot{}, false }

// SpotRuns returns the pixels of the finding at pixel (x, y) in reading order, nil where there is none.
func (d *Document) SpotRuns(x, y int) []processing.Run { return nil }

// DetectedAt returns what the last detection found at pixel (x, y), whether or not it is still in the mask.
func (d *Document) DetectedAt(x, y int) (processing.Finding, bool) {
	return processing.Finding{}, false
}

// Select makes the finding at pixel (x, y) the selected one, or none.
func (d *Document) Select(x, y int) (Spot, bool) { return Spot{}, false }

// Selected returns the selected finding.
func (d *Document) Selected() (Spot, bool) { return Spot{}, false }

// Next selects the finding after the selected one, the first one after the last. ok is false where the mask is empty.
func (d *Document) Next() (s Spot, ok bool) { return Spot{}, false }

// Previous selects the finding before the selected one, the last one before the first.
func (d *Document) Previous() (s Spot, ok bool) { return Spot{}, false }

// PixelAt returns what is known of pixel (x, y); ok is false outside the picture.
func (d *Document) PixelAt(x, y int) (p Pixel, ok bool) { return Pixel{}, false }
