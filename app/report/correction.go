package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blik/app/document"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// CorrectionFormat and correctionVersion name the JSON that WriteCorrectionJSON writes; reports are sealed from
// sealedVersion on.
const (
	CorrectionFormat  = "blik correction"
	correctionVersion = 2
	sealedVersion     = 2
)

// Correction describes one corrected picture. The same Correction gives the same bytes.
type Correction struct {
	// Source is the picture as it was read; Saved describes the saved result.
	Source *imagefile.File
	Saved  *imagefile.Saved
	// Program is the program version, Device the device that the correction ran on, and Date the time of saving.
	Program, Device string
	Date            time.Time
	// Params are the parameters of detection and correction that were used, those of detection in manual form
	// (detect.Found.Params); Mode is the requested mode.
	Params processing.Params
	Mode   processing.Mode
	// Mask is the mask without the halo; nil if only the patches are known.
	Mask *processing.Mask
	// Findings are the findings of the detection that produced the mask, for their scores. They are nil if there was
	// none; the report then omits the parameters of detection.
	Findings []detect.Finding
	// Left are the findings that were not corrected, because nobody watched and a person should look at them.
	Left []detect.Finding
	// Patches are all saved patches, Numbers those of their findings in the window; nil counts from 1.
	Patches []processing.Patch
	Numbers []int
	// Made are the parameters with which each of Patches was made, of which only those of correction are used; nil if
	// all were made with Params.
	Made []processing.Params
	// MaskPath is the file of the outputs that holds the mask with halo and veil; empty if it is not saved.
	MaskPath string
	// maskSum and page are what the report says of the files beside it.
	maskSum string
	page    *bundled
}

// NewCorrection describes the corrections of a picture to be saved; the caller sets Saved, Date and Mask. detection is
// the one that produced the mask, nil if there was none. made holds the parameters of each patch, or a single entry for
// all. The parameters of the report are those of most patches.
func NewCorrection(source *imagefile.File, program string, detection *detect.Found, patches []processing.Patch,
	made []*document.Origin,
) Correction {
	c := Correction{Source: source, Program: program, Patches: patches}
	var devices []string
	count := map[*document.Origin]int{}
	usual := made[0]
	for _, o := range made {
		if !slices.Contains(devices, o.Device) {
			devices = append(devices, o.Device)
		}
		if count[o]++; count[o] > count[usual] {
			usual = o
		}
		if len(made) == len(patches) {
			c.Made = append(c.Made, o.Params)
		}
	}
	c.Device, c.Params, c.Mode = strings.Join(devices, ", "), usual.Params, usual.Params.Mode
	if detection != nil {
		c.Params = detection.Params.WithStage(processing.StageCorrection, usual.Params)
		c.Findings = detection.Findings
	}
	return c
}

// sets returns the parameters other than Params with which patches were made, and for each patch the number of its set,
// from 1; 0 stands for Params.
func (c Correction) sets() (others []processing.Params, of []int) {
	of = make([]int, len(c.Patches))
	for i, made := range c.Made {
		p := c.Params.WithStage(processing.StageCorrection, made)
		if p == c.Params {
			continue
		}
		k := slices.Index(others, p)
		if k < 0 {
			k = len(others)
			others = append(others, p)
		}
		of[i] = k + 1
	}
	return others, of
}

// Place describes the correction at one place of the picture. Positions are pixels in the rows of the file.
type Place struct {
	// ID is the number of its finding in the window, or counts from 1.
	ID int `json:"id"`
	// X and Y are the centroid; the middle of the first pixel is (0.5, 0.5).
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Left, Top, Width and Height are the bounding box, halo included.
	Left   int `json:"left"`
	Top    int `json:"top"`
	Width  int `json:"width"`
	Height int `json:"height"`
	// Area is the number of pixels of the glint in the mask, Halo the number of those around it that might also change,
	// Veil the number of those of Halo that are farther than the halo is wide, and Changed the number of those that
	// did.
	Area    int `json:"area"`
	Halo    int `json:"halo"`
	Veil    int `json:"veil"`
	Changed int `json:"pixels_changed"`
	// Method is the ID of the method that was actually used.
	Method string `json:"method"`
	// Preset is the number, from 1, of the other preset with which the place was corrected; 0 is the main preset.
	Preset int `json:"preset,omitempty"`
	// Score and Contrast are those of the finding there; nil if the mask was made by hand.
	Score    *float64 `json:"score,omitempty"`
	Contrast *float64 `json:"contrast,omitempty"`
}

// Rim returns the number of pixels of the halo without the veil.
func (p Place) Rim() int { return p.Halo - p.Veil }

// places describes the patches in order.
func (c Correction) places() ([]Place, error) {
	out := make([]Place, len(c.Patches))
	_, sets := c.sets()
	type owned struct{ x0, x1, place int }
	byRow := map[int][]owned{}
	for i := range c.Patches {
		p := &c.Patches[i]
		n, err := imagefile.ChangedPixels(c.Source.Picture, p)
		if err != nil {
			return nil, err
		}
		place := Place{ID: c.number(i), Changed: int(n), Method: p.Method.ID(), Preset: sets[i]}
		var sx, sy, weight float64
		x1, y1 := 0, 0
		for k, r := range p.Runs {
			byRow[r.Y] = append(byRow[r.Y], owned{r.X0, r.X1, i})
			length := float64(r.X1 - r.X0)
			sx, sy, weight = sx+length*float64(r.X0+r.X1)/2, sy+length*(float64(r.Y)+0.5), weight+length
			if k == 0 {
				place.Left, place.Top = r.X0, r.Y
			}
			place.Left, place.Top = min(place.Left, r.X0), min(place.Top, r.Y)
			x1, y1 = max(x1, r.X1), max(y1, r.Y+1)
			for x := r.X0; x < r.X1; x++ {
				if c.Mask == nil || c.Mask.Pix[r.Y*c.Mask.Width+x] >= processing.MaskLevel {
					place.Area++
				} else {
					place.Halo++
				}
			}
		}
		if c.Mask != nil && place.Halo > 0 {
			place.Veil = beyond(p.Runs, c.Mask, c.haloOf(i))
		}
		if weight > 0 {
			place.X, place.Y = sx/weight, sy/weight
			place.Width, place.Height = x1-place.Left, y1-place.Top
		}
		out[i] = place
	}
	for _, f := range c.Findings {
		for _, r := range f.Runs {
			i := slices.IndexFunc(byRow[r.Y], func(o owned) bool { return o.x0 < r.X1 && r.X0 < o.x1 })
			if i < 0 {
				continue
			}
			// Of several findings in one place the most certain one is used.
			if p := &out[byRow[r.Y][i].place]; p.Score == nil || *p.Score < f.Score {
				score, contrast := f.Score, f.Contrast
				p.Score, p.Contrast = &score, &contrast
			}
			break
		}
	}
	return out, nil
}

// haloOf returns the width of the halo with which a patch was made, in pixels.
func (c Correction) haloOf(patch int) int {
	if c.Made == nil {
		return c.Params.Halo
	}
	return c.Made[patch].Halo
}

// number returns what the place of a patch is called.
func (c Correction) number(patch int) int {
	if c.Numbers == nil {
		return patch + 1
	}
	return c.Numbers[patch]
}

type fileRecord struct {
	File   string `json:"file"`
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// bundled is a file that belongs to the report.
type bundled struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// maskRecord describes the mask with halo and veil. File and SHA256 are those of its file, if it was saved; Pixels is
// imagefile.MaskSHA256.
type maskRecord struct {
	File   string `json:"file,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Pixels string `json:"pixels_sha256"`
}

type position struct {
	X int `json:"x"`
	Y int `json:"y"`
}

type proofRecord struct {
	Holds     bool       `json:"holds"`
	Statement text       `json:"statement"`
	MaskArea  int64      `json:"mask_area"`
	Changed   int64      `json:"pixels_changed"`
	Outside   int64      `json:"pixels_changed_outside_mask"`
	First     []position `json:"first_outside"`
	// Beside are the pixels outside the mask that changed with JPEG blocks of pixels in it.
	Beside int64 `json:"pixels_changed_beside_mask"`
	// Differs names what else differs, and Uncompared what could not be compared.
	Differs    []text `json:"differs"`
	Uncompared []text `json:"not_compared"`
	// Unreferenced is the number of bytes of the result that nothing in it refers to.
	Unreferenced int64         `json:"stray_bytes"`
	Blocks       *blocksRecord `json:"jpeg_blocks,omitempty"`
	// ByByte means that the files were compared byte by byte; the other two counts come from that comparison.
	ByByte       bool  `json:"compared_by_byte"`
	BytesChanged int64 `json:"bytes_changed"`
	BytesOutside int64 `json:"bytes_changed_outside_pixels"`
}

// blocksRecord counts blocks of 8 × 8 samples of a JPEG.
type blocksRecord struct {
	Total   int64 `json:"blocks"`
	Changed int64 `json:"changed"`
	Outside int64 `json:"changed_outside_mask"`
}

type correctionRecord struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Program string     `json:"program"`
	Date    string     `json:"date"`
	Device  string     `json:"device"`
	Source  fileRecord `json:"source"`
	Result  fileRecord `json:"result"`
	// Mask and Page are the files that belong to the result, both missing before sealedVersion.
	Mask  *maskRecord `json:"mask,omitempty"`
	Page  *bundled    `json:"page,omitempty"`
	Saved string      `json:"saved"`
	// Dropped names the parts of the original that the result, a new file, does not contain.
	Dropped     []text `json:"dropped,omitempty"`
	Lossy       bool   `json:"lossy"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Channels    int    `json:"channels"`
	Depth       int    `json:"depth"`
	Float       bool   `json:"float"`
	Compression string `json:"compression,omitempty"`
	Orientation int    `json:"orientation"`
	Profile     string `json:"profile,omitempty"`
	// Mode is the mode of the detection that produced the mask; empty if there was none.
	Mode string `json:"mode,omitempty"`
	// Preset is complete: stored in its own file it repeats the work, except for the places that were corrected with
	// one of Others.
	Preset   json.RawMessage   `json:"preset"`
	Others   []json.RawMessage `json:"other_presets,omitempty"`
	MaskArea int               `json:"mask_area"`
	Changed  int64             `json:"pixels_changed"`
	// Extent says what the pixels are that were free to change; nil in reports of earlier versions.
	Extent *Extent `json:"extent,omitempty"`
	Places []Place `json:"places"`
	// Left are the findings that a person should look at, and that were not corrected.
	Left  []detect.Finding `json:"left,omitempty"`
	Proof *proofRecord     `json:"proof"`
}

// roundedPlaces is rounded for places.
func roundedPlaces(places []Place) []Place {
	all := slices.Clone(places)
	for i := range all {
		p := &all[i]
		p.X, p.Y = round(p.X, positionDecimals), round(p.Y, positionDecimals)
		if p.Score != nil {
			score, contrast := round(*p.Score, 3), round(*p.Contrast, 4)
			p.Score, p.Contrast = &score, &contrast
		}
	}
	return all
}

func newProofRecord(p *imagefile.Proof) *proofRecord {
	if p == nil {
		return nil
	}
	r := &proofRecord{
		Holds: p.Holds(), Statement: i18n.AllLanguages(p.Statement()),
		MaskArea: p.MaskArea, Changed: p.Changed, Outside: p.Outside,
		First: []position{}, Beside: p.Beside, Differs: everywhere(p.Differs), Uncompared: everywhere(p.Uncompared),
		Unreferenced: p.Unreferenced, ByByte: p.ByByte, BytesChanged: p.BytesChanged, BytesOutside: p.BytesOutside,
	}
	if b := p.Blocks; b.Total > 0 {
		r.Blocks = &blocksRecord{b.Total, b.Changed, b.Outside}
	}
	for _, at := range p.First {
		r.First = append(r.First, position(at))
	}
	return r
}

// everywhere returns messages in all languages of the program.
func everywhere(list []message.Message) []text {
	all := []text{}
	for _, m := range list {
		all = append(all, i18n.AllLanguages(m))
	}
	return all
}

func (c Correction) record() (correctionRecord, error) {
	places, err := c.places()
	info, pic, saved := c.Source.Info, c.Source.Picture, c.Saved
	source := filepath.Base(c.Source.Path)
	if saved.Kept != "" && filepath.Clean(saved.Path) == filepath.Clean(c.Source.Path) {
		// The result has the name of the original, which has another one now.
		source = filepath.Base(saved.Kept)
	}
	mask := &maskRecord{Pixels: imagefile.PatchesSHA256(pic.Width, pic.Height, c.Patches), SHA256: c.maskSum}
	if c.MaskPath != "" {
		mask.File = filepath.Base(c.MaskPath)
	}
	r := correctionRecord{
		Format: CorrectionFormat, Version: correctionVersion,
		Program: c.Program, Date: c.Date.Format(time.RFC3339), Device: c.Device,
		Source: fileRecord{source, string(c.Source.Format), c.Source.Size, saved.SourceSHA256},
		Result: fileRecord{filepath.Base(saved.Path), string(saved.Format), saved.Bytes, saved.SHA256},
		Mask:   mask, Page: c.page,
		Saved: string(saved.Method), Dropped: everywhere(saved.Dropped), Lossy: saved.Lossy,
		Width: pic.Width, Height: pic.Height, Channels: pic.Channels, Depth: c.Source.Depth,
		Float: info.Float, Compression: info.Compression, Orientation: c.Source.Orientation,
		Profile: c.Source.ProfileName(), Preset: preset.Encode(c.Params),
		Changed: saved.PixelsChanged, Places: roundedPlaces(places), Left: rounded(c.Left),
		Proof: newProofRecord(saved.Proof),
	}
	extent := extentOf(places, saved)
	r.Extent, r.MaskArea = &extent, int(extent.Marked)
	others, _ := c.sets()
	for _, p := range others {
		r.Others = append(r.Others, preset.Encode(p))
	}
	if spec, ok := processing.SpecByID("mode"); ok && c.Findings != nil {
		r.Mode = spec.Format(float64(c.Mode))
	}
	return r, err
}

// WriteCorrectionJSON writes everything: both files with their SHA-256, how the result was saved, the parameters (as a
// preset that repeats the work), every place, and the proof. The second line is the seal of the others.
func WriteCorrectionJSON(w io.Writer, c Correction) error {
	rec, err := c.record()
	if err != nil {
		return err
	}
	var data bytes.Buffer
	if err := writeJSON(&data, rec); err != nil {
		return err
	}
	_, err = w.Write(sealed(data.Bytes()))
	return err
}

// CorrectionPaths returns the paths of the reports on a result: beside it, with the name of the result, to which
// _corrected is appended if it does not end in it.
func CorrectionPaths(result string) (jsonPath, htmlPath string) {
	name := strings.TrimSuffix(result, filepath.Ext(result))
	if filepath.Base(result) == filepath.Ext(result) {
		name = result
	}
	if !strings.HasSuffix(name, "_corrected") {
		name += "_corrected"
	}
	return name + ".json", name + ".html"
}

// AddCorrection adds both reports to the outputs that hold the result, the readable one in the language of tr, and
// returns their paths. A mask of the set (c.MaskPath) is added before. They get the permissions of the original. With
// overwrite, reports on the same result are replaced; one on another is imagefile.ErrForeign.
func AddCorrection(ctx context.Context, out *imagefile.Outputs, c Correction, tr *i18n.Printer, overwrite bool) (
	jsonPath, htmlPath string, err error,
) {
	jsonPath, htmlPath = CorrectionPaths(c.Saved.Path)
	if err := CheckReport(jsonPath, CorrectionFormat, filepath.Base(c.Saved.Path)); err != nil {
		return "", "", err
	}
	o := imagefile.WriteOptions{Overwrite: overwrite, Like: c.Source}
	err = out.Add(ctx, htmlPath, o, func(w io.Writer) error { return WriteCorrectionHTML(ctx, w, c, tr) })
	if err == nil {
		c.page = &bundled{filepath.Base(htmlPath), out.SHA256(htmlPath)}
		c.maskSum = out.SHA256(c.MaskPath)
		err = out.Add(ctx, jsonPath, o, func(w io.Writer) error { return WriteCorrectionJSON(w, c) })
	}
	return jsonPath, htmlPath, err
}

// byArea sorts places by decreasing area, keeping the order of equal ones.
func byArea(places []Place) []int {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(places[b].Area+places[b].Halo, places[a].Area+places[a].Halo)
	})
	return order
}
