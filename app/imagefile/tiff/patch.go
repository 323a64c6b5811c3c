package tiff

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/parallel"
	"blik/processing"
)

// piece is a part of a patch: n pixels of one row of one segment, from row y and column x of it; at is where its
// samples begin in the patch.
type piece struct {
	segment, plane int
	y, x, n        int
	patch          *processing.Patch
	at             int
}

// Patch overwrites the pixels of the patches in file, a copy of the one that was opened. In uncompressed pictures only
// the bytes of the colour samples of those pixels change. In compressed pictures the affected strips or tiles are
// re-encoded, and stay in place if they fit and nothing else uses that part of the file; otherwise they go to the end
// of the file, and only their offsets and byte counts change in addition. A picture that cannot hold new colours
// (palette, fewer than 8 bits) is stored at the end of the file in a layout that can, with all its other tags; that
// needs the memory of the decoded picture, otherwise only that of an encoded strip or tile per core.
//
// If the file cannot hold the result, the error is returned before anything is written.
func (f *File) Patch(ctx context.Context, file container.File, patches []processing.Patch) error {
	if f.info.Readonly != nil {
		return f.info.Readonly
	}
	if err := f.lay.check(f.src.Size); err != nil {
		return err
	}
	pieces, err := f.pieces(patches)
	if err != nil || len(pieces) == 0 {
		return err
	}
	c := f.claims()
	if f.converts() {
		if err := f.convert(ctx, file, patches, c); err != nil {
			return err
		}
		return f.breakPromise(file)
	}
	var direct []piece
	var rebuilt [][]piece
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && pieces[n].segment == pieces[0].segment {
			n++
		}
		if f.lay.compression == compNone && !c.shared[pieces[0].segment] {
			direct = append(direct, pieces[:n]...)
		} else {
			rebuilt = append(rebuilt, pieces[:n])
		}
		pieces = pieces[n:]
	}
	if len(rebuilt) > 0 {
		if err := f.rebuildAll(ctx, file, rebuilt, c); err != nil {
			return err
		}
	}
	var buf []byte
	for _, p := range direct {
		if err := ctx.Err(); err != nil {
			return err
		}
		if buf, err = f.overwrite(file, p, buf); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.breakPromise(file)
}

// pieces divides the patches at the segments, in the order of segments and rows.
func (f *File) pieces(patches []processing.Patch) ([]piece, error) {
	l := f.lay
	if err := processing.CheckPatches(l.width, l.height, l.channels, l.decoded, patches); err != nil {
		return nil, err
	}
	planes := 1
	if l.planar {
		planes = l.colours
	}
	var all []piece
	for i := range patches {
		p := &patches[i]
		at := 0
		for _, r := range p.Runs {
			for x := r.X0; x < r.X1; {
				n := min(r.X1, (x/l.segmentWidth+1)*l.segmentWidth) - x
				for plane := range planes {
					all = append(all, piece{
						segment: (plane*l.down+r.Y/l.segmentHeight)*l.across + x/l.segmentWidth,
						plane:   plane,
						y:       r.Y % l.segmentHeight, x: x % l.segmentWidth, n: n,
						patch: p, at: at,
					})
				}
				at += n * l.channels
				x += n
			}
		}
	}
	slices.SortStableFunc(all, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.y, b.y))
	})
	return all, nil
}

// overwrite writes a piece to its place in an uncompressed picture. buf is reused and returned.
func (f *File) overwrite(file container.File, p piece, buf []byte) ([]byte, error) {
	l := f.lay
	pixel := l.lanes() * l.depth / 8
	at := l.offsets[p.segment] + int64(p.y)*l.rowBytes() + int64(p.x*pixel)
	buf = slices.Grow(buf[:0], p.n*pixel)[:p.n*pixel]
	if l.planar || l.samples == l.colours {
		l.put(buf, 0, p)
	} else {
		if err := container.ReadFull(file, buf, at); err != nil {
			return buf, err
		}
		if l.lsbFirst {
			reverseBits(buf)
		}
		if !l.put(buf, 0, p) {
			return buf, nil
		}
	}
	if l.lsbFirst {
		reverseBits(buf)
	}
	_, err := file.WriteAt(buf, at)
	return buf, err
}

// put writes the colour samples of a piece into a row from pixel x on, and reports whether anything changed.
func (l *layout) put(row []byte, x int, p piece) (changed bool) {
	lanes, step, plane := l.colours, l.samples, 0
	if l.planar {
		lanes, step, plane = 1, 1, p.plane
	}
	order := l.order()
	inverted := l.photometric == whiteIsZero
	for i := range p.n {
		from, to := p.at+i*l.channels+plane, (x+i)*step
		switch l.depth {
		case 8:
			for c, v := range p.patch.U8[from : from+lanes] {
				if inverted {
					v = ^v
				}
				changed = changed || row[to+c] != v
				row[to+c] = v
			}
		case 16:
			for c, v := range p.patch.U16[from : from+lanes] {
				if inverted {
					v = ^v
				}
				b := row[2*(to+c):]
				changed = changed || order.Uint16(b) != v
				order.PutUint16(b, v)
			}
		default:
			for c, x := range p.patch.F32[from : from+lanes] {
				v, b := math.Float32bits(x), row[4*(to+c):]
				changed = changed || order.Uint32(b) != v
				order.PutUint32(b, v)
			}
		}
	}
	return changed
}

// placer finds space for re-encoded segments.
type placer struct {
	f *File
	c *claims
	// file is the file to write to; nil only checks whether everything fits.
	file container.File
	end  int64
	// offsets and counts are the new values of moved or resized segments.
	offsets, counts map[int]int64
}

// errGrown is the error for a result that is too large for a classic TIFF.
func errGrown() error {
	return container.Unsupported(
		"the changed picture would make the file larger than 4 GiB, which TIFF cannot hold; save it as BigTIFF or " +
			"uncompressed first")
}

// limit returns the length that the file can have.
func limit(s *exif.Reader) int64 {
	if s.Big {
		return math.MaxInt64 / 2
	}
	return math.MaxUint32
}

// room returns the offset for n bytes at the end of the file.
func (p *placer) room(n int64, align int64) (int64, error) {
	at := (p.end + align - 1) / align * align
	if at > limit(p.f.src)-n {
		return 0, errGrown()
	}
	if p.file != nil && at > p.end {
		if _, err := p.file.WriteAt(make([]byte, at-p.end), p.end); err != nil {
			return 0, err
		}
	}
	p.end = at + n
	return at, nil
}

// place writes a segment to its old place or to the end of the file.
func (p *placer) place(i int, data []byte) error {
	l := p.f.lay
	at, n := l.offsets[i], int64(len(data))
	if p.c.shared[i] || n > l.counts[i] {
		var err error
		if at, err = p.room(n, 1); err != nil {
			return err
		}
	}
	if p.file != nil {
		if _, err := p.file.WriteAt(data, at); err != nil {
			return err
		}
	}
	if at != l.offsets[i] {
		p.offsets[i] = at
	}
	if n != l.counts[i] && l.compression != compNone {
		p.counts[i] = n
	}
	return nil
}

// errCrossed is the error of files in which the same byte would have to be both changed and kept.
func errCrossed() error {
	return container.Damaged(
		"the file is damaged: its header or first directory overlaps other data, so it cannot be changed")
}

// rebuildAll re-encodes segments, one per group of pieces, and records their new offsets.
func (f *File) rebuildAll(ctx context.Context, file container.File, groups [][]piece, c *claims) error {
	if c.directory {
		return errCrossed()
	}
	l := f.lay
	placer := func(file container.File) *placer {
		return &placer{f: f, c: c, file: file, end: f.src.Size, offsets: map[int]int64{}, counts: map[int]int64{}}
	}
	// Only if the worst case does not fit, everything is encoded once to find out.
	worst := f.src.Size
	for _, g := range groups {
		raw := l.rowBytes() * int64(l.unit(g[0].segment).rows)
		worst += raw + raw/2 + int64(l.segmentHeight) + 1024
	}
	arrays := 2 * 8 * int64(len(l.offsets)+1)
	if worst > limit(f.src)-arrays {
		p := placer(nil)
		if err := f.rebuild(ctx, groups, p.place); err != nil {
			return err
		}
		if p.end > limit(f.src)-arrays {
			return errGrown()
		}
	}
	p := placer(file)
	if err := f.rebuild(ctx, groups, p.place); err != nil {
		return err
	}
	if err := p.enter(l.offsetsEntry, p.offsets, c.offsets); err != nil {
		return err
	}
	return p.enter(l.countsEntry, p.counts, c.counts)
}

// rebuild re-encodes segments on all cores and passes on the changed ones in order.
func (f *File) rebuild(ctx context.Context, groups [][]piece, place func(i int, data []byte) error) error {
	out := make([][]byte, parallel.Processors())
	states := make([]struct {
		scratch
		compressor
	}, len(out))
	for len(groups) > 0 {
		n := min(len(groups), len(out))
		err := eachTask(ctx, n, func(ctx context.Context, _ *scratch, i int) (err error) {
			out[i], err = f.rebuildSegment(ctx, &states[i].scratch, &states[i].compressor, groups[i])
			return err
		})
		if err != nil {
			return err
		}
		for i := range n {
			if out[i] == nil {
				continue
			}
			if err := place(groups[i][0].segment, out[i]); err != nil {
				return err
			}
		}
		groups = groups[n:]
	}
	return nil
}

// rebuildSegment decodes a segment, overwrites the pieces and re-encodes it, row by row. It returns nil if nothing
// changes. The result is valid until the next call with c.
func (f *File) rebuildSegment(ctx context.Context, s *scratch, c *compressor, pieces []piece) ([]byte, error) {
	l := f.lay
	u := l.unit(pieces[0].segment)
	r, err := f.open(s, u, 0)
	if err != nil {
		return nil, err
	}
	c.begin(l.compression)
	rowBytes := l.rowBytes()
	each := int(max(chunk/rowBytes, 1))
	buf := s.rows(int64(min(each, u.rows)) * rowBytes)
	changed := false
	for y := 0; y < u.rows; y += each {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := buf[:int64(min(each, u.rows-y))*rowBytes]
		if _, err := io.ReadFull(r, rows); err != nil {
			return nil, l.readError(u, err)
		}
		for i := y; len(rows) > 0; i++ {
			row := rows[:rowBytes]
			rows = rows[rowBytes:]
			if len(pieces) > 0 && pieces[0].y == i {
				f.unpredict(s, row)
				for ; len(pieces) > 0 && pieces[0].y == i; pieces = pieces[1:] {
					changed = l.put(row, pieces[0].x, pieces[0]) || changed
				}
				f.predict(s, row)
			}
			if err := c.row(row); err != nil {
				return nil, err
			}
		}
	}
	if !changed {
		return nil, nil
	}
	data, err := c.end()
	if l.lsbFirst {
		reverseBits(data)
	}
	return data, err
}

// enter writes the new values of an entry's array. If its type cannot hold them, or its bytes also serve another
// purpose, the whole array goes to the end of the file with wider values, and the entry is changed to point there.
func (p *placer) enter(e *exif.Entry, values map[int]int64, shared bool) error {
	if len(values) == 0 {
		return nil
	}
	s := p.f.src
	each := e.Kind.Size()
	fits := !shared || e.Inline
	for _, v := range values {
		fits = fits && (each == 8 || v < 1<<(8*each))
	}
	var b [8]byte
	if fits {
		for i, v := range values {
			putInt(s.Order, b[:each], v)
			if _, err := p.file.WriteAt(b[:each], e.Value+int64(i)*each); err != nil {
				return err
			}
		}
		return nil
	}
	all, err := s.Ints(e, math.MaxInt)
	if err != nil {
		return err
	}
	for i, v := range values {
		all[i] = v
	}
	wide := exif.Long
	if s.Big {
		wide = exif.Long8
	}
	each = wide.Size()
	array := make([]byte, int64(len(all))*each)
	for i, v := range all {
		putInt(s.Order, array[int64(i)*each:][:each], v)
	}
	field := s.OffsetSize()
	inEntry := make([]byte, field)
	if int64(len(array)) <= field {
		copy(inEntry, array)
	} else {
		at, err := p.room(int64(len(array)), 8)
		if err != nil {
			return err
		}
		if _, err := p.file.WriteAt(array, at); err != nil {
			return err
		}
		putInt(s.Order, inEntry, at)
	}
	s.Order.PutUint16(b[:], uint16(wide))
	if _, err := p.file.WriteAt(b[:2], e.At+2); err != nil {
		return err
	}
	_, err = p.file.WriteAt(inEntry, e.Field)
	return err
}

// putInt writes v to all of b.
func putInt(order binary.ByteOrder, b []byte, v int64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		order.PutUint16(b, uint16(v))
	case 4:
		order.PutUint32(b, uint32(v))
	default:
		order.PutUint64(b, uint64(v))
	}
}
