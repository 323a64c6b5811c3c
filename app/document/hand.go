package document

import (
	"image"
	"slices"

	"blik/internal/message"
	"blik/processing"
)

// hand holds what the user marked and erased, so that it survives every detection. It is immutable; nil means nothing.
type hand struct {
	// marked and erased have one element for each tile. No detection makes the mask darker than marked, or brighter
	// than 255 − erased. In no pixel do the two contradict each other.
	marked, erased Packed
}

// newHand returns nil if no pixel is marked or erased.
func newHand(marked, erased Packed) *hand {
	some := func(t tileData) bool { return len(t) > 0 }
	if !slices.ContainsFunc(marked, some) && !slices.ContainsFunc(erased, some) {
		return nil
	}
	return &hand{marked, erased}
}

// tiles returns copies of the tiles that are marked and erased.
func (h *hand) tiles(t tiling) (marked, erased Packed) {
	if h == nil {
		return make(Packed, t.count()), make(Packed, t.count())
	}
	return slices.Clone(h.marked), slices.Clone(h.erased)
}

// handOf returns what masks say is marked and erased; nil is nothing.
func handOf(t tiling, marked, erased *processing.Mask) *hand {
	packed := func(m *processing.Mask) Packed {
		tiles := make(Packed, t.count())
		if m != nil {
			forEach(len(tiles), func(i int, scratch *tileBuffer) {
				tiles[i] = packTile(m.Pix, m.Width, t.rect(i), scratch)
			})
		}
		return tiles
	}
	return newHand(packed(marked), packed(erased))
}

// handBuffers is the scratch memory for a tile of what the user marked and erased.
type handBuffers struct{ before, now, marked, erased, pack tileBuffer }

// noteHand adds to what the user marked and erased how the mask differs from the tiles saved in a step, and the pixels
// of kept findings.
func noteHand(d *Document, s *step) {
	saved := map[int]tileData{}
	var which []int
	for _, t := range s.tiles {
		saved[t.index] = t.data
		which = append(which, t.index)
	}
	for i := range d.edit.kept {
		if _, ok := saved[i]; !ok {
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return
	}
	marked, erased := d.hand.tiles(d.tiles)
	forEach(len(which), func(k int, b *handBuffers) {
		i := which[k]
		r := d.tiles.rect(i)
		n := r.Dx() * r.Dy()
		marked[i].load(&b.marked, r)
		erased[i].load(&b.erased, r)
		if data, ok := saved[i]; ok {
			data.load(&b.before, r)
			d.pack(i, &b.pack).load(&b.now, r)
			b.note(n)
		}
		if kept := d.edit.kept[i]; kept != nil {
			for p, v := range kept[:n] {
				b.marked[p] = max(b.marked[p], v)
				b.erased[p] = min(b.erased[p], 255-v)
			}
		}
		marked[i] = packLoaded(&b.marked, r, &b.pack)
		erased[i] = packLoaded(&b.erased, r, &b.pack)
	})
	d.hand = newHand(marked, erased)
	for _, i := range which {
		s.held += 2*savedBytes + int64(len(marked[i])+len(erased[i]))
	}
}

// note takes over in which of n pixels the mask was raised or lowered.
func (b *handBuffers) note(n int) {
	for p, was := range b.before[:n] {
		switch v := b.now[p]; {
		case v > was:
			b.marked[p], b.erased[p] = v, min(b.erased[p], 255-v)
		case v < was:
			b.marked[p], b.erased[p] = min(b.marked[p], v), 255-v
		}
	}
}

// noteKept adds the pixels of findings of the mask, with their soft edges, to those that the edit marks.
func noteKept(d *Document, spots []Spot) {
	d.edit.kept = map[int]*tileBuffer{}
	for _, s := range spots {
		at := d.FirstPixel(s)
		runs := d.spots.runs(d.spots.at(at.X, at.Y), s.Bounds())
		m, r := d.copyAround(s.Bounds())
		peelRest(m, r.Min, runs)
		for k, v := range m.Pix {
			if v == 0 {
				continue
			}
			x, y := r.Min.X+k%m.Width, r.Min.Y+k/m.Width
			i := d.tiles.at(x, y)
			if d.edit.kept[i] == nil {
				d.edit.kept[i] = new(tileBuffer)
			}
			t := d.tiles.rect(i)
			p := &d.edit.kept[i][(y-t.Min.Y)*t.Dx()+x-t.Min.X]
			*p = max(*p, v)
		}
	}
}

// markAll makes the whole mask what the user marked.
func markAll(d *Document) {
	marked := d.packAll()
	d.hand = newHand(marked, make(Packed, d.tiles.count()))
	if d.hand != nil {
		for _, t := range marked {
			d.edit.step.held += savedBytes + int64(len(t))
		}
	}
}

// over changes a part of the mask of a detection, with its first pixel at the given place, to what the user marked and
// erased.
func (h *hand) over(t tiling, m *processing.Mask, at image.Point) {
	area := image.Rect(0, 0, m.Width, m.Height).Add(at)
	var which []int
	t.each(area, func(i int) {
		if len(h.marked[i]) > 0 || len(h.erased[i]) > 0 {
			which = append(which, i)
		}
	})
	forEach(len(which), func(k int, b *handBuffers) {
		i := which[k]
		r := t.rect(i)
		h.marked[i].load(&b.marked, r)
		h.erased[i].load(&b.erased, r)
		both := r.Intersect(area)
		for y := both.Min.Y; y < both.Max.Y; y++ {
			row := m.Pix[(y-at.Y)*m.Width+both.Min.X-at.X:][:both.Dx()]
			p := (y-r.Min.Y)*r.Dx() + both.Min.X - r.Min.X
			for x, v := range row {
				row[x] = max(min(v, 255-b.erased[p+x]), b.marked[p+x])
			}
		}
	})
}

// withHand returns the mask of a new detection with what the user marked, and without what was erased. A finding of
// which at least half the pixels were erased goes as a whole. It does not change the argument, which it returns if
// nothing was done by hand.
func withHand(d *Document, mask *processing.Mask, found *detection) *processing.Mask {
	if d.hand == nil {
		return mask
	}
	rest := cloneMask(mask)
	index := found.index()
	for root, n := range index.common(d.hand.erased) {
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
	d.hand.over(d.tiles, rest, image.Point{})
	return rest
}

// common returns, by its root, how many pixels of each component with a pixel in a packed mask are in that mask.
func (l *labels) common(tiles Packed) map[int32]int {
	common := map[int32]int{}
	var buffer tileBuffer
	for i, data := range tiles {
		if len(data) == 0 || len(l.tile[i].runs) == 0 {
			continue
		}
		r := l.tiles.rect(i)
		data.load(&buffer, r)
		for _, run := range l.tile[i].runs {
			n := 0
			row := buffer[(int(run.Y)-r.Min.Y)*r.Dx():][:r.Dx()]
			for _, v := range row[int(run.X0)-r.Min.X : int(run.X1)-r.Min.X] {
				n += int(v / processing.MaskLevel)
			}
			if n > 0 {
				common[l.root(i, run.Label)] += n
			}
		}
	}
	return common
}

// ByHand returns how many findings the user marked or kept, and how many were ignored. All of them survive a detection.
func (d *Document) ByHand() (marked, ignored int) {
	ignored = len(d.current().ignored)
	if d.hand != nil {
		marked = len(d.spots.common(d.hand.marked))
	}
	return marked, ignored
}

// Forget takes back all that the user marked, erased and decided: the mask becomes that of the last detection, or empty
// if there is none. It can be undone. ok is false if there is nothing to forget.
func (d *Document) Forget() (dirty image.Rectangle, ok bool) {
	d.EndStroke()
	if d.hand == nil && d.decisions == nil && !d.replaced {
		return image.Rectangle{}, false
	}
	d.begin(message.Of("Forget what I marked"))
	d.edit.forgets = true
	if d.detection == nil {
		d.rewrite(func(row []uint8, y, x0 int) { clear(row) })
	} else {
		found := d.detection.mask.unpack(d.tiles.w, d.tiles.h)
		d.rewrite(func(row []uint8, y, x0 int) { copy(row, found.Pix[y*found.Width+x0:]) })
	}
	d.hand, d.decisions, d.replaced, d.painted = nil, nil, false, false
	d.numbers = newNumbering(d.detection)
	return d.commit(), true
}

// restoreHand takes over what was marked and erased by hand in earlier work. Work that does not say so was written when
// nobody kept it; then it is how the mask differs from the detection.
func restoreHand(d *Document, w Work) {
	d.hand = handOf(d.tiles, w.Marked, w.Erased)
	if d.hand != nil {
		return
	}
	if w.Replaced || w.Found == nil {
		d.hand = handOf(d.tiles, w.Mask, nil)
		return
	}
	marked, erased := processing.NewMask(d.tiles.w, d.tiles.h), processing.NewMask(d.tiles.w, d.tiles.h)
	for p, v := range w.Mask.Pix {
		switch found := w.Found.Mask.Pix[p]; {
		case v > found:
			marked.Pix[p] = v
		case v < found:
			erased.Pix[p] = 255 - v
		}
	}
	d.hand = handOf(d.tiles, marked, erased)
}
