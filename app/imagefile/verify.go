package imagefile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/atomicfile"
	"blik/internal/message"
	"blik/processing"
)

// Proof is what comparing a result with its source showed.
type Proof struct {
	// Width, Height, Channels and Depth are those of the source's decoded picture.
	Width, Height, Channels, Depth int
	// MaskArea is the number of pixels that may change; −1 where no mask was given.
	MaskArea int64
	// Changed is the number of pixels of which some sample differs.
	Changed int64
	// Outside is the number of those outside the mask, and First are the first ten of them in reading order.
	Outside int64
	First   []Position
	// Differs names what else differs: "size", "depth", "channels", "profile", "EXIF", "XMP", "IPTC", "Photoshop",
	// "resolution", "orientation", "transparency", "pages". EXIF is compared tag by tag.
	Differs []string
	// Rebuilt: saving the source again with the pixels that differ gives the result byte for byte; so alpha, extra
	// channels, other pages and private tags are those of the source. Where it is false, the result may have been made
	// by another program or version.
	Rebuilt bool
	// ByByte: both files are TIFFs whose pixels were overwritten in place, and were compared byte by byte. BytesChanged
	// of them differ, BytesOutside of these are not colour samples of changed pixels: metadata, alpha, extra channels,
	// other pages.
	ByByte                     bool
	BytesChanged, BytesOutside int64
}

// Holds reports whether nothing differs but pixels in the mask.
func (p *Proof) Holds() bool {
	return p.Outside == 0 && len(p.Differs) == 0 && p.BytesOutside == 0
}

// Statement says in one sentence what the proof shows.
func (p *Proof) Statement() message.Message {
	if p.Holds() {
		total := int64(p.Width) * int64(p.Height)
		clauses := []message.Message{message.Of("Proven: %d of %d pixels changed", p.Changed, total)}
		if p.MaskArea >= 0 {
			clauses = append(clauses, message.Of(
				", all of them among the %d pixels of the mask; no pixel outside the mask changed", p.MaskArea))
		}
		clauses = append(clauses, message.Of("; depth, profile and metadata are those of the original"))
		if p.Rebuilt {
			clauses = append(clauses, message.Of(", and every other byte equals what saving the original again writes"))
		}
		return message.Of("%s.", message.Join("", clauses...))
	}
	var faults []message.Message
	if p.Outside > 0 {
		faults = append(faults, message.Of(
			"%d pixels outside the mask changed, the first at %d, %d", p.Outside, p.First[0].X, p.First[0].Y))
	}
	if len(p.Differs) > 0 {
		names := make([]message.Message, len(p.Differs))
		for i, d := range p.Differs {
			names[i] = differs(d)
		}
		faults = append(faults, message.Of("differs from the original: %s", message.Join(", ", names...)))
	}
	if p.BytesOutside > 0 {
		faults = append(faults, message.Of("%d bytes changed that are not colour samples", p.BytesOutside))
	}
	return message.Of("Not proven: %s.", message.Join("; ", faults...))
}

// differs names one of Proof.Differs.
func differs(name string) message.Message { return message.Of(message.Text(name)).Context("differs") }

// Verify compares two picture files: every colour sample of every pixel and the metadata; and every byte,
// where the result comes from overwriting or rewriting the source, which holds alpha, extra channels and other pages to
// account. mask, in the rows of the
// file, says which pixels may differ; nil lets all and just counts. Two decoded pictures are in memory at once.
func Verify(ctx context.Context, source, result string, mask *processing.Mask, limits Limits) (*Proof, error) {
	a, err := Read(ctx, source, limits)
	if err != nil {
		return nil, err
	}
	if mask != nil && (mask.Width != a.Picture.Width || mask.Height != a.Picture.Height) {
		return nil, fault(source, ErrSize, nil,
			"the mask has %d × %d pixels, the picture %d × %d",
			mask.Width, mask.Height, a.Picture.Width, a.Picture.Height)
	}
	b, err := Read(ctx, result, limits)
	if err != nil {
		return nil, err
	}
	p := newProof(a)
	var may func(int, []bool)
	if mask != nil {
		p.MaskArea = int64(mask.Area())
		may = func(y int, row []bool) {
			for x, v := range mask.Pix[y*mask.Width : (y+1)*mask.Width] {
				row[x] = v >= processing.MaskLevel
			}
		}
	}
	if err := p.pictures(ctx, a, b, may); err != nil {
		return nil, err
	}
	if err := p.bytes(ctx, a, b); err != nil {
		return nil, err
	}
	p.metadata(a, b)
	return p, nil
}

func newProof(source *File) *Proof {
	pic := source.Picture
	return &Proof{Width: pic.Width, Height: pic.Height, Channels: pic.Channels, Depth: pic.Depth(), MaskArea: -1}
}

// pictures compares the decoded pictures.
func (p *Proof) pictures(ctx context.Context, a, b *File, may func(int, []bool)) error {
	x, y := a.Picture, b.Picture
	differs := func(what string, is bool) {
		if is {
			p.Differs = append(p.Differs, what)
		}
	}
	differs("size", x.Width != y.Width || x.Height != y.Height)
	differs("depth", x.Depth() != y.Depth())
	differs("channels", x.Channels != y.Channels)
	if len(p.Differs) > 0 {
		return nil
	}
	d, err := compare(ctx, x, y, may)
	p.Changed, p.Outside, p.First = d.changed, d.outside, d.first
	return err
}

// metadata compares the headers of the containers.
func (p *Proof) metadata(a, b *File) {
	x, y := a.Info, b.Info
	same := a.Format == b.Format
	block := func(what string, x, y []byte) {
		if !bytes.Equal(x, y) {
			p.Differs = append(p.Differs, what)
		}
	}
	differs := func(what string, is bool) {
		if is {
			p.Differs = append(p.Differs, what)
		}
	}
	block("profile", x.Meta.ICC, y.Meta.ICC)
	if same {
		block("Photoshop", x.Meta.Photoshop, y.Meta.Photoshop)
	}
	differs("EXIF", !exif.Same(x.Meta.EXIF, y.Meta.EXIF) || same && !exif.Same(y.Meta.EXIF, x.Meta.EXIF))
	block("XMP", x.Meta.XMP, y.Meta.XMP)
	block("IPTC", x.Meta.IPTC, y.Meta.IPTC)
	// A new TIFF must have some resolution.
	differs("resolution", (same || x.Meta.XResolution > 0) && !sameResolution(x.Meta, y.Meta))
	differs("orientation", a.Orientation != b.Orientation)
	differs("transparency", x.Alpha != y.Alpha || x.Extra != y.Extra)
	differs("pages", x.Pictures != y.Pictures)
}

// sameResolution compares by what containers can hold: PNG has whole pixels a metre only.
func sameResolution(a, b container.Metadata) bool {
	metre := func(m container.Metadata) (x, y float64) {
		unit := map[container.Unit]float64{
			container.UnitNone: 1, container.UnitInch: 100 / 2.54, container.UnitCentimetre: 100,
		}[m.Unit]
		return m.XResolution * unit, m.YResolution * unit
	}
	ax, ay := metre(a)
	bx, by := metre(b)
	known := (a.Unit == container.UnitNone) == (b.Unit == container.UnitNone)
	return known && math.Abs(ax-bx) <= 0.5 && math.Abs(ay-by) <= 0.5
}

// bytes saves the source again with the pixels that differ, in memory, and compares that with the result. It
// says nothing where the containers differ, or where the result was made otherwise.
func (p *Proof) bytes(ctx context.Context, a, b *File) error {
	if a.Format != b.Format || a.Info.Readonly != nil || len(p.Differs) > 0 {
		return nil
	}
	source, info, err := openFile(a.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	result, _, err := openFile(b.Path)
	if err != nil {
		return err
	}
	defer result.Close()
	_, opened, err := open(source, info.Size())
	if err != nil {
		return a.fault(ctx, err)
	}
	changed := differences(a.Picture, b.Picture)
	switch c := opened.(type) {
	case container.Patcher:
		anew := newOverlay(source, a.Size)
		if err := c.Patch(ctx, anew, changed); err != nil {
			return a.fault(ctx, err)
		}
		if anew.size != b.Size {
			return nil
		}
		fromSource, fromAnew, err := anew.compare(ctx, result)
		if err != nil {
			return a.fault(ctx, err)
		}
		p.Rebuilt = fromAnew == 0
		if a.Info.Compression == "none" && anew.size == a.Size {
			p.ByByte, p.BytesChanged, p.BytesOutside = true, fromSource, fromAnew
		}
	case container.Rewriter:
		same := &comparing{r: result, left: b.Size}
		if err := c.Rewrite(ctx, cancelWriter{ctx, same}, changed); err != nil && !same.differs {
			return a.fault(ctx, err)
		}
		p.Rebuilt = !same.differs && same.left == 0
	}
	return ctx.Err()
}

// differences returns what turns a into b, as one patch.
func differences(a, b *processing.Picture) []processing.Patch {
	all := processing.Patch{Runs: make([]processing.Run, a.Height), U8: b.U8, U16: b.U16, F32: b.F32}
	for y := range all.Runs {
		all.Runs[y] = processing.Run{Y: y, X1: a.Width}
	}
	// The patch fits by construction.
	left, _, _ := changes(a, []processing.Patch{all})
	return left
}

// overlay is a container.File in memory: what is written lies in pages over a file that stays as it is.
type overlay struct {
	base     io.ReaderAt
	from     int64
	size     int64
	pages    map[int64][]byte
	pageSize int64
}

func newOverlay(base io.ReaderAt, size int64) *overlay {
	return &overlay{base: base, from: size, size: size, pages: map[int64][]byte{}, pageSize: 4096}
}

// ReadAt reads what was written, and where nothing was, the file.
func (o *overlay) ReadAt(p []byte, off int64) (int, error) {
	if off >= o.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), o.size-off))
	inBase := int(min(max(o.from-off, 0), int64(n)))
	if inBase > 0 {
		if _, err := o.base.ReadAt(p[:inBase], off); err != nil && err != io.EOF {
			return 0, err
		}
	}
	clear(p[inBase:n])
	for at := off / o.pageSize; at*o.pageSize < off+int64(n); at++ {
		page, ok := o.pages[at]
		if !ok {
			continue
		}
		begin := at * o.pageSize
		from, to := max(begin, off), min(begin+o.pageSize, off+int64(n))
		copy(p[from-off:to-off], page[from-begin:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// covers reports whether anything was written among the n bytes from off on.
func (o *overlay) covers(off, n int64) bool {
	for at := off / o.pageSize; at*o.pageSize < off+n; at++ {
		if _, ok := o.pages[at]; ok {
			return true
		}
	}
	return off+n > o.from
}

// WriteAt keeps p.
func (o *overlay) WriteAt(p []byte, off int64) (int, error) {
	for done := 0; done < len(p); {
		at := (off + int64(done)) / o.pageSize
		page, ok := o.pages[at]
		if !ok {
			page = make([]byte, o.pageSize)
			if _, err := o.ReadAt(page, at*o.pageSize); err != nil && err != io.EOF {
				return done, err
			}
			o.pages[at] = page
		}
		done += copy(page[off+int64(done)-at*o.pageSize:], p[done:])
	}
	o.size = max(o.size, off+int64(len(p)))
	return len(p), nil
}

// compare counts the bytes in which the result differs from the file below, and those in which it differs from what
// lies over it.
func (o *overlay) compare(ctx context.Context, result io.ReaderAt) (fromBase, fromOverlay int64, err error) {
	const block = 1 << 20
	a, b, c := make([]byte, block), make([]byte, block), make([]byte, block)
	for at := int64(0); at < o.size; at += block {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		n := min(block, o.size-at)
		clear(a)
		if _, err := o.base.ReadAt(a[:n], at); err != nil && err != io.EOF {
			return 0, 0, err
		}
		if _, err := result.ReadAt(c[:n], at); err != nil && err != io.EOF {
			return 0, 0, err
		}
		differ := unequal(a[:n], c[:n])
		fromBase += differ
		if o.covers(at, n) {
			if _, err := o.ReadAt(b[:n], at); err != nil && err != io.EOF {
				return 0, 0, err
			}
			differ = unequal(b[:n], c[:n])
		}
		fromOverlay += differ
	}
	return fromBase, fromOverlay, nil
}

// comparing is a writer that compares what it gets with a file.
type comparing struct {
	r io.ReaderAt
	// at is how far it is, and left the bytes from there to the end of the file.
	at, left int64
	differs  bool
	buffer   []byte
}

var errDiffers = errors.New("the files differ")

func (c *comparing) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		c.differs = true
		return 0, errDiffers
	}
	c.buffer = slices.Grow(c.buffer[:0], len(p))[:len(p)]
	if _, err := c.r.ReadAt(c.buffer, c.at); err != nil && err != io.EOF {
		return 0, err
	}
	if !bytes.Equal(c.buffer, p) {
		c.differs = true
		return 0, errDiffers
	}
	c.at, c.left = c.at+int64(len(p)), c.left-int64(len(p))
	return len(p), nil
}

// unequal counts the positions in which two strings of bytes of one length differ.
func unequal(a, b []byte) (n int64) {
	if bytes.Equal(a, b) {
		return 0
	}
	for i, v := range a {
		if v != b[i] {
			n++
		}
	}
	return n
}

// prove compares what was written with the picture in memory, and refuses it where it is not what was asked for.
func (s *saving) prove(f atomicfile.File) error {
	result := &File{Path: s.saved.Path, Size: s.saved.Bytes}
	if err := result.decode(s.ctx, f, s.options.Limits, nil); err != nil {
		return err
	}
	p := s.newProof()
	allowed := rowsOf(s.patches)
	err := p.pictures(s.ctx, s.file, result, func(y int, row []bool) {
		for _, r := range allowed[y] {
			for x := r.X0; x < r.X1; x++ {
				row[x] = true
			}
		}
	})
	if err != nil {
		return err
	}
	p.metadata(s.file, result)
	s.saved.Proof = p
	if s.saved.Lossy {
		return nil
	}
	exact := !s.saved.Format.row().keyed
	s.saved.PixelsChanged = p.Changed
	if p.Outside > 0 || exact && !s.arrived(result.Picture) {
		return s.unproven()
	}
	return nil
}

// proveBytes is prove for a source that is still what was read and holds its samples as they are. Every byte of the
// result is compared with the source, over which the pixels are laid once more, in memory: nothing has to be decoded.
func (s *saving) proveBytes(f atomicfile.File) error {
	anew := newOverlay(s.source, s.file.Size)
	if err := s.container.(container.Patcher).Patch(s.ctx, anew, s.changed); err != nil {
		return err
	}
	p := s.newProof()
	p.Changed, p.ByByte, p.Rebuilt = s.saved.PixelsChanged, true, true
	var err error
	if p.BytesChanged, p.BytesOutside, err = anew.compare(s.ctx, f); err != nil {
		return err
	}
	if p.BytesOutside > 0 || anew.size != s.saved.Bytes {
		return s.unproven()
	}
	s.saved.Proof = p
	return nil
}

// newProof begins the proof that only the pixels of the patches differ.
func (s *saving) newProof() *Proof {
	p := newProof(s.file)
	p.MaskArea = 0
	for _, patch := range s.patches {
		p.MaskArea += pixels(patch.Runs)
	}
	return p
}

func (s *saving) unproven() error {
	return fault(s.saved.Path, ErrWrite, nil,
		"not written: reading back the result does not give the original with the corrected pixels; "+
			"the original may have changed")
}

// arrived reports whether the pixels that were to change have their new values in the result.
func (s *saving) arrived(result *processing.Picture) bool {
	_, n, err := changes(result, s.changed)
	return err == nil && n == 0
}
