package document

import (
	"bytes"
	"errors"
	"fmt"
	"image"

	"blik/internal/message"
	"blik/processing"
)

// Document is an open picture with its mask and its history.
type Document struct {
	path   string
	pic    *processing.Picture
	region *processing.Region
	mask   *processing.Mask
	tiles  tiling
	// packed holds the tiles of the mask without the part that is shown, as far as they have not changed since they
	// were packed; see pack and changedTile.
	packed []packedTile

	// generation names the content of the mask: equal generations are equal masks. lastGeneration is the highest given.
	generation, lastGeneration, saved uint64

	detection *detection
	// renewed says that the whole mask was replaced by hand since the last detection, so that nothing follows from what
	// is not in it.
	renewed bool
	// drawn says that the mask was painted or erased by hand since the last detection.
	drawn bool
	// decisions are the findings that were kept.
	decisions *Decisions
	// corrections lie over the picture; lastPicture is the highest generation given to them, savedPicture that on disk.
	corrections               *Corrections
	lastPicture, savedPicture uint64

	history history
	edit    edit
	stroke  *stroke

	spots *labels
	// list are the spots of the mask of generation listed.
	list     spotList
	listed   uint64
	listOf   *detection
	listWith *Corrections
	listKept *Decisions
	selected image.Point
	chosen   bool

	// part is what the mask holds in place of the pixels that a part of another detection shows; nil for none.
	part *shownPart
	// dropped are the pixels of parts that are no longer shown, until Dropped names them.
	dropped image.Rectangle

	scratch tileBuffer
	// spans are the rows of a piece of a stroke.
	spans []span
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
	// Channels is 1, 3 or 4; Samples holds as many values in the file's own depth: 0…255, 0…65535, or floats. They are
	// those of the corrected picture; Source are those that were read.
	Channels, Depth int
	Samples, Source [4]float64
	// Corrected says that a correction covers the pixel.
	Corrected bool
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
	// Corrections are what lies over the picture; nil where nothing does.
	Corrections *Corrections
	// Generation is that of the document when it was taken.
	Generation uint64

	tiles          tiling
	mask           []tileData
	detection      *detection
	decisions      *Decisions
	renewed, drawn bool
}

// Mask makes a copy of the mask. It takes the time of writing a value for each pixel, which Snapshot itself does not.
func (s Snapshot) Mask() *processing.Mask { return unpackAll(s.tiles, s.mask) }

// New returns a document of a valid picture with an empty mask. path may be empty.
func New(path string, pic *processing.Picture) (*Document, error) {
	if err := pic.Validate(); err != nil {
		return nil, err
	}
	d := &Document{
		path: path, pic: pic,
		mask: processing.NewMask(pic.Width, pic.Height), tiles: newTiling(pic.Width, pic.Height),
		history: history{budget: DefaultHistoryBudget},
	}
	d.packed = make([]packedTile, d.tiles.count())
	d.edit.touched = make([]bool, d.tiles.count())
	d.spots = newLabels(d.tiles, func(i int, _ *tileBuffer) ([]uint8, int) {
		r := d.tiles.rect(i)
		return d.mask.Pix[r.Min.Y*d.mask.Width+r.Min.X:], d.mask.Width
	})
	return d, nil
}

// Path returns the file that the picture was read from.
func (d *Document) Path() string { return d.path }

// Picture returns the picture as it was read; it must not be changed. What is corrected lies over it: see Corrections.
func (d *Document) Picture() *processing.Picture { return d.pic }

// Size returns width and height of the picture.
func (d *Document) Size() image.Point { return image.Pt(d.pic.Width, d.pic.Height) }

// Mask returns the mask itself, for views: it stays the same object for the document's life, must not be changed
// and not be read from another goroutine.
func (d *Document) Mask() *processing.Mask { return d.mask }

// Region returns the search region, nil for the whole picture. It must not be changed.
func (d *Document) Region() *processing.Region { return d.region }

// Result returns the last detection without its mask, nil before the first one. It must not be changed.
func (d *Document) Result() *processing.Result {
	if d.detection == nil {
		return nil
	}
	return d.detection.result
}

// Snapshot keeps what a job needs. The mask is packed, and packed anew only where it has changed since it was last.
func (d *Document) Snapshot() Snapshot {
	var stale []int
	for i := range d.packed {
		if d.packed[i].stale {
			stale = append(stale, i)
		}
	}
	spread(len(stale), newBuffer, func(k int, scratch *tileBuffer) { d.pack(stale[k], scratch) })
	mask := make([]tileData, len(d.packed))
	for i := range mask {
		mask[i] = d.packed[i].data
	}
	return Snapshot{Path: d.path, Picture: d.pic, Region: d.region, Corrections: d.corrections,
		Generation: d.generation, tiles: d.tiles, mask: mask, detection: d.detection, decisions: d.decisions,
		renewed: d.renewed, drawn: d.drawn}
}

// Generation names the content of the mask: it changes whenever the mask does, and comes back when a change is undone.
func (d *Document) Generation() uint64 { return d.generation }

// Dirty reports whether the mask differs from the one given to MarkSaved, at first the empty one.
func (d *Document) Dirty() bool { return d.generation != d.saved }

// MarkSaved says that the mask of the given generation is on disk; that of a Snapshot, or Generation for the current
// one.
func (d *Document) MarkSaved(generation uint64) { d.saved = generation }

// SetRegion sets a copy of r as the search region, nil for the whole picture. It can be undone and leaves the mask
// alone.
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

// LoadMask replaces the mask by a copy of m, which must have the size of the picture. It can be undone.
func (d *Document) LoadMask(m *processing.Mask) (image.Rectangle, error) {
	if err := d.fits(m); err != nil {
		return image.Rectangle{}, err
	}
	d.begin(message.Of("Load mask"))
	d.rewrite(func(row []uint8, y, x0 int) { copy(row, m.Pix[y*m.Width+x0:]) })
	d.renewed = true
	return d.commit(), nil
}

// fits reports whether m has the size of the picture.
func (d *Document) fits(m *processing.Mask) error { return fits(d.pic, m) }

// fits reports whether a mask has the size of a picture.
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
	d.renewed = true
	return d.commit()
}

// InvertMask turns every value v of the mask into 255 − v, within the search region if there is one. It can be undone.
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
		d.renewed = true
	} else {
		d.edit.byHand = true
	}
	return d.commit()
}

// rewrite lets change work on a copy of each row of each tile, on several goroutines, and saves and writes the tiles
// that differ. The row starts at pixel (x0, y).
func (d *Document) rewrite(change func(row []uint8, y, x0 int)) {
	saved := make([]*tileData, d.tiles.count())
	type buffers struct{ next, pack tileBuffer }
	spread(len(saved), func() *buffers { return new(buffers) }, func(i int, b *buffers) {
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

// replaceMask makes the mask that of a detection of the whole picture, tile by tile.
func (d *Document) replaceMask(found *detection) {
	d.edit.exact = true
	var differ []int
	spread(len(found.mask), newBuffer, func(i int, scratch *tileBuffer) { d.pack(i, scratch) })
	for i, next := range found.mask {
		if now := d.packed[i].data; !bytes.Equal(now, next) {
			d.edit.step.tiles = append(d.edit.step.tiles, savedTile{i, now})
			differ = append(differ, i)
		}
	}
	d.unpackTiles(differ, found.mask)
	for _, i := range differ {
		d.spots.adopt(i, found.index())
	}
}

// PixelAt returns what is known of pixel (x, y); ok is false outside the picture.
func (d *Document) PixelAt(x, y int) (p Pixel, ok bool) {
	if !image.Pt(x, y).In(d.tiles.bounds()) {
		return Pixel{}, false
	}
	p = Pixel{X: x, Y: y, Channels: d.pic.Channels, Depth: d.pic.Depth(), Mask: d.mask.Pix[y*d.mask.Width+x]}
	i := (y*d.pic.Width + x) * p.Channels
	p.Source = values(d.pic.U8, d.pic.U16, d.pic.F32, i, p.Channels)
	p.Samples = p.Source
	if k, n := d.corrections.at(x, y); k != nil {
		p.Corrected = true
		p.Samples = values(k.patch.U8, k.patch.U16, k.patch.F32, n*p.Channels, p.Channels)
	}
	if d.stroke == nil {
		p.Spot, p.InSpot = d.SpotAt(x, y)
	}
	return p, true
}

// values returns n samples from the i-th of whichever of the slices holds any.
func values(u8 []uint8, u16 []uint16, f32 []float32, i, n int) (v [4]float64) {
	for c := range n {
		switch {
		case u8 != nil:
			v[c] = float64(u8[i+c])
		case u16 != nil:
			v[c] = float64(u16[i+c])
		default:
			v[c] = float64(f32[i+c])
		}
	}
	return v
}
