package tiff

import (
	"context"
	"io"
	"iter"

	"blik/app/imagefile/container"
	"blik/internal/parallel"
	"blik/processing"
)

// Decode returns the colour samples of the first picture. Strips and tiles are read and converted on all cores, a few
// rows at a time, straight into the samples of the result.
func (f *File) Decode(ctx context.Context) (*processing.Picture, error) {
	l := f.lay
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.whole(); err != nil {
		return nil, err
	}
	pic := l.newPicture(l.width, l.height)
	// Uncompressed segments can be read from any row, so even a single strip keeps all cores busy.
	units, bands := l.coloured(), 1
	if l.compression == compNone {
		const band = 16 * chunk
		bands = int((l.rowBytes()*int64(l.segmentHeight) + band - 1) / band)
		bands = min(bands, l.segmentHeight)
	}
	err := eachTask(ctx, units*bands, func(ctx context.Context, s *scratch, i int) error {
		u := l.unit(i / bands)
		each := (l.segmentHeight + bands - 1) / bands
		y0 := i % bands * each
		return f.decodeRows(ctx, s, pic, u, y0, min(y0+each, u.h))
	})
	if err != nil {
		return nil, err
	}
	return pic, nil
}

// whole reports whether the file is long enough for the picture.
func (f *File) whole() error {
	if err := f.lay.check(f.src.Size); err != nil {
		return err
	}
	if i := f.info; i.Expansion > 0 && i.Raw/i.Expansion > f.src.Size {
		return container.Truncated()
	}
	return nil
}

// newPicture returns a picture of decoded samples, of the given size.
func (l *layout) newPicture(w, h int) *processing.Picture {
	s := processing.NewSamples(l.decoded, w*h*l.channels)
	return &processing.Picture{Width: w, Height: h, Channels: l.channels, U8: s.U8, U16: s.U16, F32: s.F32}
}

// decodeRows decodes rows y0 to y1 of a segment; y0 is 0 if it is compressed.
func (f *File) decodeRows(ctx context.Context, s *scratch, pic *processing.Picture, u unit, y0, y1 int) error {
	l := f.lay
	if y0 >= y1 {
		return nil
	}
	if l.compression == compJPEG {
		return f.decodeJPEG(ctx, pic, u)
	}
	rowBytes := l.rowBytes()
	r, err := f.open(s, u, int64(y0)*rowBytes)
	if err != nil {
		return err
	}
	each := int(max(chunk/rowBytes, 1))
	buf := s.rows(int64(min(each, y1-y0)) * rowBytes)
	for y := y0; y < y1; y += each {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := buf[:int64(min(each, y1-y))*rowBytes]
		if _, err := io.ReadFull(r, rows); err != nil {
			return l.readError(u, err)
		}
		for i := y; len(rows) > 0; i++ {
			row := rows[:rowBytes]
			rows = rows[rowBytes:]
			f.unpredict(s, row)
			l.unpack(pic, u, i, row)
			f.noteLoose(u, row)
		}
	}
	if y1 == u.h {
		f.finish(s, r, u)
	}
	return nil
}

// eachTask runs work for 0…n−1 on all processors, each with its own scratch, until the first error.
func eachTask(ctx context.Context, n int, work func(ctx context.Context, s *scratch, i int) error) error {
	return parallel.Try(ctx, 0, n, func(ctx context.Context, tasks iter.Seq[int]) error {
		s := &scratch{}
		for i := range tasks {
			if err := work(ctx, s, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// unpack converts row y of a segment from its form in the file and stores it in the picture.
func (l *layout) unpack(pic *processing.Picture, u unit, y int, row []byte) {
	at := ((u.y+y)*pic.Width + u.x) * pic.Channels
	end := at + u.w*pic.Channels
	if l.colourMap != nil {
		l.unpackIndices(pic, at, u.w, row)
		return
	}
	// lanes samples of each pixel follow one another, at every toStep-th place of the picture and every fromStep-th of
	// the row.
	lanes, toStep, fromStep := l.colours, l.channels, l.samples
	if l.planar {
		lanes, fromStep, at = 1, 1, at+u.plane
	}
	switch {
	case l.depth < 8:
		for x := range u.w {
			for c := range lanes {
				pic.U8[at+x*toStep+c] = l.bits(row, x*fromStep+c) * (255 / uint8(1<<l.depth-1))
			}
		}
	case l.depth == 8:
		unpack8(pic.U8[at:end], row, lanes, toStep, fromStep, u.w)
	case l.depth == 16:
		unpack16(pic.U16[at:end], row, l.bigEndian, lanes, toStep, fromStep, u.w)
	default:
		unpack32(pic.F32[at:end], row, l.bigEndian, lanes, toStep, fromStep, u.w)
	}
	if l.photometric != whiteIsZero {
		return
	}
	if pic.U8 != nil {
		invert(pic.U8[at:end])
	} else {
		invert(pic.U16[at:end])
	}
}

// bits returns sample i of a row of samples with fewer than 8 bits.
func (l *layout) bits(row []byte, i int) uint8 {
	at := i * l.depth
	return row[at>>3] >> (8 - l.depth - at&7) & (1<<l.depth - 1)
}

// unpackIndices looks up the colours of a row of palette indices.
func (l *layout) unpackIndices(pic *processing.Picture, at, n int, row []byte) {
	step := l.samples
	if l.planar {
		step = 1
	}
	colours := len(l.colourMap) / 3
	for x := range n {
		var i int
		switch l.depth {
		case 8:
			i = int(row[x*step])
		case 16:
			i = int(l.order().Uint16(row[2*x*step:]))
		default:
			i = int(l.bits(row, x*step))
		}
		for c := range 3 {
			v := l.colourMap[c*colours+i]
			if pic.U16 != nil {
				pic.U16[at+3*x+c] = v
			} else {
				pic.U8[at+3*x+c] = uint8(v >> 8)
			}
		}
	}
}

func invert[T uint8 | uint16](v []T) {
	for i := range v {
		v[i] = ^v[i]
	}
}
