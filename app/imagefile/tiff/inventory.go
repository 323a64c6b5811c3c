package tiff

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"io"
	"slices"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/message"
)

// Inventory lists the tags of all directories except those that say how samples are packed, the extra samples of the
// picture, and all samples of further pages and sub-pictures: decoded if supported, otherwise as stored. Numbers are
// listed in one byte order.
func (f *File) Inventory(ctx context.Context, changed bool) (*container.Inventory, error) {
	l := &lister{
		ctx: ctx, f: f, v: &container.Inventory{}, seen: map[int64]bool{f.dir.At: true}, room: 4*f.src.Size + 1<<20,
	}
	if f.promise != "" {
		word := f.promise
		if changed {
			word = promiseBroken
		}
		l.v.Add(message.Of("the promised layout"), []byte(word))
	}
	changed = changed && f.converts()
	if err := l.picture(place{}, f.dir, changed); err != nil {
		return nil, err
	}
	for i, at := range f.src.Following(f.dir, maxDirectories) {
		if err := l.directoryAt(place{page: i + 2}, at); err != nil {
			return nil, err
		}
	}
	return l.v, ctx.Err()
}

// lister makes an inventory.
type lister struct {
	ctx  context.Context
	f    *File
	v    *container.Inventory
	seen map[int64]bool
	// room is the number of bytes that may still be read: tags may point to the same bytes any number of times.
	room int64
}

// place is a directory: that of a page, of the sub-picture of a page, or of the tags under a pointer.
type place struct {
	// page counts from 2; 0 stands for the picture. sub is the number of a sub-picture.
	page, sub int
	// under is the tag of the pointer, 0 without one.
	under uint16
}

// tag returns the name of a tag of a directory.
func (p place) tag(tag uint16) message.Message {
	name := message.Of("tag %d", tag)
	switch p.under {
	case exif.TagEXIF:
		name = message.Of("EXIF tag %d", tag)
	case exif.TagGPS:
		name = message.Of("GPS tag %d", tag)
	case exif.TagInterop:
		name = message.Of("interoperability tag %d", tag)
	default:
		if known, ok := map[uint16]message.Text{
			tagWidth: "size", tagLength: "size", tagBitsPerSample: "depth", tagSamples: "channels", tagICC: "profile",
			tagXMP: "XMP", tagIPTC: "IPTC", tagPhotoshop: "Photoshop", exif.TagOrientation: "orientation",
			exif.TagXResolution: "resolution", exif.TagYResolution: "resolution", exif.TagResolutionUnit: "resolution",
		}[tag]; ok && p == (place{}) {
			return message.Of(known).Context("differs")
		}
	}
	return p.of(name)
}

// of adds the page and the sub-picture to a name.
func (p place) of(name message.Message) message.Message {
	switch {
	case p.sub > 0 && p.page > 0:
		return message.Of("%s of sub-picture %d of page %d", name, p.sub, p.page)
	case p.sub > 0:
		return message.Of("%s of sub-picture %d", name, p.sub)
	case p.page > 0:
		return message.Of("%s of page %d", name, p.page)
	}
	return name
}

// directoryAt lists the directory of a further picture.
func (l *lister) directoryAt(p place, at int64) error {
	if l.seen[at] || len(l.seen) > maxDirectories {
		return nil
	}
	l.seen[at] = true
	d, err := l.f.src.Directory(at)
	if d == nil {
		return l.unlisted(p.of(message.Of("the directory")), err)
	}
	return l.picture(p, d, false)
}

// unlisted records that a part cannot be read. Errors of the file system end the listing.
func (l *lister) unlisted(part message.Message, err error) error {
	if e := l.ctx.Err(); e != nil {
		return e
	}
	l.v.Unlisted = append(l.v.Unlisted, message.Of("%s: %w", part, err))
	return nil
}

// storage are the tags that describe how the samples of a picture are encoded, but not what they are.
func storage() []uint16 {
	return []uint16{
		tagCompression, tagFillOrder, tagStripOffsets, tagStripByteCounts, tagRowsPerStrip, tagPredictor, tagTileWidth,
		tagTileLength, tagTileOffsets, tagTileByteCounts, tagT4Options, tagT6Options, tagFreeOffsets, tagFreeCounts,
	}
}

// located are the tags that hold offsets.
func located() []uint16 {
	return []uint16{
		tagStripOffsets, tagStripByteCounts, tagTileOffsets, tagTileByteCounts, tagJPEGOffset, tagFreeOffsets,
		tagFreeCounts,
	}
}

// picture lists a directory and the picture that it describes; changed lists that of the file as convert leaves it.
func (l *lister) picture(p place, d *exif.Directory, changed bool) error {
	main := d.At == l.f.dir.At
	var lay *layout
	skip := located()
	if main {
		lay, skip = l.f.lay, storage()
	} else if other, err := readLayout(l.f.src, d); err == nil && other.compression != compJPEG &&
		other.across <= maxColumns && other.wholeBytes() {
		lay, skip = other, storage()
	}
	if changed {
		skip = append(skip, l.f.lay.replaced()...)
		for _, e := range l.f.convertedLayout() {
			l.v.Add(p.tag(e.tag), binary.BigEndian.AppendUint16(nil, uint16(e.kind)), e.data)
		}
	}
	if err := l.tags(p, d, skip); err != nil {
		return err
	}
	if d.Cut {
		l.v.Add(p.of(message.Of("the offset of the next page")))
	}
	if lay == nil {
		return l.stored(p, d)
	}
	if main && lay.samples == lay.colours {
		return nil
	}
	sum, err := l.samples(lay, d, main)
	if err == nil {
		name := message.Of("samples")
		if main {
			name = message.Of("alpha or extra channels")
		}
		l.v.AddSum(p.of(name), sum)
		return nil
	}
	if !main && l.ctx.Err() == nil {
		// It is damaged, but both files may be damaged in the same way.
		return l.stored(p, d)
	}
	return l.unlisted(p.of(message.Of("alpha or extra channels")), err)
}

// tags lists the tags of a directory except those to skip, and the directories below it.
func (l *lister) tags(p place, d *exif.Directory, skip []uint16) error {
	for i := range d.Entries {
		e := &d.Entries[i]
		if e.Tag == tagSubIFDs && p.under == 0 {
			if err := l.subPictures(p, e); err != nil {
				return err
			}
			continue
		}
		if pointer(p.under, e.Tag) {
			at, err := l.f.src.Ints(e, 1)
			if err == nil && len(at) == 1 {
				if err := l.below(p, e.Tag, at[0]); err != nil {
					return err
				}
				continue
			}
		}
		if p.under == 0 && slices.Contains(skip, e.Tag) {
			continue
		}
		if err := l.tag(p, e); err != nil {
			return err
		}
	}
	return nil
}

// pointer reports whether a tag of a directory points to another directory of tags.
func pointer(under, tag uint16) bool {
	switch tag {
	case exif.TagEXIF, exif.TagGPS:
		return under == 0
	case exif.TagInterop:
		return under == exif.TagEXIF
	}
	return false
}

// below lists the directory of tags at a pointer.
func (l *lister) below(p place, pointer uint16, at int64) error {
	p.under = pointer
	d, err := l.f.src.Directory(at)
	if d == nil {
		return l.unlisted(p.of(message.Of("the directory under tag %d", pointer)), err)
	}
	return l.tags(p, d, nil)
}

// subPictures lists the sub-pictures of a picture with their chains.
func (l *lister) subPictures(p place, e *exif.Entry) error {
	all, err := l.f.src.Ints(e, maxDirectories)
	if err != nil {
		return l.unlisted(p.of(message.Of("the sub-pictures")), err)
	}
	n := 0
	for _, at := range all {
		for at != 0 && !l.seen[at] && n < maxDirectories {
			n++
			d, err := l.f.src.Directory(at)
			next := place{page: p.page, sub: n}
			if d == nil {
				return l.unlisted(next.of(message.Of("the directory")), err)
			}
			if err := l.directoryAt(next, at); err != nil {
				return err
			}
			at = d.Next
		}
	}
	return nil
}

// tag lists a tag by its kind and its values, numbers as big-endian; of one whose values cannot be read, the entry.
func (l *lister) tag(p place, e *exif.Entry) error {
	s := l.f.src
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint16(nil, uint16(e.Kind)))
	n, ok := e.Length(s.Size)
	if !ok {
		h.Write(binary.BigEndian.AppendUint64(nil, e.Count))
		l.v.AddSum(p.tag(e.Tag), h)
		return nil
	}
	if l.room -= n; l.room < 0 {
		return l.unlisted(p.tag(e.Tag), container.Damaged("too many tags share their bytes"))
	}
	unit := 1
	if s.Order == binary.ByteOrder(binary.LittleEndian) {
		unit = int(e.Kind.Unit())
	}
	r, buf := s.Section(e.Value, n), make([]byte, min(n, chunk))
	for n > 0 {
		part := buf[:min(n, chunk)]
		if _, err := io.ReadFull(r, part); err != nil {
			return l.unlisted(p.tag(e.Tag), container.ReadError(err))
		}
		swap(part, unit)
		h.Write(part)
		n -= int64(len(part))
	}
	if main := p == (place{}); main && (e.Tag == tagWidth || e.Tag == tagLength) {
		l.v.AddSum(p.tag(e.Tag), h)
		l.v.Items[len(l.v.Items)-1].Geometry = true
		return nil
	}
	l.v.AddSum(p.tag(e.Tag), h)
	return nil
}

// swap reverses the byte order of numbers of unit bytes.
func swap(b []byte, unit int) {
	if unit < 2 {
		return
	}
	for ; len(b) >= unit; b = b[unit:] {
		slices.Reverse(b[:unit])
	}
}

// stored lists the samples of a picture as they are stored, if their encoding is not supported.
func (l *lister) stored(p place, d *exif.Directory) error {
	s := l.f.src
	for _, pair := range [][2]uint16{
		{tagStripOffsets, tagStripByteCounts}, {tagTileOffsets, tagTileByteCounts}, {tagJPEGOffset, tagJPEGLength},
	} {
		at, length := d.Find(pair[0]), d.Find(pair[1])
		if at == nil {
			continue
		}
		name := p.of(message.Of("samples"))
		if length == nil {
			if err := l.unlisted(name, container.Damaged("their length is missing")); err != nil {
				return err
			}
			continue
		}
		offsets, err := s.Ints(at, maxSpans)
		if err != nil {
			return l.unlisted(name, err)
		}
		lengths, err := s.Ints(length, maxSpans)
		if err != nil {
			return l.unlisted(name, err)
		}
		h := sha256.New()
		for i := range min(len(offsets), len(lengths)) {
			n := max(min(lengths[i], s.Size-offsets[i]), 0)
			if l.room -= n; l.room < 0 {
				return l.unlisted(name, container.Damaged("too many strips or tiles share their bytes"))
			}
			if err := l.ctx.Err(); err != nil {
				return err
			}
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
			if _, err := io.Copy(h, s.Section(offsets[i], n)); err != nil {
				return l.unlisted(name, err)
			}
		}
		l.v.AddSum(name, h)
	}
	return nil
}

// maxColumns bounds the number of tiles side by side in a picture whose rows are decoded: each needs a decoder.
const maxColumns = 1 << 11

// wholeBytes reports whether the rows of adjacent segments end at whole bytes.
func (l *layout) wholeBytes() bool {
	lanes := l.lanes()
	return l.across == 1 || l.segmentWidth*lanes*l.depth%8 == 0
}

// samples hashes the samples of a picture row by row and plane by plane, independently of strips and tiles; for the
// main picture only the extra samples.
func (l *lister) samples(lay *layout, d *exif.Directory, extra bool) (sum hash.Hash, err error) {
	f := &File{src: l.f.src, dir: d, lay: lay}
	if lay.across > maxColumns || !lay.wholeBytes() {
		return nil, container.Unsupported("tiles of this kind cannot be compared")
	}
	h := sha256.New()
	first, planes := 0, 1
	if lay.planar {
		planes = lay.samples
		if extra {
			first = lay.colours
		}
	}
	columns := make([]*scratch, lay.across)
	for i := range columns {
		columns[i] = &scratch{}
	}
	readers := make([]io.Reader, lay.across)
	whole := make([]byte, 0, (lay.width*lay.lanes()*lay.depth+7)/8+16)
	for plane := first; plane < planes; plane++ {
		for down := range lay.down {
			rows := 0
			for across := range readers {
				u := lay.unit((plane*lay.down+down)*lay.across + across)
				if err := f.stored(u); err != nil {
					return nil, err
				}
				if readers[across], err = f.open(columns[across], u, 0); err != nil {
					return nil, err
				}
				rows = u.h
			}
			for range rows {
				if err := l.ctx.Err(); err != nil {
					return nil, err
				}
				whole = whole[:0]
				for across, r := range readers {
					u := lay.unit((plane*lay.down+down)*lay.across + across)
					row := columns[across].rows(lay.rowBytes())
					if _, err := io.ReadFull(r, row); err != nil {
						return nil, lay.readError(u, err)
					}
					f.unpredict(columns[across], row)
					whole = append(whole, row[:(u.w*lay.lanes()*lay.depth+7)/8]...)
				}
				h.Write(lay.canonical(whole, extra && !lay.planar))
			}
		}
	}
	return h, nil
}

// stored returns an error for a segment that does not lie within the file.
func (f *File) stored(u unit) error {
	at, n := f.lay.offsets[u.index], f.lay.counts[u.index]
	if n == 0 || at == 0 {
		return container.Damaged("the picture is incomplete: strip or tile %d is not stored", u.index+1)
	}
	if f.lay.compression == compNone {
		n = f.lay.rowBytes() * int64(u.h)
	}
	if at > f.src.Size || n > f.src.Size-at {
		return container.Truncated()
	}
	return nil
}

// canonical changes a row to big-endian samples without the bits that pad it, and returns it; with extra, only the
// samples beside the colours.
func (l *layout) canonical(row []byte, extra bool) []byte {
	if l.depth >= 16 && !l.bigEndian {
		swap(row, l.depth/8)
	}
	if used := l.width * l.lanes() * l.depth % 8; used != 0 {
		row[len(row)-1] &= 0xff << (8 - used)
	}
	if !extra {
		return row
	}
	if l.depth < 8 {
		var bits []byte
		for x := range l.width {
			for i := l.colours; i < l.samples; i++ {
				bits = append(bits, l.bits(row, x*l.samples+i))
			}
		}
		return bits
	}
	each, skip := l.samples*l.depth/8, l.colours*l.depth/8
	out := row[:0]
	for x := range l.width {
		out = append(out, row[x*each+skip:(x+1)*each]...)
	}
	return out
}
