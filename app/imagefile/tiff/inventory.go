package tiff

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
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
		numbers: map[int64]int{},
	}
	l.cover = &l.v.Coverage
	l.cover.Mark(container.Structure, 0, f.src.HeaderSize())
	if f.promise != "" {
		word := f.promise
		if changed {
			word = promiseBroken
		}
		l.v.Add(message.Of("the promised layout"), []byte(word))
		l.cover.Mark(container.Value, f.promiseAt, int64(len(word)))
	}
	changed = changed && f.converts()
	l.follow(place{}, 0, f.dir.At)
	if err := l.picture(place{}, f.dir, changed); err != nil {
		return nil, err
	}
	at := f.dir.Next
	for i, next := range f.src.Following(f.dir, maxDirectories) {
		p := place{page: i + 2}
		l.follow(p, 0, next)
		d, err := l.directoryAt(p, next)
		if err != nil {
			return nil, err
		}
		if at = 0; d != nil {
			at = d.Next
		}
	}
	l.follow(place{page: maxDirectories}, 0, at)
	l.v.Add(message.Of("the order of directories"), l.graph)
	return l.v, ctx.Err()
}

// lister makes an inventory.
type lister struct {
	ctx  context.Context
	f    *File
	v    *container.Inventory
	seen map[int64]bool
	// cover is the coverage of v.
	cover *container.Coverage
	// numbers are those of the directories at their offsets, in the order in which they are first referred to; graph
	// holds the references.
	numbers map[int64]int
	graph   []byte
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

// follow records a reference from a place, in one of its tags or 0 for the chain of pages, to the directory at an
// offset.
func (l *lister) follow(p place, tag uint16, at int64) {
	number := 0
	if at != 0 {
		if d, _ := l.f.src.Directory(at); d == nil {
			number = -1
		} else if number = l.numbers[at]; number == 0 {
			number = len(l.numbers) + 1
			l.numbers[at] = number
		}
	}
	l.graph = fmt.Appendf(l.graph, "%d %d %d %d %d\n", p.page, p.sub, p.under, tag, number)
}

// directoryAt lists the directory of a further picture and returns it; nil if it is listed already or cannot be read.
func (l *lister) directoryAt(p place, at int64) (*exif.Directory, error) {
	if l.seen[at] || len(l.seen) > maxDirectories {
		return nil, nil
	}
	l.seen[at] = true
	d, err := l.f.src.Directory(at)
	if d == nil {
		return nil, l.unlisted(p.of(message.Of("the directory")), err)
	}
	return d, l.picture(p, d, false)
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

// pairs are the tags of the offsets and lengths of stored data.
func pairs() [][2]uint16 {
	return [][2]uint16{
		{tagStripOffsets, tagStripByteCounts}, {tagTileOffsets, tagTileByteCounts}, {tagJPEGOffset, tagJPEGLength},
	}
}

// preview is the pair of the thumbnail that a directory may refer to beside its picture.
const preview = 2

// picture lists a directory and the picture that it describes; changed lists that of the file as convert leaves it.
func (l *lister) picture(p place, d *exif.Directory, changed bool) error {
	main := d.At == l.f.dir.At
	f := l.f
	if !main {
		f = nil
		if lay, err := readLayout(l.f.src, d); err == nil {
			f = newFile(l.f.src, d, lay)
		}
	}
	// Lossy data are listed as they are stored: who decodes them sees every bit of them.
	if f != nil && (f.lay.compression == compJPEG || !main && (f.lay.across > maxColumns || !f.lay.wholeBytes())) {
		f = nil
	}
	var skip []uint16
	if changed {
		skip = append(l.f.lay.replaced(), tagCompression, tagStripOffsets, tagStripByteCounts, tagRowsPerStrip)
		for _, e := range l.f.convertedLayout() {
			l.v.Add(p.tag(e.tag), binary.BigEndian.AppendUint16(nil, uint16(e.kind)), e.data)
		}
	}
	l.directory(p, d, true)
	if err := l.tags(p, d, f, skip); err != nil {
		return err
	}
	if d.Cut {
		l.v.Add(p.of(message.Of("the offset of the next page")))
	}
	if f == nil && !changed {
		return l.stored(p, d, pairs())
	}
	// If f is nil, its pixels are stored anew.
	if err := l.stored(p, d, pairs()[preview:]); err != nil || f == nil {
		return err
	}
	if !main || f.lay.samples > f.lay.colours {
		sum, err := l.samples(f, main)
		switch {
		case err == nil && main:
			l.v.AddSum(message.Of("alpha or extra channels"), sum)
		case err == nil:
			l.v.AddSum(p.of(message.Of("samples")), sum)
		case !main && l.ctx.Err() == nil:
			// It is damaged, but both files may be damaged in the same way.
			return l.stored(p, d, pairs()[:preview])
		default:
			return l.unlisted(p.of(message.Of("alpha or extra channels")), err)
		}
	}
	if changed {
		return nil
	}
	return l.segments(p, f)
}

// segments records where the data of a decoded picture lie, and lists what they hold besides its pixels.
func (l *lister) segments(p place, f *File) error {
	name := fmt.Sprint(p, "strip or tile")
	for i, at := range f.lay.offsets {
		end := f.read.ends[i]
		if end < 0 {
			continue
		}
		l.cover.Mark(container.Sample, at, end)
		if i < len(f.lay.given) && f.lay.given[i] > end {
			of := container.Remainder{Name: name, Index: int64(i)}
			l.cover.Rest(of, at+end, min(f.lay.given[i], l.f.src.Size)-end)
		}
	}
	if err := l.besides(p, f); err != nil {
		return err
	}
	if !f.read.loose {
		return nil
	}
	h := sha256.New()
	bits := f.lay.fillBits(f.lay.unit(0))
	err := l.rows(f, 0, func(row []byte) { h.Write([]byte{row[len(row)-1] & (1<<bits - 1)}) })
	if err == nil {
		l.v.AddSum(p.of(message.Of("unused bits of the rows")), h).Unused = true
	}
	return err
}

// directory records the bytes of a directory, except the values of its tags. The offset after the tags is valid only in
// chains; some programs omit it elsewhere.
func (l *lister) directory(p place, d *exif.Directory, chain bool) {
	s := l.f.src
	n := d.Length
	if !d.Cut {
		n -= s.OffsetSize()
		if chain {
			l.cover.Mark(container.Structure, d.At+n, s.OffsetSize())
		} else {
			l.cover.Rest(container.Remainder{Name: fmt.Sprint(p, "next")}, d.At+n, s.OffsetSize())
		}
	}
	head := n
	if len(d.Entries) > 0 {
		head = d.Entries[0].At - d.At
	}
	l.cover.Mark(container.Structure, d.At, head)
	same := map[uint16]int64{}
	for i := range d.Entries {
		e := &d.Entries[i]
		l.cover.Mark(container.Structure, e.At, e.Field-e.At)
		part := container.Remainder{Name: fmt.Sprint(p, "tag", e.Tag), Index: same[e.Tag]}
		l.cover.Rest(part, e.Field, s.OffsetSize())
		same[e.Tag]++
	}
}

// value records the use of the first count values of an entry.
func (l *lister) value(e *exif.Entry, use container.Use, count uint64) {
	if _, ok := e.Length(l.f.src.Size); !ok {
		return
	}
	if !e.Inline {
		l.cover.Mark(container.Structure, e.Field, l.f.src.OffsetSize())
	}
	l.cover.Mark(use, e.Value, int64(min(count, e.Count))*e.Kind.Size())
}

// tags lists the tags of a directory except those to skip, and the directories below it. f is its picture, if that is
// decoded.
func (l *lister) tags(p place, d *exif.Directory, f *File, skip []uint16) error {
	for i := range d.Entries {
		e := &d.Entries[i]
		if err := l.entry(p, d, f, e, slices.Contains(skip, e.Tag)); err != nil {
			return err
		}
	}
	return nil
}

// entry lists a tag and the directories below it.
func (l *lister) entry(p place, d *exif.Directory, f *File, e *exif.Entry, skip bool) error {
	if e.Tag == tagSubIFDs && p.under == 0 {
		l.value(e, container.Structure, e.Count)
		return l.subPictures(p, e)
	}
	if pointer(p.under, e.Tag) {
		if at, err := l.f.src.Ints(e, 1); err == nil && len(at) == 1 {
			l.value(e, container.Structure, 1)
			if err := l.below(p, e.Tag, at[0]); err != nil {
				return err
			}
			return l.unused(p, e, 1)
		}
	}
	if p.under != 0 {
		return l.tag(p, e)
	}
	used, ok := l.used(d, f, e)
	switch {
	case !ok && skip:
		l.value(e, container.Value, e.Count)
	case !ok:
		return l.tag(p, e)
	case skip:
		l.value(e, container.Structure, used)
	default:
		l.value(e, container.Structure, used)
		return l.unused(p, e, used)
	}
	return nil
}

// used returns how many values of a tag of a picture only serve to find and decode its samples. ok is false for a tag
// that says something else.
func (l *lister) used(d *exif.Directory, f *File, e *exif.Entry) (n uint64, ok bool) {
	first := d.Find(e.Tag).At == e.At
	located := func(tag uint16) uint64 {
		// Of the data listed as they are stored, each needs an offset and a length.
		for _, pair := range pairs() {
			at, length := d.Find(pair[0]), d.Find(pair[1])
			if first && (tag == pair[0] || tag == pair[1]) && at != nil && length != nil {
				return min(at.Count, length.Count)
			}
		}
		return 0
	}
	switch e.Tag {
	case tagJPEGOffset, tagJPEGLength:
		n := located(e.Tag)
		return n, n > 0 && e.Tag == tagJPEGOffset
	case tagStripOffsets, tagStripByteCounts, tagTileOffsets, tagTileByteCounts:
		if f == nil {
			return located(e.Tag), true
		}
	}
	if f == nil || !slices.Contains(storage(), e.Tag) {
		return 0, false
	}
	lay := f.lay
	switch {
	case e.At == lay.offsetsEntry.At, e.At == f.countsAt() && (lay.compression != compNone || lay.plainCounts()):
		return uint64(len(lay.offsets)), true
	case !first:
		return 0, true
	case e.Tag == tagCompression, e.Tag == tagFillOrder, e.Tag == tagRowsPerStrip && !lay.tiled,
		e.Tag == tagPredictor && lay.predicts(), e.Tag == tagT4Options && lay.compression == compG3,
		(e.Tag == tagTileWidth || e.Tag == tagTileLength) && lay.tiled:
		return 1, true
	}
	return 0, true
}

// plainCounts reports whether the byte counts of uncompressed segments are those of their rows, or of a whole segment.
// The reader does not need them; other programs may.
func (l *layout) plainCounts() bool {
	for i, n := range l.given {
		u := l.unit(i)
		if each := l.rowBytes(); n != each*int64(u.h) && n != each*int64(u.rows) && n != each*int64(l.segmentHeight) {
			return false
		}
	}
	return true
}

// unused lists the values of a tag behind the first used ones. A single value that means the same as a missing tag is
// not listed.
func (l *lister) unused(p place, e *exif.Entry, used uint64) error {
	if used >= e.Count {
		return nil
	}
	if used == 0 && e.Count == 1 {
		standard := map[uint16]int64{tagPredictor: predictNone, tagT4Options: 0, tagT6Options: 0}
		if v, err := l.f.src.Ints(e, 1); err == nil && len(v) == 1 {
			if usual, ok := standard[e.Tag]; ok && v[0] == usual {
				l.value(e, container.Value, 1)
				return nil
			}
		}
	}
	rest := *e
	if _, ok := e.Length(l.f.src.Size); ok {
		rest.Value += int64(used) * e.Kind.Size()
		rest.Count -= used
	}
	before := len(l.v.Items)
	err := l.tag(p, &rest)
	for i := range l.v.Items[before:] {
		item := &l.v.Items[before+i]
		item.Name, item.Unused = message.Of("unused values of %s", item.Name), true
	}
	return err
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
	l.follow(p, pointer, at)
	p.under = pointer
	d, err := l.f.src.Directory(at)
	if d == nil {
		return l.unlisted(p.of(message.Of("the directory under tag %d", pointer)), err)
	}
	l.directory(p, d, false)
	return l.tags(p, d, nil, nil)
}

// subPictures lists the sub-pictures of a picture with their chains.
func (l *lister) subPictures(p place, e *exif.Entry) error {
	all, err := l.f.src.Ints(e, maxDirectories)
	if err != nil {
		return l.unlisted(p.of(message.Of("the sub-pictures")), err)
	}
	n := 0
	for _, at := range all {
		for at != 0 && n < maxDirectories {
			n++
			next := place{page: p.page, sub: n}
			l.follow(next, tagSubIFDs, at)
			if l.seen[at] {
				break
			}
			d, err := l.directoryAt(next, at)
			if d == nil || err != nil {
				return err
			}
			at = d.Next
		}
		l.follow(place{page: p.page, sub: n}, 0, at)
	}
	return nil
}

// tag lists a tag by its kind and its values, numbers as big-endian; of one whose values cannot be read, the entry.
func (l *lister) tag(p place, e *exif.Entry) error {
	s := l.f.src
	h := sha256.New()
	l.value(e, container.Value, e.Count)
	kind := binary.BigEndian.AppendUint16(nil, uint16(e.Kind))
	if size := e.Tag == tagWidth || e.Tag == tagLength; size && p.under == 0 && e.Kind == exif.Short && e.Count == 1 {
		// Writers choose the kind by the number.
		kind = []byte{0, byte(exif.Long), 0, 0}
	}
	h.Write(kind)
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
	l.v.AddSum(p.tag(e.Tag), h).Geometry = p == (place{}) && (e.Tag == tagWidth || e.Tag == tagLength)
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

// stored lists the data of a picture to which pairs of tags refer, as they are stored.
func (l *lister) stored(p place, d *exif.Directory, pairs [][2]uint16) error {
	s := l.f.src
	for _, pair := range pairs {
		at, length := d.Find(pair[0]), d.Find(pair[1])
		if at == nil {
			continue
		}
		name := p.of(message.Of("samples"))
		if pair[0] == tagJPEGOffset {
			name = p.of(message.Of("preview"))
			if length == nil {
				continue // listed by its value
			}
		}
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
			l.cover.Mark(container.Value, offsets[i], n)
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

// samples hashes the samples of a picture row by row and plane by plane, independently of strips and tiles; with extra,
// only the samples beside the colours.
func (l *lister) samples(f *File, extra bool) (sum hash.Hash, err error) {
	h := sha256.New()
	first := 0
	if extra && f.lay.planar {
		first = f.lay.colours
	}
	err = l.rows(f, first, func(row []byte) { h.Write(f.lay.canonical(row, extra && !f.lay.planar)) })
	return h, err
}

// rows decodes the rows of a picture from the first plane on. visit may change a row.
func (l *lister) rows(f *File, first int, visit func(row []byte)) error {
	lay := f.lay
	if lay.across > maxColumns || !lay.wholeBytes() {
		return container.Unsupported("tiles of this kind cannot be compared")
	}
	planes := 1
	if lay.planar {
		planes = lay.samples
	}
	columns := make([]*scratch, lay.across)
	for i := range columns {
		columns[i] = &scratch{}
	}
	readers := make([]io.Reader, lay.across)
	whole := make([]byte, 0, (lay.width*lay.lanes()*lay.depth+7)/8+16)
	for plane := first; plane < planes; plane++ {
		for down := range lay.down {
			unit := func(across int) unit { return lay.unit((plane*lay.down+down)*lay.across + across) }
			for across := range readers {
				u := unit(across)
				err := lay.stored(u, f.src.Size)
				if err == nil {
					readers[across], err = f.open(columns[across], u, 0)
				}
				if err != nil {
					return err
				}
			}
			for range unit(0).h {
				if err := l.ctx.Err(); err != nil {
					return err
				}
				whole = whole[:0]
				for across, r := range readers {
					u := unit(across)
					row := columns[across].rows(lay.rowBytes())
					if _, err := io.ReadFull(r, row); err != nil {
						return lay.readError(u, err)
					}
					f.unpredict(columns[across], row)
					f.noteLoose(u, row)
					whole = append(whole, row[:(u.w*lay.lanes()*lay.depth+7)/8]...)
				}
				visit(whole)
			}
			for across, r := range readers {
				f.finish(columns[across], r, unit(across))
			}
		}
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
