package imagefile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sort"

	"blik/app/imagefile/container"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
)

// Proof is the outcome of comparing a result with its source.
type Proof struct {
	// Width, Height and Channels are those of the source's decoded picture.
	Width, Height, Channels int
	// MaskArea is the number of pixels that may change; −1 without a mask.
	MaskArea int64
	// Changed is the number of pixels with a differing sample.
	Changed int64
	// Outside is the number of those outside the mask, and First are the first ten of them in reading order. Pixels
	// that depend on a JPEG block with a pixel of the mask count as Beside instead.
	Outside int64
	First   []Position
	Beside  int64
	// Differs names other differing parts: tags, chunks and segments, alpha and extra channels, other pages and
	// sub-pictures.
	Differs []message.Message
	// Uncompared holds clauses about parts that could not be compared.
	Uncompared []message.Message
	// Converted is the container of the result if it is not that of the source; the result is then compared with the
	// source saved in that container.
	Converted Format
	// ByByte: both files were compared byte by byte. They are TIFFs with unencoded pixels at the same offsets, or
	// identical files of any format. BytesChanged is the number of differing bytes, BytesOutside the number of those
	// that are not colour samples of the picture: metadata, alpha, extra channels, other pages.
	ByByte                     bool
	BytesChanged, BytesOutside int64
	// Unreferenced is the number of bytes of the result that are neither samples nor compared values nor needed to find
	// these, and that are not in the source either.
	Unreferenced int64
	// Account says what the bytes of the result are; its Size is 0 if they were not counted.
	Account container.Account
	// Blocks compares the blocks of 8 × 8 samples of JPEG files.
	Blocks container.Blocks
}

// Holds reports whether everything was compared and only pixels in the mask differ.
func (p *Proof) Holds() bool {
	return p.Outside == 0 && len(p.Differs) == 0 && len(p.Uncompared) == 0 && p.BytesOutside == 0 &&
		p.Unreferenced == 0 && p.Blocks.Outside == 0 && p.Blocks.Hidden == 0
}

// Statement summarises the proof in one sentence.
func (p *Proof) Statement() message.Message {
	if p.Holds() {
		total := int64(p.Width) * int64(p.Height)
		clauses := []message.Message{message.Of("Proven: %d of %d pixels changed", p.Changed, total)}
		switch {
		case p.MaskArea < 0:
			clauses[0] = message.Of(
				"Without a mask all pixels were free to change: %d of %d changed", p.Changed, total)
		case p.MaskArea >= 0 && p.Beside > 0:
			clauses = append(clauses, message.Of(
				", %d of them among the %d free to change and %d in JPEG blocks of such pixels; no other changed",
				p.Changed-p.Beside, p.MaskArea, p.Beside))
		case p.MaskArea >= 0:
			clauses = append(clauses, message.Of(
				", all of them among the %d free to change; no other pixel changed", p.MaskArea))
		}
		if p.Converted == "" {
			clauses = append(clauses, message.Of("; everything else in the file is that of the original"))
		} else {
			clauses = append(clauses,
				message.Of("; everything else is what a copy of the original as %s holds", p.Converted))
		}
		return message.Of("%s.", message.Join("", clauses...))
	}
	return message.Of("Not proven: %s.", message.Join("; ", p.faults()...))
}

// faults returns clauses about everything that invalidates the proof.
func (p *Proof) faults() []message.Message {
	var faults []message.Message
	if p.Outside > 0 {
		faults = append(faults, message.Of(
			"%d pixels changed that were not free to, the first at %d, %d", p.Outside, p.First[0].X, p.First[0].Y))
	}
	if p.Blocks.Outside > 0 {
		faults = append(faults, message.Of("%d JPEG blocks without a pixel of the mask changed", p.Blocks.Outside))
	}
	if p.Blocks.Hidden > 0 {
		faults = append(faults, message.Of("%d JPEG blocks that stand for no pixel changed", p.Blocks.Hidden))
	}
	if n := len(p.Differs); n > 0 {
		list := message.Join(", ", p.Differs[:min(n, maxNamed)]...)
		if n > maxNamed {
			list = message.Of("%s and %d more", list, n-maxNamed)
		}
		faults = append(faults, message.Of("differs from the original: %s", list))
	}
	if p.BytesOutside > 0 {
		faults = append(faults, message.Of("%d bytes changed that are not colour samples", p.BytesOutside))
	}
	if p.Unreferenced > 0 {
		faults = append(faults, message.Of("%d bytes of the result belong to no part of the file", p.Unreferenced))
	}
	if n := len(p.Uncompared); n > 0 {
		faults = append(faults, message.Of("not everything can be compared (%s)", p.Uncompared[0]))
	}
	return faults
}

// maxNamed is the number of differences that a sentence names.
const maxNamed = 8

// differs names a property in which the pictures of two files differ.
func differs(name message.Text) message.Message { return message.Of(name).Context("differs") }

// Comparison is a proof with the two files that it is about.
type Comparison struct {
	Proof          *Proof
	Source, Result *File
}

// Compare compares two picture files: every sample of every pixel, page and sub-picture, alpha and extra channels, and
// every tag, chunk and segment, however they are packed. A result in another container is compared with what saving the
// source in that container writes. The stored blocks of JPEG files are compared too. Parts that cannot be compared
// invalidate the proof (Proof.Uncompared).
//
// mask, in the row order of the file, marks the pixels that may differ; with nil all may differ, and they are only
// counted. Two decoded pictures are in memory at once. With coverage it also counts the bytes of a result that was
// compared byte by byte.
func Compare(ctx context.Context, source, result string, mask *processing.Mask, limits Limits, coverage bool) (
	*Comparison, error,
) {
	a, err := openSide(ctx, source, limits)
	if err != nil {
		return nil, err
	}
	defer a.close()
	pic := a.file.Picture
	if mask != nil && (mask.Width != pic.Width || mask.Height != pic.Height) {
		return nil, fault(source, ErrSize, nil, "the picture has %d × %d pixels, the mask %d × %d",
			pic.Width, pic.Height, mask.Width, mask.Height)
	}
	b, err := openSide(ctx, result, limits)
	if err != nil {
		return nil, err
	}
	defer b.close()
	p := newProof(a.file)
	var may func(int, []bool)
	if mask != nil {
		p.MaskArea = int64(mask.Area())
		may = func(y int, row []bool) {
			for x, v := range mask.Pix[y*mask.Width : (y+1)*mask.Width] {
				row[x] = v >= processing.MaskLevel
			}
		}
	}
	if err := p.compare(ctx, a, b, may); err != nil {
		return nil, err
	}
	if coverage && p.Account.Size == 0 {
		if err := p.count(ctx, a, b); err != nil {
			return nil, err
		}
	}
	return &Comparison{p, a.file, b.file}, nil
}

// count counts the bytes of a result that was compared byte by byte.
func (p *Proof) count(ctx context.Context, a, b *side) error {
	got, err := b.container.Inventory(ctx, false)
	if err == nil {
		covered := container.Covered{R: b.r, Size: b.file.Size, Coverage: &got.Coverage}
		p.Account, err = covered.Account(ctx, &container.Covered{R: a.r, Size: a.file.Size, Coverage: &got.Coverage})
	}
	if err != nil {
		return b.file.fault(ctx, err)
	}
	return nil
}

func newProof(source *File) *Proof {
	pic := source.Picture
	return &Proof{Width: pic.Width, Height: pic.Height, Channels: pic.Channels, MaskArea: -1}
}

// side is one of two files being compared: decoded, and open for reading.
type side struct {
	file      *File
	r         io.ReaderAt
	container container.Container
	close     func() error
}

// openSide opens and decodes a file.
func openSide(ctx context.Context, path string, limits Limits) (*side, error) {
	file, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s := &side{file: newFile(path, info), r: cancelReader{ctx, file}, close: file.Close}
	_, err = runCancellable(ctx, func() (*File, error) { return s.file, s.file.decode(ctx, s.r, limits, nil) })
	if err == nil {
		var now fs.FileInfo
		if now, err = file.Stat(); err == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())) {
			err = changedError(path)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	s.container = s.file.container
	return s, nil
}

// compare compares the pictures and all other contents of the files.
func (p *Proof) compare(ctx context.Context, a, b *side, may func(int, []bool)) error {
	x, y := a.file.Picture, b.file.Picture
	for what, is := range map[message.Text]bool{
		"size": x.Width != y.Width || x.Height != y.Height, "depth": x.Depth() != y.Depth(),
		"channels": x.Channels != y.Channels,
	} {
		if is {
			p.Differs = append(p.Differs, differs(what))
		}
	}
	if len(p.Differs) > 0 {
		slices.SortFunc(p.Differs, func(a, b message.Message) int { return cmp.Compare(a.Key(), b.Key()) })
		return nil
	}
	if err := p.blocks(ctx, a, b, may); err != nil {
		return a.file.fault(ctx, err)
	}
	allowed := may
	if p.Blocks.Reach != nil && may != nil {
		allowed = p.Blocks.Reach
	}
	d, err := compare(ctx, x, y, allowed)
	if err != nil {
		return err
	}
	p.Changed, p.Outside, p.First = d.changed, d.outside, d.first
	if p.Blocks.Reach != nil && may != nil {
		d, err = compare(ctx, x, y, may)
		if err != nil {
			return err
		}
		p.Beside = d.outside - p.Outside
	}
	p.Blocks.Reach = nil
	if err := p.bytes(ctx, a, b); err != nil {
		return a.file.fault(ctx, err)
	}
	if p.ByByte && p.BytesOutside == 0 {
		return nil
	}
	if err := p.contents(ctx, a, b); err != nil {
		return err
	}
	if p.ByByte && len(p.Differs) == 0 && len(p.Uncompared) == 0 && p.Unreferenced == 0 {
		// The same contents in another order take as many bytes.
		p.ByByte, p.BytesChanged, p.BytesOutside = false, 0, 0
	}
	return nil
}

// blocks compares the stored blocks of two JPEG files.
func (p *Proof) blocks(ctx context.Context, a, b *side, may func(int, []bool)) (err error) {
	coded, ok := a.container.(container.BlockCoder)
	if !ok || a.file.Format != b.file.Format {
		return nil
	}
	if may == nil {
		may = func(_ int, row []bool) {
			for x := range row {
				row[x] = true
			}
		}
	}
	p.Blocks, err = coded.Blocks(ctx, b.container, may)
	return p.unless(ctx, err)
}

// unless records an error about the contents of a container as a part that cannot be compared, and returns other
// errors.
func (p *Proof) unless(ctx context.Context, err error) error {
	if fault, ok := errors.AsType[*container.Fault](err); ok && ctx.Err() == nil {
		p.Uncompared = append(p.Uncompared, fault.Text)
		return nil
	}
	return err
}

// bytes compares the files byte by byte if their samples are unencoded. Every byte that is not part of a colour sample
// must be equal. Other files may be identical as a whole, including unreadable parts.
func (p *Proof) bytes(ctx context.Context, a, b *side) error {
	if a.file.Format != b.file.Format || a.file.Size != b.file.Size {
		return nil
	}
	var locate func(at int64) (x, y int, ok bool)
	if plain, ok := a.container.(container.RowDecoder); ok {
		locate = plain.Locate()
	}
	if locate == nil {
		equal := true
		err := eachDifference(ctx, a.r, b.r, a.file.Size, func(int64) { equal = false })
		p.ByByte = equal && err == nil
		return err
	}
	p.ByByte = true
	return eachDifference(ctx, a.r, b.r, a.file.Size, func(at int64) {
		p.BytesChanged++
		if _, _, ok := locate(at); !ok {
			p.BytesOutside++
		}
	})
}

// eachDifference calls do for each position in which two files of the same size differ, in order.
func eachDifference(ctx context.Context, a, b io.ReaderAt, size int64, do func(at int64)) error {
	const block = 1 << 20
	x, y := make([]byte, block), make([]byte, block)
	for at := int64(0); at < size; at += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, size-at)
		for _, side := range []struct {
			r   io.ReaderAt
			buf []byte
		}{{a, x}, {b, y}} {
			if err := container.ReadFull(side.r, side.buf[:n], at); err != nil {
				return err
			}
		}
		if bytes.Equal(x[:n], y[:n]) {
			continue
		}
		for i, v := range x[:n] {
			if v != y[i] {
				do(at + int64(i))
			}
		}
	}
	return nil
}

// contents compares the inventory of the result with the closest of three: that of the source, that of the source after
// its samples were converted because a pixel changed, and that of a new file of the source's picture.
func (p *Proof) contents(ctx context.Context, a, b *side) error {
	got, err := b.container.Inventory(ctx, false)
	if err != nil {
		return p.failed(ctx, b.file, err)
	}
	var (
		best, original *container.Inventory
		left           []message.Message
		as             Format
		// from is what the unused bytes of the result are compared with.
		from *container.Covered
	)
	consider := func(want *container.Inventory, geometry bool, format Format) {
		if found := want.Differences(got, geometry); best == nil || len(found) < len(left) {
			best, left, as = want, found, format
		}
	}
	if a.file.Format == b.file.Format {
		for _, changed := range []bool{false, true} {
			want, err := a.container.Inventory(ctx, changed)
			if err != nil {
				return p.failed(ctx, a.file, err)
			}
			if !changed {
				original = want
			}
			if consider(want, true, ""); len(left) == 0 {
				break
			}
		}
	}
	row := b.file.Format.row()
	if row.encode != nil && (a.file.Format != b.file.Format || a.file.Info.Readonly != nil && len(left) > 0) {
		data, want, err := fresh(ctx, row, a.file)
		if err != nil {
			return p.failed(ctx, a.file, err)
		}
		if consider(want, false, row.name); as != "" {
			// What nothing refers to in a new file, it holds at the same place.
			from = &container.Covered{R: bytes.NewReader(data), Size: int64(len(data)), Coverage: &want.Coverage}
		}
	}
	if best == nil {
		// No other format is saved as a file of this format.
		p.Uncompared = append(p.Uncompared, message.Of("no %s is saved as %s", a.file.Format, b.file.Format))
		return nil
	}
	p.Differs, p.Converted = append(p.Differs, left...), as
	p.Uncompared = append(append(p.Uncompared, best.Unlisted...), got.Unlisted...)
	if as == "" {
		from = &container.Covered{R: a.r, Size: a.file.Size, Coverage: &original.Coverage}
	}
	p.Account, err = container.Covered{R: b.r, Size: b.file.Size, Coverage: &got.Coverage}.Account(ctx, from)
	p.Unreferenced = p.Account.Foreign
	return p.failed(ctx, b.file, err)
}

// failed is unless, for the errors of a file.
func (p *Proof) failed(ctx context.Context, f *File, err error) error {
	if err = p.unless(ctx, err); err != nil {
		return f.fault(ctx, err)
	}
	return nil
}

// fresh returns a new file of a format with everything of file except its samples, and lists its contents.
func fresh(ctx context.Context, row format, file *File) ([]byte, *container.Inventory, error) {
	// The samples do not matter, so one pixel of the same kind is sufficient.
	pic := processing.Picture{Width: 1, Height: 1, Channels: file.Picture.Channels}
	s := processing.NewSamples(file.Picture.Depth(), pic.Channels)
	pic.U8, pic.U16, pic.F32 = s.U8, s.U16, s.F32
	var out bytes.Buffer
	if err := row.encode(ctx, &out, &pic, file.Info.Meta); err != nil {
		return nil, nil, err
	}
	c, err := row.open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		return nil, nil, err
	}
	v, err := c.Inventory(ctx, false)
	return out.Bytes(), v, err
}

// prove compares the written file with the picture in memory and with the source, and rejects it if it is wrong. The
// result is decoded again: completely, or, if its samples are unencoded, only in the rows that changed; every other
// byte is then compared with the source.
func (s *saving) prove(f atomicfile.File) error {
	p := newProof(s.file)
	p.MaskArea = 0
	for _, patch := range s.patches {
		p.MaskArea += int64(processing.Pixels(patch.Runs))
	}
	b := &side{file: &File{Path: s.saved.Path, Size: s.saved.Bytes}, r: f}
	plain, err := s.proveRows(f, p)
	if err == nil && !plain {
		if err = b.file.decode(s.ctx, f, s.options.Limits, nil); err != nil {
			return err
		}
		b.container = b.file.container
		a := &side{file: s.file, r: s.source, container: s.container}
		err = p.compare(s.ctx, a, b, rowsOf(s.patches).set)
		exact := !s.saved.Lossy && !s.saved.Format.row().keyed
		if err == nil && exact && p.Holds() && !s.arrived(b.file.Picture, 0, freshOf(s.changed)) {
			return s.unproven(message.Of("pixels do not have their new values"))
		}
		if err == nil && s.saved.Method == Patched {
			err = s.samePlaces(b.container)
		}
	}
	if err != nil {
		return err
	}
	s.saved.Proof, s.saved.PixelsChanged = p, p.Changed
	if !p.Holds() {
		return s.unproven(message.Join("; ", p.faults()...))
	}
	return nil
}

// set marks the pixels of a row that may change.
func (r rows) set(y int, row []bool) {
	for _, run := range r[y] {
		for x := run.X0; x < run.X1; x++ {
			row[x] = true
		}
	}
}

// proveRows proves a result with unencoded samples at the same offsets as in the source, which must be unchanged; ok is
// false for any other. Every byte of the two files is compared. The container maps differing bytes to pixels and
// decodes their rows of the result.
func (s *saving) proveRows(f atomicfile.File, p *Proof) (ok bool, err error) {
	if s.saved.Bytes != s.file.Size || !s.untouched() {
		return false, nil
	}
	if s.saved.Method == Copied {
		p.ByByte = true
		return true, eachDifference(s.ctx, s.source, f, s.file.Size, func(int64) { p.BytesOutside++ })
	}
	_, opened, err := open(f, s.saved.Bytes)
	if err != nil {
		return false, err
	}
	plain, ok := opened.(container.RowDecoder)
	if !ok {
		return false, nil
	}
	locate := plain.Locate()
	if locate == nil {
		return false, nil
	}
	p.ByByte = true
	// A pixel may have several samples, possibly in several planes.
	changed := map[int][]bool{}
	err = eachDifference(s.ctx, s.source, f, s.file.Size, func(at int64) {
		p.BytesChanged++
		x, y, ok := locate(at)
		if !ok {
			p.BytesOutside++
			return
		}
		if changed[y] == nil {
			changed[y] = make([]bool, p.Width)
		}
		changed[y][x] = true
	})
	if err != nil {
		return true, err
	}
	allowed := rowsOf(s.patches)
	may := make([]bool, p.Width)
	for y, row := range changed {
		clear(may)
		allowed.set(y, may)
		for x, is := range row {
			if !is {
				continue
			}
			p.Changed++
			if !may[x] {
				p.Outside++
				p.First = append(p.First, Position{x, y})
			}
		}
	}
	slices.SortFunc(p.First, Position.compare)
	p.First = p.First[:min(len(p.First), firstPositions)]
	return true, s.decodeRows(plain)
}

// decodeRows decodes the rows that should have changed and rejects the result if a pixel does not have its new value.
func (s *saving) decodeRows(plain container.RowDecoder) error {
	const band = 64
	fresh := freshOf(s.changed)
	for rows := slices.Sorted(maps.Keys(fresh)); len(rows) > 0; {
		n := sort.SearchInts(rows, rows[0]+band)
		part, err := plain.DecodeRows(s.ctx, rows[0], rows[n-1]+1)
		if err != nil {
			return err
		}
		if !s.arrived(part, rows[0], fresh) {
			return s.unproven(message.Of("pixels do not have their new values"))
		}
		rows = rows[n:]
	}
	return nil
}

// unproven is the error of a result that is not what it should be. In a damaged original, parts overlap or cannot be
// compared.
func (s *saving) unproven(why message.Message) error {
	if s.untouched() {
		return fault(s.saved.Path, ErrDamaged, nil,
			"not written: the original seems to be damaged: the result, read back, is not the original with the "+
				"corrected pixels (%s)", why)
	}
	return fault(s.saved.Path, ErrWrite, nil,
		"not written: the result, read back, is not the original with the corrected pixels (%s); "+
			"the original may have changed or be damaged", why)
}

// freshRun is a run of pixels with their new samples, which begin at an offset in the patch.
type freshRun struct {
	processing.Run
	patch *processing.Patch
	at    int
}

// freshOf groups the runs of patches by row.
func freshOf(patches []processing.Patch) map[int][]freshRun {
	byRow := map[int][]freshRun{}
	for i := range patches {
		at := 0
		for _, r := range patches[i].Runs {
			byRow[r.Y] = append(byRow[r.Y], freshRun{r, &patches[i], at})
			at += r.X1 - r.X0
		}
	}
	return byRow
}

// arrived reports whether pixels have their new values in the rows of the result from top on.
func (s *saving) arrived(result *processing.Picture, top int, fresh map[int][]freshRun) bool {
	c := result.Channels
	for y := range result.Height {
		for _, r := range fresh[top+y] {
			have, want, n := (y*result.Width+r.X0)*c, r.at*c, (r.X1-r.X0)*c
			if !result.Samples().Equal(have, r.patch.Samples(), want, n) {
				return false
			}
		}
	}
	return true
}
