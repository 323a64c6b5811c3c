package document

import (
	"errors"
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// detection is what was found last. Once it is the document's it never changes, so that the history can hold it.
type detection struct {
	result   *processing.Result
	findings []processing.Finding
	// mask is the mask that detection made, tile by tile.
	tiles tiling
	mask  []tileData
	// generation is that of the document's mask where this was made all of it, 0 where it never was.
	generation uint64
	// labels and list are made when first asked for.
	labels *labels
	list   spotList
}

// ApplyResult makes the mask and the findings of a detection the document's. Where the result was limited to a region,
// pass the region: the mask and the findings outside it stay. What was ignored stays ignored. It can be undone. The
// document keeps r, whose mask may be used further by the caller.
func (d *Document) ApplyResult(r *processing.Result, region *processing.Region) (image.Rectangle, error) {
	f, err := newFound(d.pic, d.known(), r, region, d.tiles)
	if err != nil {
		return image.Rectangle{}, err
	}
	return d.ApplyFound(f), nil
}

// Found is the result of a detection with all that a document makes of it, for ApplyFound.
type Found struct {
	result *processing.Result
	inside rows
	// known is what was found before; detection is what is known with the result.
	known, detection *detection
}

// Found prepares a result for ApplyFound, on any goroutine; see Document.ApplyResult.
func (s Snapshot) Found(r *processing.Result, region *processing.Region) (Found, error) {
	known := s.detection
	if s.renewed {
		known = nil
	}
	return newFound(s.Picture, known, r, region, s.tiles)
}

// newFound merges a result with what is known, and labels its mask.
func newFound(pic *processing.Picture, known *detection, r *processing.Result, region *processing.Region, t tiling) (
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
	return f, nil
}

// known returns the detection that the next one goes on from; nil where nothing follows from the last one.
func (d *Document) known() *detection {
	if d.renewed {
		return nil
	}
	return d.detection
}

// ApplyFound is ApplyResult for a result that was prepared beside other work. Where something else was found since, it
// is prepared anew.
func (d *Document) ApplyFound(f Found) image.Rectangle {
	d.begin(message.Of("Detection"))
	if known := d.known(); known != f.known {
		f.known, f.detection = known, known.merge(f.result, f.inside, d.tiles)
	}
	mask := d.withoutIgnored(f.result.Mask, f.detection)
	whole := f.inside.spans == nil && mask == f.result.Mask
	if whole {
		d.replaceMask(f.detection)
	} else {
		d.rewrite(func(row []uint8, y, x0 int) {
			f.inside.each(y, x0, x0+len(row), func(a, b int) { copy(row[a-x0:b-x0], mask.Pix[y*mask.Width+a:]) })
		})
	}
	d.detection, d.renewed, d.drawn = f.detection, false, false
	d.edit.step.held = d.detection.bytes()
	dirty := d.commit()
	if whole {
		d.detection.generation = d.generation
	}
	return dirty
}

// asFound reports whether the mask is all that the last detection made.
func (d *Document) asFound() bool {
	return d.detection != nil && d.generation != 0 && d.detection.generation == d.generation
}

// PreviewFound is ApplyFound for a detection that follows changes of the parameters: it takes the place of the one
// before it if that was a preview, too, and nothing was done since, so that one step takes back all of them.
func (d *Document) PreviewFound(f Found) image.Rectangle {
	dirty, _ := d.replace(preview{detection: true}, func() (image.Rectangle, error) { return d.ApplyFound(f), nil })
	return dirty
}

// Untouched reports whether the mask is what the last detection made, but for findings that were ignored or restored,
// and nothing is corrected: then another detection loses no work of the user's.
func (d *Document) Untouched() bool {
	return d.detection != nil && !d.renewed && !d.drawn && d.corrections == nil
}

// withoutIgnored returns the mask of a new detection without those of its findings half of which or more was ignored
// before. The mask itself stays as it is.
func (d *Document) withoutIgnored(mask *processing.Mask, found *detection) *processing.Mask {
	ignored := d.Ignored()
	if len(ignored) == 0 {
		return mask
	}
	index := found.index()
	common := map[int32]int{}
	for _, s := range ignored {
		for _, r := range s.Runs {
			for x := r.X0; x < r.X1; x++ {
				if root := index.at(x, r.Y); root >= 0 {
					common[root]++
				}
			}
		}
	}
	rest := &processing.Mask{Width: mask.Width, Height: mask.Height, Pix: slices.Clone(mask.Pix)}
	for root, n := range common {
		s := found.list.spots[found.list.of[root]]
		if 2*n < s.Area {
			continue
		}
		p := found.spot(s.Bounds(), index.runs(root, s.Bounds()))
		for y := range p.mask.Height {
			row := rest.Pix[(p.at.Min.Y+y)*rest.Width+p.at.Min.X:][:p.mask.Width]
			for x, v := range p.mask.Pix[y*p.mask.Width:][:p.mask.Width] {
				row[x] -= min(v, row[x])
			}
		}
	}
	return rest
}

// merge returns the detection that has r inside a region and what was known before outside it.
func (old *detection) merge(r *processing.Result, inside rows, t tiling) *detection {
	kept := *r
	kept.Mask = nil
	n := &detection{result: &kept, findings: r.Findings, tiles: t, mask: make([]tileData, t.count())}
	partly := old != nil && inside.spans != nil
	if partly {
		n.findings = append([]processing.Finding(nil), r.Findings...)
		for _, f := range old.findings {
			if !inside.has(int(f.X), int(f.Y)) {
				n.findings = append(n.findings, f)
			}
		}
	}
	type buffers struct{ pix, pack tileBuffer }
	spread(len(n.mask), func() *buffers { return new(buffers) }, func(i int, b *buffers) {
		rect := t.rect(i)
		if inside.spans == nil {
			n.mask[i] = packTile(r.Mask.Pix, r.Mask.Width, rect, &b.pack)
			return
		}
		w := rect.Dx()
		own := image.Rect(0, 0, w, rect.Dy())
		if partly {
			old.mask[i].unpack(b.pix[:], w, own)
		} else {
			clear(b.pix[:])
		}
		for y := rect.Min.Y; y < rect.Max.Y; y++ {
			row := b.pix[(y-rect.Min.Y)*w:][:w]
			inside.each(y, rect.Min.X, rect.Max.X, func(x0, x1 int) {
				copy(row[x0-rect.Min.X:x1-rect.Min.X], r.Mask.Pix[y*r.Mask.Width+x0:])
			})
		}
		n.mask[i] = packTile(b.pix[:], w, own, &b.pack)
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

// rows are the pixels of a region, row by row; without spans it is the whole picture.
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

// each calls do with the parts of columns x0…x1−1 of row y that lie in the region.
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

// index labels the mask of the detection.
func (n *detection) index() *labels {
	if n.labels == nil {
		n.labels = newLabels(n.tiles, func(i int, pix *tileBuffer) ([]uint8, int) {
			r := n.tiles.rect(i)
			n.mask[i].unpack(pix[:], r.Dx(), image.Rect(0, 0, r.Dx(), r.Dy()))
			return pix[:], r.Dx()
		})
		n.list = n.labels.list(n.findings)
	}
	return n.labels
}

// at returns what was found at pixel (x, y) and its pixels.
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
		n.mask[i].unpack(pix[:], t.Dx(), image.Rect(0, 0, t.Dx(), t.Dy()))
		both := t.Intersect(r)
		for y := both.Min.Y; y < both.Max.Y; y++ {
			copy(m.Pix[(y-r.Min.Y)*m.Width+both.Min.X-r.Min.X:][:both.Dx()],
				pix[(y-t.Min.Y)*t.Dx()+both.Min.X-t.Min.X:])
		}
	})
	return m
}

// Findings returns what was found, by the last detection inside its region and by those before outside it. The slice
// must not be changed.
func (d *Document) Findings() []processing.Finding {
	if d.detection == nil {
		return nil
	}
	return d.detection.findings
}

// DetectedAt returns what the last detection found at pixel (x, y), whether or not it is still in the mask: place and
// area are those of its mask.
func (d *Document) DetectedAt(x, y int) (processing.Finding, bool) {
	if d.detection == nil {
		return processing.Finding{}, false
	}
	s, runs, ok := d.detection.at(x, y)
	s.Runs = runs
	return s.Finding, ok
}

// fringe is how far the soft edge of a spot may reach: three standard deviations of the widest feather.
const fringe = 60

// RemoveSpot takes the finding at pixel (x, y) with its soft edge out of the mask. It can be undone. ok is false where
// there is none.
func (d *Document) RemoveSpot(x, y int) (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	s, ok := d.SpotAt(x, y)
	if !ok {
		return image.Rectangle{}, false
	}
	return d.Ignore([]Spot{s})
}

// cut copies the pixels of the mask around bounds, as far as a soft edge may reach.
func (d *Document) cut(bounds image.Rectangle) (*processing.Mask, image.Rectangle) {
	r := bounds.Inset(-fringe).Intersect(d.tiles.bounds())
	m := processing.NewMask(r.Dx(), r.Dy())
	for y := range m.Height {
		copy(m.Pix[y*m.Width:(y+1)*m.Width], d.mask.Pix[(r.Min.Y+y)*d.mask.Width+r.Min.X:])
	}
	return m, r
}

// RestoreSpot puts back what the last detection found at pixel (x, y). It can be undone. ok is false where it found
// nothing or all of it is in the mask.
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
	d.overwrite(p.mask, p.at, func(now, next uint8) uint8 { return max(now, next) })
	dirty = d.commit()
	return dirty, !dirty.Empty()
}

// piecewise is a part of a mask: its first pixel lies at at.Min.
type piecewise struct {
	mask *processing.Mask
	at   image.Rectangle
}

// spot returns the component of the detection's mask with the given bounds and pixels, with its soft edge.
func (n *detection) spot(bounds image.Rectangle, runs []processing.Run) piecewise {
	r := bounds.Inset(-fringe).Intersect(n.tiles.bounds())
	m := n.crop(r)
	rest := &processing.Mask{Width: m.Width, Height: m.Height, Pix: append([]uint8(nil), m.Pix...)}
	peel(rest, r.Min, runs)
	for i, v := range rest.Pix {
		m.Pix[i] -= v
	}
	return piecewise{m, r}
}

// overwrite combines the pixels r of the mask with those of m.
func (d *Document) overwrite(m *processing.Mask, r image.Rectangle, combine func(now, next uint8) uint8) {
	d.touch(r)
	d.tiles.each(r, d.changedTile)
	for y := range m.Height {
		row := d.mask.Pix[(r.Min.Y+y)*d.mask.Width+r.Min.X:][:m.Width]
		for x, v := range m.Pix[y*m.Width : (y+1)*m.Width] {
			row[x] = combine(row[x], v)
		}
	}
}

// peel empties the pixels of a spot, given by its runs, and its soft edge in m, whose first pixel lies at corner. The
// soft edge is what can be reached from the spot without going up in value and does not touch another spot.
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
	if !hasSoft(m.Pix) {
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

// hasSoft reports whether there is a value between empty and glare.
func hasSoft(pix []uint8) bool {
	for _, v := range pix {
		if v != 0 && v < processing.MaskLevel {
			return true
		}
	}
	return false
}
