package document

import (
	"bytes"
	"errors"
	"fmt"
	"image"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// Document is an open picture with its mask and its history.
type Document struct {
	path  string
	pic   *processing.Picture
	mask  *processing.Mask
	tiles tiling
	// packed caches the packed tiles of the mask, without the part that is only shown; see pack and changedTile.
	packed []packedTile

	undoable
	// lastGeneration is the highest generation of the mask so far, saved that of the mask on disk.
	lastGeneration, saved uint64
	// lastPicture is the highest generation of corrections so far, savedPicture that of the corrections on disk.
	lastPicture, savedPicture uint64

	history history
	edit    edit
	stroke  *stroke

	spots *labels
	// list caches the spots of the mask; it is up to date while listed equals the present contents.
	list   spotList
	listed contents
	// selected is the first pixel of the selected finding.
	selected image.Point
	chosen   bool

	// part is set while the mask shows a part of another detection; see ShowPart.
	part *shownPart
	// dropped covers the parts that are no longer shown, until Dropped returns it.
	dropped image.Rectangle

	scratch tileBuffer
	// spans is scratch memory of paint.
	spans []processing.Run
}

// undoable is what a step of the history restores besides the pixels of the mask.
type undoable struct {
	// generation identifies the content of the mask: equal generations mean equal masks.
	generation uint64
	region     *processing.Region
	detection  *detection
	// replaced is set if the user replaced the whole mask since the last detection. A finding that is missing from such
	// a mask does not count as ignored.
	replaced bool
	// painted is set if the user painted or erased since the last detection.
	painted bool
	// decisions holds the findings that the user chose to keep, hand what was marked and erased.
	decisions *Decisions
	hand      *hand
	// numbers assigns the numbers of the findings.
	numbers     *numbering
	corrections *Corrections
}

// Stats are totals of the mask.
type Stats struct {
	// Spots is the number of findings in the mask.
	Spots int
	// Area is the number of pixels that count as glare.
	Area int
}

// Pixel is everything known about one pixel.
type Pixel struct {
	X, Y int
	// Channels is 1, 3 or 4, and so many values of Samples and Source are used. They have the depth of the file: 0…255,
	// 0…65535, or floats. Samples are those of the corrected picture, Source those of the original.
	Channels, Depth int
	Samples, Source [4]float64
	// Corrected is set if a correction covers the pixel.
	Corrected bool
}

// Snapshot is the state of a document, for work on another goroutine.
type Snapshot struct {
	Path string
	// Picture and Region are shared and never change; Region may be nil.
	Picture *processing.Picture
	Region  *processing.Region
	// Corrections is nil if nothing is corrected.
	Corrections *Corrections
	// Generation is that of the mask.
	Generation uint64

	tiles             tiling
	mask              Packed
	detection         *detection
	decisions         *Decisions
	hand              *hand
	replaced, painted bool
	numbers           []Numbered
}

// Mask returns a new copy of the mask. It writes every pixel; taking the Snapshot does not.
func (s Snapshot) Mask() *processing.Mask { return s.mask.unpack(s.tiles.w, s.tiles.h) }

// New returns a document of a picture, with an empty mask. path may be empty. The error is that of Picture.Validate.
func New(path string, pic *processing.Picture) (*Document, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	d := &Document{
		path: path, pic: pic,
		mask: processing.NewMask(pic.Width, pic.Height), tiles: newTiling(pic.Width, pic.Height),
		history: history{budget: defaultHistoryBudget}, undoable: undoable{numbers: newNumbering(nil)},
	}
	d.packed = make([]packedTile, d.tiles.count())
	d.edit.touched = make([]bool, d.tiles.count())
	d.spots = labelsOf(d.tiles, d.mask)
	return d, nil
}

// Path returns the file that the picture was read from.
func (d *Document) Path() string { return d.path }

// Picture returns the original, without corrections. It must not be changed.
func (d *Document) Picture() *processing.Picture { return d.pic }

// Size returns width and height of the picture.
func (d *Document) Size() image.Point { return image.Pt(d.pic.Width, d.pic.Height) }

// Mask returns the mask itself, for views. It is the same object for the life of the document. It must not be changed,
// nor read on another goroutine.
func (d *Document) Mask() *processing.Mask { return d.mask }

// Region returns the search region, nil for the whole picture. It must not be changed.
func (d *Document) Region() *processing.Region { return d.region }

// Result returns the last detection without its mask, or nil before the first one. It must not be changed.
func (d *Document) Result() *detect.Found {
	if d.detection == nil {
		return nil
	}
	return d.detection.result
}

// Snapshot returns the present state for a job. Only tiles that changed since they were last packed are packed again.
func (d *Document) Snapshot() Snapshot {
	return Snapshot{Path: d.path, Picture: d.pic, Region: d.region, Corrections: d.corrections,
		Generation: d.generation, tiles: d.tiles, mask: d.packAll(), detection: d.detection, decisions: d.decisions,
		hand: d.hand, replaced: d.replaced, painted: d.painted, numbers: d.numbers.marked}
}

// Generation identifies the content of the mask: it changes whenever the mask does, and an undo restores it.
func (d *Document) Generation() uint64 { return d.generation }

// Dirty reports whether the mask differs from the one on disk. A new document's empty mask is not dirty.
func (d *Document) Dirty() bool { return d.generation != d.saved }

// MarkSaved records that the mask of the given generation is on disk.
func (d *Document) MarkSaved(generation uint64) { d.saved = generation }

// SetRegion makes a copy of r the search region; nil is the whole picture. The mask stays as it is. It can be undone.
// The error is that of Region.Validate.
func (d *Document) SetRegion(r *processing.Region) error {
	if r != nil {
		if err := r.Validate(d.pic.Width, d.pic.Height); err != nil {
			return err
		}
		r = &processing.Region{Shape: r.Shape, Points: append([]processing.Point(nil), r.Points...)}
	}
	if r == nil && d.region == nil {
		return nil
	}
	d.begin(message.Of("Search region"))
	d.region = r
	d.commit()
	return nil
}

// LoadMask replaces the mask by a copy of m, which counts as marked by hand. It can be undone. The error says that
// m has not the size of the picture.
func (d *Document) LoadMask(m *processing.Mask) (image.Rectangle, error) {
	if err := fits(d.pic, m); err != nil {
		return image.Rectangle{}, err
	}
	d.begin(message.Of("Load mask"))
	d.rewrite(func(row []uint8, y, x0 int) { copy(row, m.Pix[y*m.Width+x0:]) })
	markReplaced(d)
	return d.commit(), nil
}

// fits returns an error if a mask has not the size of a picture.
func fits(pic *processing.Picture, m *processing.Mask) error {
	switch {
	case m == nil:
		return errors.New("there is no mask")
	case m.Width != pic.Width || m.Height != pic.Height:
		return fmt.Errorf("the mask has %d × %d pixels, the picture %d × %d: they must be equal",
			m.Width, m.Height, pic.Width, pic.Height)
	case len(m.Pix) != m.Width*m.Height:
		return fmt.Errorf("the mask of %d × %d pixels holds %d values", m.Width, m.Height, len(m.Pix))
	}
	return nil
}

// ClearMask empties the mask. It can be undone.
func (d *Document) ClearMask() image.Rectangle {
	d.begin(message.Of("Clear mask"))
	d.rewrite(func(row []uint8, y, x0 int) { clear(row) })
	markReplaced(d)
	return d.commit()
}

// InvertMask replaces each value v of the mask by 255 − v, only inside the search region if one is set. It can be
// undone.
func (d *Document) InvertMask() image.Rectangle {
	d.begin(message.Of("Invert mask"))
	inside := newRows(d.region, d.tiles)
	d.rewrite(func(row []uint8, y, x0 int) {
		inside.each(y, x0, x0+len(row), func(a, b int) {
			for x := a - x0; x < b-x0; x++ {
				row[x] = 255 - row[x]
			}
		})
	})
	if d.region == nil {
		markReplaced(d)
	} else {
		d.edit.byHand = true
	}
	return d.commit()
}

// markReplaced records that the user replaced the whole mask: it has nothing to do with the findings and numbers before
// it.
func markReplaced(d *Document) {
	d.replaced, d.numbers = true, newNumbering(nil)
	markAll(d)
}

// rewrite calls change with a copy of each row of each tile, on several goroutines, then saves the tiles that changed
// in the edit and writes them to the mask. The row starts at pixel (x0, y).
func (d *Document) rewrite(change func(row []uint8, y, x0 int)) {
	saved := make([]*tileData, d.tiles.count())
	type buffers struct{ next, pack tileBuffer }
	forEach(len(saved), func(i int, b *buffers) {
		r := d.tiles.rect(i)
		w := r.Dx()
		differs := false
		for y := r.Min.Y; y < r.Max.Y; y++ {
			now := d.mask.Pix[y*d.mask.Width+r.Min.X:][:w]
			row := b.next[(y-r.Min.Y)*w:][:w]
			copy(row, now)
			change(row, y, r.Min.X)
			differs = differs || string(row) != string(now)
		}
		if !differs {
			return
		}
		data := d.pack(i, &b.pack)
		saved[i] = &data
		for y := r.Min.Y; y < r.Max.Y; y++ {
			copy(d.mask.Pix[y*d.mask.Width+r.Min.X:][:w], b.next[(y-r.Min.Y)*w:])
		}
	})
	d.edit.exact = true
	for i, data := range saved {
		if data != nil {
			d.edit.step.tiles = append(d.edit.step.tiles, savedTile{i, *data})
			d.changedTile(i)
		}
	}
}

// replaceMask replaces the mask by that of a detection of the whole picture. It takes the pixels over, if another call
// has not: writing them anew takes longer than an event should wait, above all into memory that was never used.
func (d *Document) replaceMask(found *detection, pixels *processing.Mask) {
	d.edit.exact = true
	var differ []int
	for i, now := range d.packAll() {
		if !bytes.Equal(now, found.mask[i]) {
			d.edit.step.tiles = append(d.edit.step.tiles, savedTile{i, now})
			differ = append(differ, i)
		}
	}
	if pixels.Pix == nil {
		forEach(len(differ), func(k int, _ *tileBuffer) {
			i := differ[k]
			found.mask[i].unpack(d.mask.Pix, d.mask.Width, d.tiles.rect(i))
		})
	} else {
		d.mask.Pix, pixels.Pix = pixels.Pix, nil
	}
	for _, i := range differ {
		d.packed[i] = packedTile{data: found.mask[i]}
		d.spots.adopt(i, found.index())
	}
}

// PixelAt describes pixel (x, y); ok is false outside the picture.
func (d *Document) PixelAt(x, y int) (p Pixel, ok bool) {
	if !image.Pt(x, y).In(d.tiles.bounds()) {
		return Pixel{}, false
	}
	p = Pixel{X: x, Y: y, Channels: d.pic.Channels, Depth: d.pic.Depth()}
	i := (y*d.pic.Width + x) * p.Channels
	p.Source = values(d.pic.Samples(), i, p.Channels)
	p.Samples = p.Source
	if k, n := d.corrections.at(x, y); k != nil {
		p.Corrected = true
		p.Samples = values(k.patch.Samples(), n*p.Channels, p.Channels)
	}
	return p, true
}

// values returns n samples from index i on.
func values(s processing.Samples, i, n int) (v [4]float64) {
	for c := range n {
		switch {
		case s.U8 != nil:
			v[c] = float64(s.U8[i+c])
		case s.U16 != nil:
			v[c] = float64(s.U16[i+c])
		default:
			v[c] = float64(s.F32[i+c])
		}
	}
	return v
}
