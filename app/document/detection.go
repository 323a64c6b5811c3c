package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// detection is the result of a detection, merged with earlier ones outside its region. It never changes once it belongs
// to a document, because the history shares it.
type detection struct {
	result   *detect.Found
	findings []detect.Finding
	// mask is the mask of the detection, one element for each tile.
	tiles tiling
	mask  Packed
	// generation is that of the document's mask when it was replaced by the whole mask of the detection; otherwise 0.
	generation uint64
	// labels and list are made by index.
	labels *labels
	list   spotList
}

// ApplyResult takes over the mask and the findings of a detection. If the detection was limited to a region, pass it:
// mask and findings outside the region stay. What the user marked, erased, kept or ignored stays so. It can be undone.
// The document keeps r but not its mask. The error says that mask or region do not fit the picture.
func (d *Document) ApplyResult(r *detect.Found, region *processing.Region) (image.Rectangle, error) {
	f, err := newFound(d.pic, d.known(), r, region, d.tiles)
	if err != nil {
		return image.Rectangle{}, err
	}
	return d.ApplyFound(f), nil
}

// Found is the result of a detection, prepared for ApplyFound.
type Found struct {
	result *detect.Found
	inside rows
	// known is the detection before; detection is the result merged with it.
	known, detection *detection
	// pixels is a copy of the result's mask, which can become that of the document; nil if the result is for a region.
	pixels *processing.Mask
}

// Found prepares a result for ApplyFound, on any goroutine; see Document.ApplyResult for arguments and errors.
func (s Snapshot) Found(r *detect.Found, region *processing.Region) (Found, error) {
	known := s.detection
	if s.replaced {
		known = nil
	}
	return newFound(s.Picture, known, r, region, s.tiles)
}

// newFound merges a result with the detection before, which may be nil, and labels the mask.
func newFound(pic *processing.Picture, known *detection, r *detect.Found, region *processing.Region, t tiling) (
	Found, error,
) {
	if r == nil {
		return Found{}, errors.New("there is no result of a detection")
	}
	if err := fits(pic, r.Mask); err != nil {
		return Found{}, err
	}
	if region != nil {
		if err := region.Validate(pic.Width, pic.Height); err != nil {
			return Found{}, err
		}
	}
	f := Found{result: r, inside: newRows(region, t), known: known}
	f.detection = known.merge(r, f.inside, t)
	f.detection.index()
	if f.inside.spans == nil {
		f.pixels = cloneMask(r.Mask)
	}
	return f, nil
}

// known returns the detection to merge the next result with, or nil if the user has replaced the whole mask since.
func (d *Document) known() *detection {
	if d.replaced {
		return nil
	}
	return d.detection
}

// ApplyFound is ApplyResult for a prepared result. If another detection was applied since f was prepared, f is prepared
// again, on this goroutine.
func (d *Document) ApplyFound(f Found) image.Rectangle {
	d.begin(message.Of("Detection"))
	if known := d.known(); known != f.known {
		f.known, f.detection = known, known.merge(f.result, f.inside, d.tiles)
	}
	mask := withHand(d, f.result.Mask, f.detection)
	whole := f.inside.spans == nil && mask == f.result.Mask
	if whole {
		d.replaceMask(f.detection, f.pixels)
	} else {
		d.rewrite(func(row []uint8, y, x0 int) {
			f.inside.each(y, x0, x0+len(row), func(a, b int) { copy(row[a-x0:b-x0], mask.Pix[y*mask.Width+a:]) })
		})
	}
	d.detection, d.replaced, d.painted = f.detection, false, false
	d.numbers = newNumbering(d.detection)
	d.edit.step.held = d.detection.bytes()
	dirty := d.commit()
	if whole {
		d.detection.generation = d.generation
	}
	return dirty
}

// asFound reports whether the mask is exactly that of the last detection.
func (d *Document) asFound() bool {
	return d.detection != nil && d.generation != 0 && d.detection.generation == d.generation
}

// PreviewFound is ApplyFound for a detection that follows a change of the parameters. If the last step is such a
// preview too, the new one replaces it, so that one undo takes back a whole series.
func (d *Document) PreviewFound(f Found) image.Rectangle {
	dirty, _ := d.replace(preview{detection: true}, func() (image.Rectangle, error) { return d.ApplyFound(f), nil })
	return dirty
}

// Untouched reports whether another detection would lose no work of the user. That holds if nothing is corrected and
// the mask is that of the last detection, apart from findings that were ignored or restored.
func (d *Document) Untouched() bool {
	return d.detection != nil && !d.replaced && !d.painted && d.corrections == nil
}

// merge returns the detection that consists of r inside a region and of old outside it.
func (old *detection) merge(r *detect.Found, inside rows, t tiling) *detection {
	kept := *r
	kept.Mask = nil
	n := &detection{result: &kept, findings: r.Findings, tiles: t, mask: make(Packed, t.count())}
	partly := old != nil && inside.spans != nil
	if partly {
		n.findings = append([]detect.Finding(nil), r.Findings...)
		for _, f := range old.findings {
			if !inside.has(int(f.X), int(f.Y)) {
				n.findings = append(n.findings, f)
			}
		}
	}
	type buffers struct{ pix, pack tileBuffer }
	forEach(len(n.mask), func(i int, b *buffers) {
		rect := t.rect(i)
		if inside.spans == nil {
			n.mask[i] = packTile(r.Mask.Pix, r.Mask.Width, rect, &b.pack)
			return
		}
		clear(b.pix[:])
		if partly {
			old.mask[i].load(&b.pix, rect)
		}
		for y := rect.Min.Y; y < rect.Max.Y; y++ {
			row := b.pix[(y-rect.Min.Y)*rect.Dx():]
			inside.each(y, rect.Min.X, rect.Max.X, func(x0, x1 int) {
				copy(row[x0-rect.Min.X:x1-rect.Min.X], r.Mask.Pix[y*r.Mask.Width+x0:])
			})
		}
		n.mask[i] = packLoaded(&b.pix, rect, &b.pack)
	})
	return n
}

// bytes estimates the memory of the detection.
func (n *detection) bytes() int64 {
	const findingBytes, runBytes = 128, 24
	sum := int64(0)
	for _, t := range n.mask {
		sum += savedBytes + int64(len(t))
	}
	for _, f := range n.findings {
		sum += findingBytes + runBytes*int64(len(f.Runs))
	}
	return sum
}

// rows holds the pixels of a region, row by row; nil spans mean the whole picture.
type rows struct{ spans [][]processing.Run }

func newRows(r *processing.Region, t tiling) rows {
	if r == nil {
		return rows{}
	}
	spans := make([][]processing.Run, t.h)
	for y := range spans {
		spans[y] = r.Spans(y, t.w)
	}
	return rows{spans}
}

// each calls do for the parts of columns x0…x1−1 of row y that lie in the region; b is excluded.
func (r rows) each(y, x0, x1 int, do func(a, b int)) {
	if r.spans == nil {
		do(x0, x1)
		return
	}
	for _, s := range r.spans[y] {
		if a, b := max(s.X0, x0), min(s.X1, x1); a < b {
			do(a, b)
		}
	}
}

func (r rows) has(x, y int) bool {
	found := false
	if y >= 0 && y < len(r.spans) {
		r.each(y, x, x+1, func(a, b int) { found = true })
	}
	return found
}

// index returns the labels of the detection's mask. The first call makes them, together with list.
func (n *detection) index() *labels {
	if n.labels == nil {
		n.labels = newLabels(n.tiles, func(i int, pix *tileBuffer) ([]uint8, int) {
			r := n.tiles.rect(i)
			n.mask[i].load(pix, r)
			return pix[:], r.Dx()
		})
		n.list = n.labels.list(n.findings)
	}
	return n.labels
}

// at returns the finding at pixel (x, y) and its pixels.
func (n *detection) at(x, y int) (Spot, []processing.Run, bool) {
	r := n.index().at(x, y)
	if r < 0 {
		return Spot{}, nil, false
	}
	s := n.list.spots[n.list.of[r]]
	return s, n.labels.runs(r, s.Bounds()), true
}

// crop returns the pixels r of the detection's mask.
func (n *detection) crop(r image.Rectangle) *processing.Mask {
	m := processing.NewMask(r.Dx(), r.Dy())
	var pix tileBuffer
	n.tiles.each(r, func(i int) {
		t := n.tiles.rect(i)
		n.mask[i].load(&pix, t)
		both := t.Intersect(r)
		for y := both.Min.Y; y < both.Max.Y; y++ {
			copy(m.Pix[(y-r.Min.Y)*m.Width+both.Min.X-r.Min.X:][:both.Dx()],
				pix[(y-t.Min.Y)*t.Dx()+both.Min.X-t.Min.X:])
		}
	})
	return m
}

// Findings returns the findings of the last detection inside its region, and of earlier ones outside it. The slice must
// not be changed.
func (d *Document) Findings() []detect.Finding {
	if d.detection == nil {
		return nil
	}
	return d.detection.findings
}

// DetectedAt returns the finding of the last detection at pixel (x, y), even if it is no longer in the mask. Position
// and area are measured on the mask of the detection.
func (d *Document) DetectedAt(x, y int) (detect.Finding, bool) {
	if d.detection == nil {
		return detect.Finding{}, false
	}
	s, runs, ok := d.detection.at(x, y)
	s.Runs = runs
	return s.Finding, ok
}

// fringe is how far the soft edge of a spot may reach, in pixels: three standard deviations of the widest feather.
const fringe = 60

// RemoveSpot removes the finding at pixel (x, y) from the mask, with its soft edge. It can be undone. ok is false if
// there is none.
func (d *Document) RemoveSpot(x, y int) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	s, ok := d.SpotAt(x, y)
	if !ok {
		return image.Rectangle{}, false
	}
	return d.Ignore([]Spot{s})
}

// copyAround copies the mask within bounds and around it, as far as a soft edge may reach. It returns the copy and its
// rectangle.
func (d *Document) copyAround(bounds image.Rectangle) (*processing.Mask, image.Rectangle) {
	r := bounds.Inset(-fringe).Intersect(d.tiles.bounds())
	m := processing.NewMask(r.Dx(), r.Dy())
	for y := range m.Height {
		copy(m.Pix[y*m.Width:(y+1)*m.Width], d.mask.Pix[(r.Min.Y+y)*d.mask.Width+r.Min.X:])
	}
	return m, r
}

// RestoreSpot adds the finding of the last detection at pixel (x, y) to the mask again. It can be undone. ok is false
// if there is none or all of it is in the mask.
func (d *Document) RestoreSpot(x, y int) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	if d.detection == nil {
		return image.Rectangle{}, false
	}
	s, runs, ok := d.detection.at(x, y)
	if !ok {
		return image.Rectangle{}, false
	}
	p := d.detection.spot(s.Bounds(), runs)
	d.begin(message.Of("Restore finding"))
	d.edit.decided = true
	d.overwrite(p.mask, p.at, func(now, next uint8) uint8 { return max(now, next) })
	dirty = d.commit()
	return dirty, !dirty.Empty()
}

// fragment is a part of a mask. at is its rectangle in the picture.
type fragment struct {
	mask *processing.Mask
	at   image.Rectangle
}

// spot returns a component of the detection's mask, given by its bounds and pixels, with its soft edge.
func (n *detection) spot(bounds image.Rectangle, runs []processing.Run) fragment {
	r := bounds.Inset(-fringe).Intersect(n.tiles.bounds())
	m := n.crop(r)
	peelRest(m, r.Min, runs)
	return fragment{m, r}
}

// overwrite combines the pixels r of the mask with those of m.
func (d *Document) overwrite(m *processing.Mask, r image.Rectangle, combine func(now, next uint8) uint8) {
	d.prepareWrite(r)
	for y := range m.Height {
		row := d.mask.Pix[(r.Min.Y+y)*d.mask.Width+r.Min.X:][:m.Width]
		for x, v := range m.Pix[y*m.Width : (y+1)*m.Width] {
			row[x] = combine(row[x], v)
		}
	}
}

// peel clears a spot, given by its runs, and its soft edge in m, whose first pixel lies at corner. The soft edge
// consists of the pixels that a path of non-increasing values joins to the spot, except those that touch another spot.
func peel(m *processing.Mask, corner image.Point, runs []processing.Run) {
	type pixel struct {
		x, y  int
		value uint8
	}
	var queue []pixel
	around := func(x, y int, do func(x, y int)) {
		for j := max(y-1, 0); j <= min(y+1, m.Height-1); j++ {
			for i := max(x-1, 0); i <= min(x+1, m.Width-1); i++ {
				do(i, j)
			}
		}
	}
	for _, run := range runs {
		clear(m.Pix[(run.Y-corner.Y)*m.Width+run.X0-corner.X:][:run.X1-run.X0])
	}
	soft := func(v uint8) bool { return v != 0 && v < processing.MaskLevel }
	if !slices.ContainsFunc(m.Pix, soft) {
		return
	}
	visit := func(x, y int, from uint8) {
		v := m.Pix[y*m.Width+x]
		if v == 0 || v > from || v >= processing.MaskLevel {
			return
		}
		free := true
		around(x, y, func(i, j int) { free = free && m.Pix[j*m.Width+i] < processing.MaskLevel })
		if free {
			m.Pix[y*m.Width+x] = 0
			queue = append(queue, pixel{x, y, v})
		}
	}
	for _, run := range runs {
		for x := run.X0 - corner.X; x < run.X1-corner.X; x++ {
			around(x, run.Y-corner.Y, func(i, j int) { visit(i, j, processing.MaskLevel) })
		}
	}
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		around(p.x, p.y, func(i, j int) { visit(i, j, p.value) })
	}
}

// peelRest clears everything that peel leaves.
func peelRest(m *processing.Mask, corner image.Point, runs []processing.Run) {
	rest := cloneMask(m)
	peel(rest, corner, runs)
	for i, v := range rest.Pix {
		m.Pix[i] -= v
	}
}

func cloneMask(m *processing.Mask) *processing.Mask {
	return &processing.Mask{Width: m.Width, Height: m.Height, Pix: slices.Clone(m.Pix)}
}
