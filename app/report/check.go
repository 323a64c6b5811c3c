package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/processing"
)

// Check is what a comparison of the report on a correction with the files has found.
type Check struct {
	// Path is the report; Exists says whether there is one.
	Path   string
	Exists bool
	// Faults are sentences about what does not fit, Remarks about what does not matter.
	Faults, Remarks []message.Message
	// Extent is what the report says of the pixels that were free to change; nil if it does not.
	Extent *Extent
}

// MaskFile is the mask that a proof was made with.
type MaskFile struct {
	Path string
	Mask *processing.Mask
}

// CheckCorrection compares the report beside a result with the files and with everything that was measured on them.
// mask may be nil. program is the version of this program.
func CheckCorrection(ctx context.Context, c *imagefile.Comparison, mask *MaskFile, program string) (*Check, error) {
	jsonPath, htmlPath := CorrectionPaths(c.Result.Path)
	k := &checker{Check: Check{Path: jsonPath}, ctx: ctx, c: c, mask: mask, page: htmlPath, program: program}
	data, err := readReport(jsonPath)
	switch {
	case imagefile.IsNotExist(err):
		if _, err := os.Stat(htmlPath); err == nil {
			k.fault("The report %s is missing; its page %s exists.", jsonPath, htmlPath)
		} else {
			k.remark("The result has no report %s.", jsonPath)
		}
		return &k.Check, nil
	case err != nil:
		return nil, message.Errorf("%s: the report cannot be read: %w", jsonPath, err)
	}
	k.Exists = true
	return &k.Check, k.check(data)
}

// checker makes a Check.
type checker struct {
	Check
	ctx           context.Context
	c             *imagefile.Comparison
	mask          *MaskFile
	page, program string
	rec           correctionRecord
}

func (k *checker) fault(format message.Text, args ...any) {
	k.Faults = append(k.Faults, message.Of(format, args...))
}

func (k *checker) remark(format message.Text, args ...any) {
	k.Remarks = append(k.Remarks, message.Of(format, args...))
}

// check compares a report.
func (k *checker) check(data []byte) error {
	var kind struct {
		Format string `json:"format"`
	}
	result := filepath.Base(k.c.Result.Path)
	switch {
	case json.Unmarshal(data, &kind) != nil:
		k.fault("%s is not a complete report: it is damaged or cut.", k.Path)
		return nil
	case kind.Format != CorrectionFormat:
		k.fault("%s is not a report of Blik on a correction.", k.Path)
		return nil
	case json.Unmarshal(data, &k.rec) != nil:
		k.fault("%s is not a complete report: it is damaged or cut.", k.Path)
		return nil
	case k.rec.Version > correctionVersion:
		k.fault("The report %s was written by a newer version of Blik and cannot be checked.", k.Path)
		return nil
	}
	k.Extent = k.rec.Extent
	stated, holds := seal(data)
	switch {
	case k.rec.Version < sealedVersion && stated == "" && k.rec.Mask == nil && k.rec.Page == nil:
		k.remark("The report %s is not sealed: an older version of Blik wrote it.", k.Path)
	case stated == "":
		k.fault("The report %s was altered: its seal is missing.", k.Path)
	case !holds:
		k.fault("The report %s was altered: its seal is not that of its contents.", k.Path)
	}
	if !named(k.rec.Result.File, k.c.Result.Path) {
		k.fault("%s is the report on %s, not on %s.", k.Path, k.rec.Result.File, result)
		return nil
	}
	if err := k.sums(); err != nil {
		return err
	}
	if err := k.bundle(); err != nil {
		return err
	}
	k.measured()
	return nil
}

// sums compares the checksums of the two pictures.
func (k *checker) sums() error {
	for _, f := range []struct{ path, sum string }{
		{k.c.Result.Path, k.rec.Result.SHA256}, {k.c.Source.Path, k.rec.Source.SHA256},
	} {
		if f.sum == "" {
			k.fault("The report %s lacks the SHA-256 of %s.", k.Path, f.path)
			continue
		}
		got, err := imagefile.SHA256(k.ctx, f.path)
		if err != nil {
			return err
		}
		if !strings.EqualFold(got, f.sum) {
			k.another(f.path, got, f.sum)
		}
	}
	return nil
}

// another records that a file is not the one that the report describes.
func (k *checker) another(path, got, want string) {
	k.fault("%s is not the file that report %s describes: SHA-256 %s instead of %s.", path, k.Path, got, want)
}

// bundle compares the page and the mask with what the report says of them.
func (k *checker) bundle() error {
	if k.rec.Version >= sealedVersion {
		if page := k.rec.Page; page == nil || !named(page.File, k.page) {
			k.fault("The report %s does not name its page %s.", k.Path, k.page)
		} else if err := k.beside(k.page, page.SHA256, true); err != nil {
			return err
		}
	}
	want := k.rec.Mask
	if want == nil {
		if k.rec.Version >= sealedVersion {
			k.fault("The report %s says nothing of the mask.", k.Path)
		}
		return nil
	}
	if k.mask != nil {
		if got := imagefile.MaskSHA256(k.mask.Mask); !strings.EqualFold(got, want.Pixels) {
			k.fault("%s is not the mask that report %s describes: SHA-256 of its pixels %s instead of %s.",
				k.mask.Path, k.Path, got, want.Pixels)
			k.mask = nil
			return nil
		}
	}
	if want.File == "" {
		return nil
	}
	named := filepath.Join(filepath.Dir(k.Path), filepath.Base(want.File))
	if err := k.beside(named, want.SHA256, false); err != nil || k.mask == nil || filepath.Clean(k.mask.Path) == named {
		return err
	}
	sum, err := imagefile.SHA256(k.ctx, k.mask.Path)
	if err == nil && !strings.EqualFold(sum, want.SHA256) {
		k.remark(
			"%s marks the pixels of the mask that report %s describes, but is another file: SHA-256 %s instead of %s.",
			k.mask.Path, k.Path, sum, want.SHA256)
	}
	return err
}

// beside compares a file beside the report with its checksum. A needed one must exist.
func (k *checker) beside(path, want string, needed bool) error {
	got, err := imagefile.SHA256(k.ctx, path)
	switch {
	case imagefile.IsNotExist(err) && needed:
		k.fault("The file %s, which report %s names, is missing.", path, k.Path)
		return nil
	case imagefile.IsNotExist(err):
		k.remark("The file %s, which report %s names, is missing.", path, k.Path)
		return nil
	case err == nil && !strings.EqualFold(got, want):
		k.another(path, got, want)
	}
	return err
}

// maxFields is the number of fields that a check names.
const maxFields = 8

// measured compares the fields that can be measured on the files.
func (k *checker) measured() {
	n := 0
	for _, f := range k.fields() {
		if reflect.DeepEqual(f.stated, f.measured) {
			continue
		}
		if n++; n <= maxFields {
			stated, measured := fmt.Sprint(f.stated), fmt.Sprint(f.measured)
			k.fault("The report %s says %s: %v; measured is %v.", k.Path, f.name, stated, measured)
		}
	}
	if n > maxFields {
		k.fault("The report %s differs from what was measured in %d further values.", k.Path, n-maxFields)
	}
}

// field is a field of a report with the value that it should have.
type field struct {
	name             string
	stated, measured any
}

func (k *checker) fields() []field {
	r, source, result, proof := &k.rec, k.c.Source, k.c.Result, k.c.Proof
	name := r.Source.File
	if !named(name, source.Path) {
		name = filepath.Base(source.Path)
	}
	same := strings.EqualFold(r.Source.SHA256, r.Result.SHA256)
	lossy := result.Format == imagefile.JPEG
	all := []field{
		{"source.file", r.Source.File, name}, {"source.format", r.Source.Format, string(source.Format)},
		{"source.bytes", r.Source.Bytes, source.Size}, {"result.format", r.Result.Format, string(result.Format)},
		{"result.bytes", r.Result.Bytes, result.Size}, {"lossy", r.Lossy, lossy && (r.Lossy || !same)},
		{"width", r.Width, proof.Width}, {"height", r.Height, proof.Height}, {"channels", r.Channels, proof.Channels},
		{"depth", r.Depth, source.Depth}, {"float", r.Float, source.Info.Float},
		{"compression", r.Compression, source.Info.Compression}, {"orientation", r.Orientation, source.Orientation},
		{"profile", r.Profile, asStored(source.ProfileName())}, {"pixels_changed", r.Changed, proof.Changed},
		{"saved", r.Saved, k.method(same)},
	}
	if r.Saved == string(imagefile.NewFile) {
		all = append(all, field{"dropped", inEnglish(r.Dropped), inEnglish(everywhere(source.Dropped(result.Format)))})
	}
	return append(append(all, k.placeFields()...), k.proofFields()...)
}

// method returns how the result was saved: as the report says, where several ways give such a result.
func (k *checker) method(same bool) string {
	stated := imagefile.SaveMethod(k.rec.Saved)
	possible := []imagefile.SaveMethod{k.c.Result.SaveMethod()}
	if k.c.Source.Format != k.c.Result.Format || k.c.Proof.Converted != "" {
		possible[0] = imagefile.NewFile
	}
	if same {
		possible = append(possible, imagefile.Copied)
	}
	if slices.Contains(possible, stated) {
		return k.rec.Saved
	}
	return string(possible[len(possible)-1])
}

// placeFields compares the places with each other and with the picture.
func (k *checker) placeFields() []field {
	r, proof := &k.rec, k.c.Proof
	var area, halo, veil, changed int64
	var all []field
	for i, p := range r.Places {
		area, halo, veil = area+int64(p.Area), halo+int64(p.Halo), veil+int64(p.Veil)
		changed += int64(p.Changed)
		name := fmt.Sprintf("places[%d]", i)
		switch {
		case p.Left < 0, p.Top < 0, p.Width < 1, p.Height < 1, p.Left+p.Width > proof.Width,
			p.Top+p.Height > proof.Height, p.Area < 0, p.Halo < 0, p.Changed < 0, p.Changed > p.Area+p.Halo,
			p.Veil < 0, p.Veil > p.Halo,
			p.X < float64(p.Left), p.Y < float64(p.Top), p.X > float64(p.Left+p.Width), p.Y > float64(p.Top+p.Height):
			box, whole := [4]int{p.Left, p.Top, p.Width, p.Height}, [4]int{0, 0, proof.Width, proof.Height}
			all = append(all, field{name, box, whole})
		case k.mask != nil && sameKind(k.c.Source.Picture, k.c.Result.Picture):
			all = append(all, k.inMask(name, p)...)
		}
	}
	all = append(all, field{"mask_area", int64(r.MaskArea), area})
	if r.Proof != nil {
		all = append(all, field{"places[].area + places[].halo", area + halo, r.Proof.MaskArea})
	}
	if k.exact() {
		all = append(all, field{"places[].pixels_changed", changed, proof.Changed})
	}
	if e := r.Extent; e != nil {
		all = append(all, field{"extent.marked", e.Marked, area}, field{"extent.veil", e.Veil, veil},
			field{"extent.halo", e.Halo, halo - veil})
		if k.exact() {
			all = append(all, field{"extent.changed", e.Changed, proof.Changed})
		}
	}
	return all
}

func sameKind(a, b *processing.Picture) bool {
	return a.Width == b.Width && a.Height == b.Height && a.Channels == b.Channels && a.Depth() == b.Depth()
}

// exact reports whether exactly the pixels changed that were to: a JPEG changes whole blocks, and transparent pixels
// keep their colour.
func (k *checker) exact() bool {
	return k.c.Result.Format != imagefile.JPEG && !k.c.Source.Info.Transparent
}

// inMask compares a place with the mask in its bounding box, which must hold at least its pixels. If it holds no
// others, all figures of the place follow from it.
func (k *checker) inMask(name string, p Place) []field {
	m := k.mask.Mask
	x0, y0, x1, y1 := m.Width, m.Height, 0, 0
	var n, changed int
	var sx, sy float64
	for y := p.Top; y < p.Top+p.Height; y++ {
		for x := p.Left; x < p.Left+p.Width; x++ {
			if m.Pix[y*m.Width+x] < processing.MaskLevel {
				continue
			}
			n++
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
			sx, sy = sx+float64(x)+0.5, sy+float64(y)+0.5
			if imagefile.DifferentPixel(k.c.Source.Picture, k.c.Result.Picture, x, y) {
				changed++
			}
		}
	}
	stated := p.Area + p.Halo
	all := []field{{name, [4]int{p.Left, p.Top, p.Width, p.Height}, [4]int{x0, y0, x1 - x0, y1 - y0}}}
	if n < stated {
		return append(all, field{name + ".area + halo", stated, n})
	}
	if n > stated {
		return all
	}
	if k.exact() {
		all = append(all, field{name + ".pixels_changed", p.Changed, changed})
	}
	at := func(x, y float64) [2]float64 {
		return [2]float64{round(x, positionDecimals), round(y, positionDecimals)}
	}
	return append(all, field{name + ".x, y", at(p.X, p.Y), at(sx/float64(n), sy/float64(n))})
}

// proofFields compares the proof of the report with the one just made. Without the same mask, that does not know which
// pixels were free to change.
func (k *checker) proofFields() []field {
	stated, got := k.rec.Proof, newProofRecord(k.c.Proof)
	if stated == nil {
		return []field{{"proof", nil, got.Holds}}
	}
	all := []field{
		{"proof.holds", stated.Holds, true}, {"proof.pixels_changed", stated.Changed, got.Changed},
		{"proof.pixels_changed_outside_mask", stated.Outside, int64(0)}, {"proof.first_outside", len(stated.First), 0},
		{"proof.differs", inEnglish(stated.Differs), inEnglish(got.Differs)},
		{"proof.not_compared", inEnglish(stated.Uncompared), inEnglish(got.Uncompared)},
		{"proof.stray_bytes", stated.Unreferenced, got.Unreferenced},
		{"proof.compared_by_byte", stated.ByByte, got.ByByte},
		{"proof.bytes_changed", stated.BytesChanged, got.BytesChanged},
		{"proof.bytes_changed_outside_pixels", stated.BytesOutside, got.BytesOutside},
	}
	blocks := func(r *proofRecord) [2]int64 {
		if r.Blocks == nil {
			return [2]int64{}
		}
		return [2]int64{r.Blocks.Total, r.Blocks.Changed}
	}
	// Nobody counts the blocks of a file that was copied as it is.
	if copied := got.ByByte && got.BytesChanged == 0; stated.Blocks != nil || !copied {
		all = append(all, field{"proof.jpeg_blocks", blocks(stated), blocks(got)})
	}
	if stated.Blocks != nil {
		all = append(all, field{"proof.jpeg_blocks.changed_outside_mask", stated.Blocks.Outside, int64(0)})
	}
	if k.mask != nil {
		all = append(all, field{"proof.mask_area", stated.MaskArea, got.MaskArea},
			field{"proof.pixels_changed_beside_mask", stated.Beside, got.Beside})
		if k.rec.Program == k.program {
			// Other versions may have other words for the same.
			all = append(all, field{"proof.statement", stated.Statement, got.Statement})
		}
	}
	return all
}

// inEnglish returns texts in one language, for comparing.
func inEnglish(list []text) []string {
	all := []string{}
	for _, t := range list {
		all = append(all, t["en"])
	}
	return all
}
