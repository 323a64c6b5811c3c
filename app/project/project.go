// Package project stores the work on a picture in two files in a folder beside it: a mask that every program can read,
// and a JSON file with everything else that is needed to continue. It knows only the file format; document.Work defines
// the work.
package project

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// format is the first field of a project file, version the newest that Read supports.
const (
	format  = "blik project"
	version = 1
)

// maxBytes bounds the JSON file of a project.
const maxBytes = 1 << 30

// Project is the work on a picture.
type Project struct {
	// Checksum is the checksum of the picture, Date the time when the work was saved.
	Checksum uint32
	Date     time.Time
	// Params are the current parameters.
	Params processing.Params
	Work   document.Work
	// Saved reports whether the corrected picture was saved.
	Saved bool
	// Remark says, after Read, what of the project no longer exists; empty for nothing.
	Remark message.Message
}

// folder is the name of the folder beside pictures that holds their projects, so that nothing of Blik's lies between
// them; extension ends the name of the JSON file, maskExtension that of the mask.
const folder, extension, maskExtension = "blik", ".blik.json", ".blik.png"

// Paths returns the paths of the project files of a picture: the JSON file and the mask. A project that an earlier
// version saved beside the picture stays there. Where a file has the name of the folder, such as the program itself,
// projects are beside their pictures, too.
func Paths(picture string) (path, mask string) {
	inside := filepath.Join(filepath.Dir(picture), folder)
	if info, err := os.Stat(inside); exists(picture+extension) || err == nil && !info.IsDir() {
		return picture + extension, picture + maskExtension
	}
	inside = filepath.Join(inside, filepath.Base(picture))
	return inside + extension, inside + maskExtension
}

// PictureOf returns the path of the picture to which a project file belongs; ok is false for other file names.
func PictureOf(path string) (picture string, ok bool) {
	picture, ok = strings.CutSuffix(path, extension)
	if dir, name := filepath.Split(picture); ok && filepath.Base(dir) == folder && !exists(picture) {
		picture = filepath.Join(filepath.Dir(filepath.Clean(dir)), name)
	}
	if name := filepath.Base(path); !ok || len(name) == len(extension) {
		return "", false
	}
	return picture, true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Checksum returns a checksum of the samples of a picture (CRC-32C; samples of 16 and 32 bits are little-endian). It
// prevents work on one picture from being applied to another.
func Checksum(pic *processing.Picture) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	if pic.U8 != nil {
		return crc32.Checksum(pic.U8, table)
	}
	sum := uint32(0)
	const piece = 1 << 14
	buffer := make([]byte, 0, 4*piece)
	for i := 0; i < len(pic.U16); i += piece {
		buffer = buffer[:0]
		for _, v := range pic.U16[i:min(i+piece, len(pic.U16))] {
			buffer = binary.LittleEndian.AppendUint16(buffer, v)
		}
		sum = crc32.Update(sum, table, buffer)
	}
	for i := 0; i < len(pic.F32); i += piece {
		buffer = buffer[:0]
		for _, v := range pic.F32[i:min(i+piece, len(pic.F32))] {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		sum = crc32.Update(sum, table, buffer)
	}
	return sum
}

// The JSON form. Runs are three numbers each: row, first column, column after the last. An entry of Numbers is the
// number of a finding and two for each of its pixels. Samples and all masks are compressed with zlib;
// samples of 16 and 32 bits are little-endian.
type (
	file struct {
		Format      string          `json:"format"`
		Version     int             `json:"version"`
		Picture     string          `json:"picture"`
		Checksum    uint32          `json:"sum"`
		Width       int             `json:"width"`
		Height      int             `json:"height"`
		Date        time.Time       `json:"date"`
		Saved       bool            `json:"saved"`
		Preset      json.RawMessage `json:"preset"`
		Region      string          `json:"region,omitempty"`
		Renewed     bool            `json:"renewed"`
		Drawn       bool            `json:"drawn"`
		Marked      []byte          `json:"marked,omitempty"`
		Erased      []byte          `json:"erased,omitempty"`
		Kept        []int           `json:"kept"`
		Numbers     [][]int         `json:"numbers,omitempty"`
		Detection   *detection      `json:"detection,omitempty"`
		Corrections []correction    `json:"corrections"`
		Made        []made          `json:"made"`
	}
	detection struct {
		made
		Mask     []byte    `json:"mask"`
		Findings []finding `json:"findings"`
	}
	finding struct {
		detect.Finding
		Runs []int `json:"runs"`
	}
	made struct {
		Preset json.RawMessage `json:"preset"`
		Device string          `json:"device"`
	}
	correction struct {
		Spot    []int  `json:"spot"`
		Asked   uint8  `json:"asked"`
		Method  uint8  `json:"method"`
		Pixels  []int  `json:"pixels"`
		Depth   int    `json:"depth"`
		Samples []byte `json:"samples"`
		Made    int    `json:"made"`
	}
)

// Fingerprint identifies the state of the project files on disk: it changes whenever one of them does.
type Fingerprint struct{ json, mask string }

// Stat returns the state of the project of a picture; the zero value if it has no files.
func Stat(picture string) Fingerprint {
	path, mask := Paths(picture)
	return Fingerprint{imagefile.State(path), imagefile.State(mask)}
}

// Options determine which files Write may replace.
type Options struct {
	// Overwrite permits replacing any files. Without it they must be in the state Expect: unknown files give
	// imagefile.ErrExists, changed ones imagefile.ErrForeign.
	Overwrite bool
	Expect    Fingerprint
	// Like is the picture whose permissions the files get; with nil they get the system's default.
	Like *imagefile.File
}

// file returns the options for one of the files, which is expected to be in the given state.
func (o Options) file(state string) imagefile.WriteOptions {
	if o.Overwrite {
		return imagefile.WriteOptions{Overwrite: true, Like: o.Like}
	}
	return imagefile.WriteOptions{Overwrite: state != "", Expect: state, Like: o.Like}
}

// Write saves the project of a picture, both files or none.
func Write(ctx context.Context, picture string, p *Project, o Options) error {
	path, mask := Paths(picture)
	f, err := p.file(filepath.Base(picture))
	if err != nil {
		return err
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return imagefile.WriteError(picture+extension, err)
	}
	imagefile.Recover(filepath.Dir(path))
	out := imagefile.Begin()
	defer out.Close()
	if err := out.AddMask(ctx, mask, o.file(o.Expect.mask), p.Work.Mask); err != nil {
		return err
	}
	if err := out.Add(ctx, path, o.file(o.Expect.json), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	}); err != nil {
		return err
	}
	return out.Commit(ctx, path)
}

// file returns the JSON form.
func (p *Project) file(picture string) (*file, error) {
	w := p.Work
	f := &file{
		Format: format, Version: version, Picture: picture, Checksum: p.Checksum,
		Width: w.Mask.Width, Height: w.Mask.Height,
		Date: p.Date, Saved: p.Saved, Preset: preset.Encode(p.Params), Renewed: w.Replaced, Drawn: w.Painted,
		Kept: []int{}, Corrections: []correction{}, Made: []made{},
	}
	if w.Region != nil {
		f.Region = w.Region.String()
	}
	if w.Marked != nil {
		var err error
		if f.Marked, err = pack(w.Marked.Pix); err == nil {
			f.Erased, err = pack(w.Erased.Pix)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, at := range w.Kept {
		f.Kept = append(f.Kept, at.X, at.Y)
	}
	for _, n := range w.Numbers {
		entry := []int{n.Number}
		for _, at := range n.Pixels {
			entry = append(entry, at.X, at.Y)
		}
		f.Numbers = append(f.Numbers, entry)
	}
	if w.Found != nil {
		f.Detection = &detection{made: made{preset.Encode(w.Found.Params), w.Found.Device}, Findings: []finding{}}
		var err error
		if f.Detection.Mask, err = pack(w.Found.Mask.Pix); err != nil {
			return nil, err
		}
		for _, found := range w.Found.Findings {
			f.Detection.Findings = append(f.Detection.Findings, finding{found, numbers(found.Runs)})
		}
	}
	var origins []*document.Origin
	for i, patch := range w.Patches {
		at := slices.Index(origins, w.Origins[i])
		if at < 0 {
			at = len(origins)
			origins = append(origins, w.Origins[i])
			f.Made = append(f.Made, made{preset.Encode(w.Origins[i].Params), w.Origins[i].Device})
		}
		raw, depth := samples(patch)
		packed, err := pack(raw)
		if err != nil {
			return nil, err
		}
		f.Corrections = append(f.Corrections, correction{
			Spot: numbers(w.Spots[i].Runs), Asked: w.Spots[i].Method.Number(), Method: patch.Method.Number(),
			Pixels: numbers(patch.Runs), Depth: depth, Samples: packed, Made: at,
		})
	}
	return f, nil
}

// Read reads the project of a picture. Its parts are consistent with each other; document.Restore checks whether they
// match the picture. The error is fs.ErrNotExist if there is no project.
func Read(ctx context.Context, picture string, limits imagefile.Limits) (*Project, error) {
	path, mask := Paths(picture)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBytes {
		return nil, message.Errorf("%s: the project is damaged", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, size, err := decode(data, limits.Pixels)
	if err != nil {
		return nil, message.Errorf("%s: %w", path, err)
	}
	p.Work.Mask, err = imagefile.ReadMask(ctx, mask, size.X, size.Y, limits)
	return p, err
}

// decode is the inverse of file except for the mask, of which it returns the size, at most most pixels.
func decode(data []byte, most int64) (p *Project, size image.Point, err error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Format != format || head.Version < 1 {
		return nil, size, message.Errorf("this is not a project of Blik")
	}
	if head.Version > version {
		return nil, size, message.Errorf("the project has version %d, written by a newer Blik; this one reads up to "+
			"version %d (%w)", head.Version, version, preset.ErrNewer)
	}
	f := &file{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, size, damaged()
	}
	size = image.Pt(f.Width, f.Height)
	if size.X <= 0 || size.Y <= 0 || int64(size.X) > most/int64(size.Y) {
		return nil, size, damaged()
	}
	p = &Project{Checksum: f.Checksum, Date: f.Date, Saved: f.Saved}
	p.Work.Replaced, p.Work.Painted = f.Renewed, f.Drawn
	if p.Params, p.Remark, err = preset.Decode(f.Preset); err != nil {
		return nil, size, err
	}
	if f.Region != "" {
		if p.Work.Region, err = processing.ParseRegion(f.Region); err != nil {
			return nil, size, err
		}
	}
	if p.Work.Marked, err = maskOf(f.Marked, size); err != nil {
		return nil, size, err
	}
	if p.Work.Erased, err = maskOf(f.Erased, size); err != nil {
		return nil, size, err
	}
	if len(f.Kept)%2 != 0 {
		return nil, size, damaged()
	}
	for i := 0; i < len(f.Kept); i += 2 {
		p.Work.Kept = append(p.Work.Kept, image.Pt(f.Kept[i], f.Kept[i+1]))
	}
	for _, entry := range f.Numbers {
		if len(entry)%2 == 0 {
			return nil, size, damaged()
		}
		n := document.Numbered{Number: entry[0]}
		for i := 1; i < len(entry); i += 2 {
			n.Pixels = append(n.Pixels, image.Pt(entry[i], entry[i+1]))
		}
		p.Work.Numbers = append(p.Work.Numbers, n)
	}
	if err = p.takeDetection(f.Detection, size); err == nil {
		err = p.takeCorrections(f, size)
	}
	return p, size, err
}

// maskOf returns a mask of the given size that was packed, nil for none.
func maskOf(packed []byte, size image.Point) (*processing.Mask, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	pix, err := unpack(packed, size.X*size.Y)
	return &processing.Mask{Width: size.X, Height: size.Y, Pix: pix}, err
}

func damaged() error { return message.Errorf("the project is damaged") }

func (p *Project) takeDetection(d *detection, size image.Point) error {
	if d == nil {
		return nil
	}
	params, _, err := preset.Decode(d.Preset)
	if err != nil {
		return err
	}
	pix, err := unpack(d.Mask, size.X*size.Y)
	if err != nil {
		return err
	}
	p.Work.Found = &detect.Found{Mask: &processing.Mask{Width: size.X, Height: size.Y, Pix: pix}, Params: params,
		Device: d.Device}
	for _, f := range d.Findings {
		found := f.Finding
		if found.Runs, err = runs(f.Runs, size); err != nil {
			return err
		}
		p.Work.Found.Findings = append(p.Work.Found.Findings, found)
	}
	return nil
}

func (p *Project) takeCorrections(f *file, size image.Point) error {
	var origins []*document.Origin
	for _, m := range f.Made {
		params, _, err := preset.Decode(m.Preset)
		if err != nil {
			return err
		}
		origins = append(origins, &document.Origin{Params: params, Device: m.Device})
	}
	for i, c := range f.Corrections {
		asked, known := processing.MethodByNumber(c.Asked)
		method, also := processing.MethodByNumber(c.Method)
		if c.Made < 0 || c.Made >= len(origins) || !known || !also {
			return damaged()
		}
		if p.Remark.IsZero() && method.Number() != c.Method {
			p.Remark = message.Of("corrections by a method that no longer exists are listed as harmonic")
		}
		spot, err := runs(c.Spot, size)
		if err != nil {
			return err
		}
		pixels, err := runs(c.Pixels, size)
		if err != nil {
			return err
		}
		patch := processing.Patch{Spot: i + 1, Method: method, Runs: pixels}
		if err := setSamples(&patch, c, pixels); err != nil {
			return err
		}
		p.Work.Spots = append(p.Work.Spots, processing.Spot{ID: i + 1, Runs: spot, Method: asked})
		p.Work.Patches = append(p.Work.Patches, patch)
		p.Work.Origins = append(p.Work.Origins, origins[c.Made])
	}
	return nil
}

func setSamples(patch *processing.Patch, c correction, pixels []processing.Run) error {
	n := processing.Pixels(pixels)
	const maxChannels, maxBytes = 4, 4
	raw, err := unpackAtMost(c.Samples, n*maxChannels*maxBytes)
	if err != nil {
		return err
	}
	switch c.Depth {
	case 8:
		patch.U8 = raw
	case 16:
		patch.U16 = make([]uint16, len(raw)/2)
		_, err = binary.Decode(raw, binary.LittleEndian, patch.U16)
	case 32:
		patch.F32 = make([]float32, len(raw)/4)
		_, err = binary.Decode(raw, binary.LittleEndian, patch.F32)
	default:
		return damaged()
	}
	return err
}

// samples returns the samples of a patch as bytes, and their depth.
func samples(p processing.Patch) (raw []byte, depth int) {
	// Slices of these types have no errors.
	switch {
	case p.U16 != nil:
		raw, _ = binary.Append(nil, binary.LittleEndian, p.U16)
		return raw, 16
	case p.F32 != nil:
		raw, _ = binary.Append(nil, binary.LittleEndian, p.F32)
		return raw, 32
	}
	return p.U8, 8
}

func numbers(runs []processing.Run) []int {
	out := make([]int, 0, 3*len(runs))
	for _, r := range runs {
		out = append(out, r.Y, r.X0, r.X1)
	}
	return out
}

// runs is the inverse of numbers, for runs within a picture.
func runs(n []int, size image.Point) ([]processing.Run, error) {
	if len(n) == 0 || len(n)%3 != 0 {
		return nil, damaged()
	}
	out := make([]processing.Run, len(n)/3)
	for i := range out {
		r := processing.Run{Y: n[3*i], X0: n[3*i+1], X1: n[3*i+2]}
		if r.Y < 0 || r.Y >= size.Y || r.X0 < 0 || r.X0 >= r.X1 || r.X1 > size.X {
			return nil, damaged()
		}
		out[i] = r
	}
	return out, nil
}

func pack(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

// unpack decompresses exactly n bytes.
func unpack(packed []byte, n int) ([]byte, error) {
	raw, err := unpackAtMost(packed, n)
	if err == nil && len(raw) != n {
		err = damaged()
	}
	return raw, err
}

// unpackAtMost decompresses at most n bytes.
func unpackAtMost(packed []byte, n int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damaged()
	}
	raw, err := io.ReadAll(io.LimitReader(z, int64(n)+1))
	if err != nil || len(raw) > n {
		return nil, damaged()
	}
	return raw, nil
}
