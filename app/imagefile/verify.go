package imagefile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"blik/app/imagefile/codec"
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
	// "resolution", "orientation", "transparency", "pages". Of EXIF in a TIFF only the bytes below tell.
	Differs []string
	// ByByte: both files are TIFFs whose pixels were overwritten in place, and were compared byte by byte.
	// BytesChanged of them differ, BytesOutside of these are not colour samples of changed pixels: metadata, alpha, extra
	// channels, other pages.
	ByByte                     bool
	BytesChanged, BytesOutside int64
}

// Holds says whether nothing differs but pixels in the mask.
func (p *Proof) Holds() bool {
	return p.Outside == 0 && len(p.Differs) == 0 && p.BytesOutside == 0
}

// Statement says in one sentence what the proof shows.
func (p *Proof) Statement() processing.Text {
	if p.Holds() {
		total := int64(p.Width) * int64(p.Height)
		t := processing.Text{
			EN: fmt.Sprintf("Proven: %d of %d pixels changed", p.Changed, total),
			RU: fmt.Sprintf("Доказано: изменено пикселей: %d из %d", p.Changed, total),
		}
		if p.MaskArea >= 0 {
			t.EN += fmt.Sprintf(", all of them among the %d pixels of the mask; no pixel outside the mask changed", p.MaskArea)
			t.RU += fmt.Sprintf(", все они — среди %d пикселей маски; вне маски не изменился ни один пиксель", p.MaskArea)
		}
		t.EN += "; depth, profile and metadata are those of the source."
		t.RU += "; глубина, профиль и метаданные — как в исходном файле."
		return t
	}
	t := processing.Text{EN: "Not proven", RU: "Не доказано"}
	join := ": "
	add := func(en, ru string) {
		t.EN, t.RU, join = t.EN+join+en, t.RU+join+ru, "; "
	}
	if p.Outside > 0 {
		add(fmt.Sprintf("%d pixels outside the mask changed, the first at %d, %d", p.Outside, p.First[0].X, p.First[0].Y),
			fmt.Sprintf("вне маски изменено пикселей: %d, первый — %d, %d", p.Outside, p.First[0].X, p.First[0].Y))
	}
	if len(p.Differs) > 0 {
		names := make([]string, len(p.Differs))
		for i, d := range p.Differs {
			names[i] = differNames()[d]
		}
		add("other than in the source: "+strings.Join(p.Differs, ", "), "отличается от исходного: "+strings.Join(names, ", "))
	}
	if p.BytesOutside > 0 {
		add(fmt.Sprintf("%d bytes changed that are not colour samples", p.BytesOutside),
			fmt.Sprintf("изменено байтов, не относящихся к цвету пикселей: %d", p.BytesOutside))
	}
	t.EN, t.RU = t.EN+".", t.RU+"."
	return t
}

// differNames are the names of Proof.Differs in Russian.
func differNames() map[string]string {
	return map[string]string{
		"size": "размер", "depth": "глубина", "channels": "число каналов", "profile": "профиль", "EXIF": "EXIF", "XMP": "XMP",
		"IPTC": "IPTC", "Photoshop": "блоки Photoshop", "resolution": "разрешение", "orientation": "ориентация",
		"transparency": "прозрачность", "pages": "число страниц",
	}
}

// Verify compares two picture files: every colour sample of every pixel and the metadata; where both are TIFFs without
// compression also every byte, which holds alpha, extra channels and other pages to account. mask, in the rows of the
// file, says which pixels may differ; nil lets all and just counts. Two decoded pictures are in memory at once.
func Verify(ctx context.Context, source, result string, mask *processing.Mask, limits Limits) (*Proof, error) {
	a, err := Read(ctx, source, limits)
	if err != nil {
		return nil, err
	}
	if mask != nil && (mask.Width != a.Picture.Width || mask.Height != a.Picture.Height) {
		return nil, fault(source, ErrSize, nil,
			fmt.Sprintf("the mask has %d × %d pixels, the picture %d × %d", mask.Width, mask.Height, a.Picture.Width, a.Picture.Height),
			fmt.Sprintf("в маске %d × %d пикселей, в картине %d × %d", mask.Width, mask.Height, a.Picture.Width, a.Picture.Height))
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

// metadata compares what the containers tell of themselves.
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
		block("EXIF", x.Meta.EXIF, y.Meta.EXIF)
		block("Photoshop", x.Meta.Photoshop, y.Meta.Photoshop)
	}
	block("XMP", x.Meta.XMP, y.Meta.XMP)
	block("IPTC", x.Meta.IPTC, y.Meta.IPTC)
	// A new TIFF has to tell some resolution.
	differs("resolution", (same || x.Meta.XResolution > 0) && !sameResolution(x.Meta, y.Meta))
	differs("orientation", a.Orientation != b.Orientation)
	differs("transparency", x.Alpha != y.Alpha || x.Extra != y.Extra)
	differs("pages", x.Pictures != y.Pictures)
}

// sameResolution compares by what containers can hold: PNG has whole pixels a metre only.
func sameResolution(a, b codec.Metadata) bool {
	metre := func(m codec.Metadata) (x, y float64) {
		unit := map[codec.Unit]float64{codec.UnitNone: 1, codec.UnitInch: 100 / 2.54, codec.UnitCentimetre: 100}[m.Unit]
		return m.XResolution * unit, m.YResolution * unit
	}
	ax, ay := metre(a)
	bx, by := metre(b)
	return (a.Unit == codec.UnitNone) == (b.Unit == codec.UnitNone) && math.Abs(ax-bx) <= 0.5 && math.Abs(ay-by) <= 0.5
}

// bytes compares two TIFFs byte by byte, if both hold their samples as they are: the source in which the samples that
// differ are overwritten must be the result.
func (p *Proof) bytes(ctx context.Context, a, b *File) error {
	plain := func(f *File) bool { return f.Format == TIFF && f.Info.Compression == "none" && f.Info.Readonly == nil }
	if !plain(a) || !plain(b) || a.Size != b.Size || len(p.Differs) > 0 {
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
	_, container, err := open(source, info.Size())
	if err != nil {
		return a.fault(ctx, err)
	}
	patcher, ok := container.(codec.Patcher)
	if !ok {
		return nil
	}
	record := &recorder{source: source}
	if err := patcher.Patch(ctx, record, differences(a.Picture, b.Picture)); err != nil {
		return a.fault(ctx, err)
	}
	record.sort()
	p.ByByte = true
	p.BytesChanged, p.BytesOutside, err = record.compare(ctx, result, a.Size)
	return err
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

// recorder is a codec.File that keeps what is written instead of writing it. Reading gives the source: what overwrites
// samples in place has no need to read what it wrote.
type recorder struct {
	source io.ReaderAt
	pieces []piece
}

type piece struct {
	at   int64
	data []byte
}

func (r *recorder) ReadAt(p []byte, off int64) (int, error) { return r.source.ReadAt(p, off) }

func (r *recorder) WriteAt(p []byte, off int64) (int, error) {
	r.pieces = append(r.pieces, piece{off, slices.Clone(p)})
	return len(p), nil
}

func (r *recorder) sort() {
	sort.SliceStable(r.pieces, func(i, j int) bool { return r.pieces[i].at < r.pieces[j].at })
}

// compare counts the bytes in which the result differs from the source, and those in which it differs from the source
// with the pieces written over it.
func (r *recorder) compare(ctx context.Context, result io.ReaderAt, size int64) (changed, outside int64, err error) {
	const block = 1 << 20
	a, b := make([]byte, block), make([]byte, block)
	next := 0
	for at := int64(0); at < size; at += block {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		n := min(block, size-at)
		for _, part := range []struct {
			r io.ReaderAt
			p []byte
		}{{r.source, a[:n]}, {result, b[:n]}} {
			if _, err := part.r.ReadAt(part.p, at); err != nil && err != io.EOF {
				return 0, 0, err
			}
		}
		changed += unequal(a[:n], b[:n])
		for ; next < len(r.pieces) && r.pieces[next].at < at+n; next++ {
			p := r.pieces[next]
			from := max(at-p.at, 0)
			if end := p.at + int64(len(p.data)); end > at {
				copy(a[p.at+from-at:n], p.data[from:])
				if end > at+n {
					break // the rest lies in the next block
				}
			}
		}
		outside += unequal(a[:n], b[:n])
	}
	return changed, outside, nil
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
func (s *saving) prove(f writeFile) error {
	result := &File{Path: s.saved.Path, Size: s.saved.Bytes}
	if err := result.decode(s.ctx, f, s.options.Limits, nil); err != nil {
		return err
	}
	p := newProof(s.file)
	allowed := rowsOf(s.patches)
	p.MaskArea = 0
	for _, patch := range s.patches {
		p.MaskArea += pixels(patch.Runs)
	}
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
	// PNG's transparent colour may keep a pixel from becoming, or from leaving, that colour.
	exact := s.saved.Format != PNG
	s.saved.PixelsChanged = p.Changed
	if p.Outside > 0 || exact && !s.arrived(result.Picture) {
		return fault(s.saved.Path, ErrWrite, nil,
			"not written: read back, the result is not the source with the corrected pixels; the source may have changed",
			"не записан: при проверке результат не совпал с исходным файлом и исправлениями; возможно, исходный файл изменился")
	}
	return nil
}

// arrived says whether the pixels that were to change have their new values in the result.
func (s *saving) arrived(result *processing.Picture) bool {
	_, n, err := changes(result, s.changed)
	return err == nil && n == 0
}
