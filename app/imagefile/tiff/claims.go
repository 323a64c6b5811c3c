package tiff

import (
	"cmp"
	"slices"

	"blik/app/imagefile/exif"
)

// claims records which parts of the file written by Patch also serve another purpose. A well-formed file has none, but
// blank tiles may be stored once, pages may share strips, and in a damaged file pixels may overlap tags.
type claims struct {
	// shared has a value for each segment of the first picture.
	shared []bool
	// offsets and counts are the arrays of the segments if they are outside the directory; directory is the directory
	// itself, header the header of the file.
	offsets, counts, directory, header bool
}

// span is a part of the file with its use: the number of a segment, or one of the constants.
type span struct {
	at, end int64
	what    int
}

const (
	spanOther = -1 - iota
	spanOffsets
	spanCounts
	spanDirectory
	spanHeader
)

// maxDirectories and maxSpans bound the directories and parts of a file that are examined in addition to the segments
// of the picture; in files with more, everything counts as shared.
const (
	maxDirectories = 1 << 16
	maxSpans       = 1 << 22
)

// claims finds the parts of the file with several uses.
func (f *File) claims() *claims {
	c := &claims{shared: make([]bool, len(f.lay.offsets))}
	spans, ok := f.spans()
	if !ok {
		for i := range c.shared {
			c.shared[i] = true
		}
		c.offsets, c.counts = true, true
		return c
	}
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.at >= s.end })
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.end, b.end)) })
	reached := int64(0)
	for i, sp := range spans {
		if sp.at < reached || i+1 < len(spans) && spans[i+1].at < sp.end {
			switch sp.what {
			case spanOther:
			case spanOffsets:
				c.offsets = true
			case spanCounts:
				c.counts = true
			case spanDirectory:
				c.directory = true
			case spanHeader:
				c.header = true
			default:
				c.shared[sp.what] = true
			}
		}
		reached = max(reached, sp.end)
	}
	return c
}

// spans returns the parts used by all directories of the file; ok is false if there are too many.
func (f *File) spans() (spans []span, ok bool) {
	s, l := f.src, f.lay
	spans = append(spans, span{0, s.HeaderSize(), spanHeader})
	for i, at := range l.offsets {
		spans = append(spans, span{at, at + min(l.counts[i], s.Size), i})
	}
	most := len(spans) + maxSpans
	seen := map[int64]bool{}
	// The offset after the entries is valid only in chains; some programs omit it elsewhere.
	type reference struct {
		at    int64
		chain bool
	}
	queue := []reference{{f.dir.At, true}}
	for len(queue) > 0 {
		ref := queue[0]
		queue = queue[1:]
		if ref.at == 0 || seen[ref.at] {
			continue
		}
		seen[ref.at] = true
		d, err := s.Directory(ref.at)
		if err != nil {
			continue
		}
		whole := span{d.At, d.At + d.Length, spanOther}
		if ref.at == f.dir.At {
			whole.what = spanDirectory
		}
		if ref.chain {
			queue = append(queue, reference{d.Next, true})
		} else {
			whole.end -= s.OffsetSize()
		}
		spans = append(spans, whole)
		spans = append(spans, f.spansOf(d)...)
		for _, tag := range []uint16{tagSubIFDs, exif.TagEXIF, exif.TagGPS, exif.TagInterop} {
			e := d.Find(tag)
			if e == nil {
				continue
			}
			if v, err := s.Ints(e, maxDirectories); err == nil {
				for _, at := range v {
					queue = append(queue, reference{at, tag == tagSubIFDs})
				}
			}
		}
		if len(seen)+len(queue) > maxDirectories || len(spans) > most {
			return nil, false
		}
	}
	return spans, true
}

// spansOf returns the parts to which the entries of a directory refer: their values, and the data of its picture,
// except for the first one, whose segments are already known.
func (f *File) spansOf(d *exif.Directory) []span {
	s := f.src
	var spans []span
	first := d.At == f.dir.At
	for i := range d.Entries {
		e := &d.Entries[i]
		n, ok := e.Length(s.Size)
		if !ok || e.Inline || n == 0 {
			continue
		}
		what := spanOther
		if first {
			switch e.At {
			case f.lay.offsetsEntry.At:
				what = spanOffsets
			case f.countsAt():
				what = spanCounts
			}
		}
		spans = append(spans, span{e.Value, e.Value + n, what})
	}
	for _, pair := range pairs() {
		at, length := d.Find(pair[0]), d.Find(pair[1])
		if at == nil || length == nil || first && at.At == f.lay.offsetsEntry.At {
			continue
		}
		offsets, err := s.Ints(at, maxSpans+1)
		lengths, e := s.Ints(length, maxSpans+1)
		if err != nil || e != nil {
			continue
		}
		for i := range min(len(offsets), len(lengths)) {
			if o, n := offsets[i], lengths[i]; o < s.Size {
				spans = append(spans, span{o, o + min(n, s.Size), spanOther})
			}
		}
	}
	return spans
}

// countsAt returns the offset of the entry of the byte counts; 0 if there is none.
func (f *File) countsAt() int64 {
	if e := f.lay.countsEntry; e != nil {
		return e.At
	}
	return 0
}
