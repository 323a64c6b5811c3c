package report_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/document"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/report"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/detect"
)

// corrected is a grey picture of 60 × 40 pixels, turned by EXIF or not, with three places: a pixel that changes with a
// halo that does not, a line, and one that stays as it was.
func corrected(orientation int) report.Correction {
	const w, h = 60, 40
	pic := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
	for i := range pic.U8 {
		pic.U8[i] = uint8(i % w)
	}
	mask := processing.NewMask(w, h)
	mask.Pix[20*w+10], mask.Pix[5*w+30], mask.Pix[5*w+31] = 255, 128, 255
	mask.Pix[39*w+59] = 255
	p := processing.DefaultParams()
	p.Mode = processing.Manual
	return report.Correction{
		Source: &imagefile.File{Path: "/scans/scan <1>.tif", Format: imagefile.TIFF, Depth: 8, Orientation: orientation, Picture: pic, Size: 2500},
		Saved: &imagefile.Saved{
			Path: "/out/scan <1>_corrected.tif", Format: imagefile.TIFF, Bytes: 2501, Method: imagefile.Patched,
			SourceSHA256: strings.Repeat("a", 64), SHA256: strings.Repeat("b", 64), PixelsChanged: 3,
			Proof: &imagefile.Proof{Width: w, Height: h, Channels: 1, MaskArea: 6, Changed: 3, ByByte: true, BytesChanged: 3},
		},
		Program: "1.2.3", Device: "cpu", Date: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), Params: p, Mask: mask,
		Findings: []detect.Finding{
			{ID: 1, Score: 1.5, Contrast: 0.5, Runs: []processing.Run{{Y: 5, X0: 29, X1: 31}}},
			{ID: 2, Score: 2.5, Contrast: 0.25, Runs: []processing.Run{{Y: 5, X0: 31, X1: 32}}},
		},
		Patches: []processing.Patch{
			{Spot: 1, Method: processing.MethodSubtract, Runs: []processing.Run{{Y: 20, X0: 10, X1: 12}}, U8: []uint8{200, 11}},
			{Spot: 2, Method: processing.MethodExemplar, Runs: []processing.Run{{Y: 5, X0: 30, X1: 32}, {Y: 6, X0: 30, X1: 31}}, U8: []uint8{100, 101, 30}},
			{Spot: 3, Method: processing.MethodHarmonic, Runs: []processing.Run{{Y: 39, X0: 59, X1: 60}}, U8: []uint8{59}},
		},
	}
}

func TestCorrectionJSON(t *testing.T) {
	t.Parallel()
	c := corrected(1)
	var b bytes.Buffer
	if err := report.WriteCorrectionJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format, Program, Date, Device, Saved, Mode string
		Version, Width, Height, Channels, Depth    int
		Source, Result                             struct {
			File, Format, SHA256 string
			Bytes                int
		}
		Preset  json.RawMessage
		Changed int `json:"pixels_changed"`
		Places  []report.Place
		Proof   struct {
			Holds     bool
			Statement map[string]string
			Outside   *int `json:"pixels_changed_outside_mask"`
			ByByte    bool `json:"compared_by_byte"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != report.CorrectionFormat || got.Version != 2 || got.Program != "1.2.3" || got.Date != "2026-11-21T10:30:00Z" || got.Device != "cpu" ||
		got.Saved != "patched" || got.Mode != "adaptive" || got.Width != 60 || got.Height != 40 || got.Channels != 1 || got.Depth != 8 || got.Changed != 3 {
		t.Errorf("head: %+v", got)
	}
	if got.Source.File != "scan <1>.tif" || got.Source.Bytes != 2500 || got.Source.SHA256 != c.Saved.SourceSHA256 ||
		got.Result.File != "scan <1>_corrected.tif" || got.Result.Bytes != 2501 || got.Result.SHA256 != c.Saved.SHA256 {
		t.Errorf("files: %+v, %+v", got.Source, got.Result)
	}
	if p, _, err := preset.Decode(got.Preset); err != nil || p != c.Params {
		t.Errorf("the preset within: %+v, %v", p, err)
	}
	if !got.Proof.Holds || got.Proof.Outside == nil || *got.Proof.Outside != 0 || !got.Proof.ByByte || !strings.HasPrefix(got.Proof.Statement["ru"], "Доказано") {
		t.Errorf("proof: %+v", got.Proof)
	}
	score, contrast := 2.5, 0.25
	// The numbers of the window replace those that count from 1.
	c.Numbers = []int{7, 3, 9}
	var numbered struct{ Places []report.Place }
	var again bytes.Buffer
	if err := report.WriteCorrectionJSON(&again, c); err != nil || json.Unmarshal(again.Bytes(), &numbered) != nil {
		t.Fatal(err)
	}
	for i, p := range numbered.Places {
		if p.ID != c.Numbers[i] {
			t.Errorf("place %d is number %d; want %d", i, p.ID, c.Numbers[i])
		}
	}
	want := []report.Place{
		{ID: 1, X: 11, Y: 20.5, Left: 10, Top: 20, Width: 2, Height: 1, Area: 1, Halo: 1, Changed: 1, Method: "subtract"},
		{ID: 2, X: 30.83, Y: 5.83, Left: 30, Top: 5, Width: 2, Height: 2, Area: 2, Halo: 1, Changed: 2, Method: "exemplar", Score: &score, Contrast: &contrast},
		{ID: 3, X: 59.5, Y: 39.5, Left: 59, Top: 39, Width: 1, Height: 1, Area: 1, Method: "harmonic"},
	}
	wantJSON, _ := json.Marshal(want)
	if gotJSON, _ := json.Marshal(got.Places); !bytes.Equal(gotJSON, wantJSON) {
		t.Errorf("places:\n%s, want\n%s", gotJSON, wantJSON)
	}

	c.Saved.Proof, c.Findings = nil, nil
	b.Reset()
	if err := report.WriteCorrectionJSON(&b, c); err != nil || !strings.Contains(b.String(), `"proof": null`) || strings.Contains(b.String(), `"mode": "ad`) {
		t.Errorf("without proof and detection: %v, %s", err, b.String())
	}
	c.Patches[0].U8 = nil
	if err := report.WriteCorrectionJSON(&b, c); err == nil {
		t.Error("a patch without samples was described")
	}
}

// shownPictures decodes the pictures within a report, in their order.
func shownPictures(t *testing.T, html []byte) []image.Image {
	t.Helper()
	var all []image.Image
	for _, m := range regexp.MustCompile(`src="data:image/png;base64,([^"]+)" width="(\d+)" height="(\d+)"`).FindAllSubmatch(html, -1) {
		data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(m[1]), "&#43;", "+"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, img)
	}
	return all
}

// The HTML report contains everything, in both languages, needs no other file, and shows each place before and after.
func TestCorrectionHTML(t *testing.T) {
	t.Parallel()
	for lang, says := range map[string][]string{
		"en": {`<html lang="en">`, "Correction report", "Proven: 3 of 2400 pixels changed", "subtract the light", "exemplar", "scan &lt;1&gt;.tif", strings.Repeat("b", 64),
			"2026-11-21T10:30:00Z", "Blik 1.2.3", "<td>2.50</td>", "adaptive", "only changed pixels were overwritten", "60 × 40 px"},
		"ru": {`<html lang="ru">`, "Отчёт об исправлении", "Доказано: изменено пикселей: 3 из 2400", "вычесть свет", "<td>2,50</td>", "адаптивный", "пкс"},
	} {
		var first, second bytes.Buffer
		if err := report.WriteCorrectionHTML(t.Context(), &first, corrected(1), i18n.For(lang)); err != nil {
			t.Fatal(err)
		}
		if err := report.WriteCorrectionHTML(t.Context(), &second, corrected(1), i18n.For(lang)); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the same correction gave two reports, %v", lang, err)
		}
		for _, s := range says {
			if !strings.Contains(first.String(), s) {
				t.Errorf("%s: the report lacks %q", lang, s)
			}
		}
		for _, outside := range []string{"http:", "https:", "<script", "<link", "ZgotmplZ"} {
			if strings.Contains(first.String(), outside) {
				t.Errorf("%s: the report holds %q", lang, outside)
			}
		}
		shown := shownPictures(t, first.Bytes())
		if len(shown) != 6 {
			t.Fatalf("%s: %d pictures, want 3 places before and after", lang, len(shown))
		}
		// The largest place first; its first pixel lies 12 pixels in, but where the picture ends before.
		before, after := shown[0], shown[1]
		if before.Bounds() != image.Rect(0, 0, 26, 19) || after.Bounds() != before.Bounds() {
			t.Fatalf("%s: %v, %v", lang, before.Bounds(), after.Bounds())
		}
		grey := func(v uint8) color.Color { return color.RGBA{v, v, v, 255} }
		if before.At(12, 5) != grey(30) || after.At(12, 5) != grey(100) || after.At(13, 5) != grey(101) || after.At(14, 5) != grey(32) || after.At(12, 6) != grey(30) {
			t.Errorf("%s: before %v, after %v %v", lang, before.At(12, 5), after.At(12, 5), after.At(13, 5))
		}
	}
}

// Pictures are shown upright: the pixel at (x, y) of the file is where EXIF puts it.
func TestCorrectionHTMLUpright(t *testing.T) {
	t.Parallel()
	const w, h, x, y = 26, 19, 12, 5
	for orientation, want := range map[int]image.Point{
		1: {x, y}, 2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
		5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x},
	} {
		var b bytes.Buffer
		if err := report.WriteCorrectionHTML(t.Context(), &b, corrected(orientation), i18n.For("en")); err != nil {
			t.Fatal(err)
		}
		after := shownPictures(t, b.Bytes())[1]
		if got := after.At(want.X, want.Y); got != color.Color(color.RGBA{100, 100, 100, 255}) {
			t.Errorf("orientation %d: %v at %v of %v", orientation, got, want, after.Bounds())
		}
		if strings.Contains(b.String(), "Shown upright") != (orientation != 1) {
			t.Errorf("orientation %d: the note on it", orientation)
		}
	}
}

// A report on very many places shows the largest and the number of the others; one without places says so.
func TestCorrectionHTMLPaging(t *testing.T) {
	t.Parallel()
	c := corrected(1)
	c.Patches = nil
	for i := range 350 {
		p := processing.Patch{Spot: i + 1, Method: processing.MethodSubtract, Runs: []processing.Run{{Y: i / 10, X0: 6 * (i % 10), X1: 6*(i%10) + 1 + i%3}}}
		p.U8 = make([]uint8, 1+i%3)
		c.Patches = append(c.Patches, p)
	}
	var b bytes.Buffer
	if err := report.WriteCorrectionHTML(t.Context(), &b, c, i18n.For("en")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "<figure"); n != 300 || !strings.Contains(b.String(), "only in the table: 50.") || strings.Count(b.String(), "<tr><td>") < 350 {
		t.Errorf("%d places shown", n)
	}
	c.Patches = nil
	b.Reset()
	if err := report.WriteCorrectionHTML(t.Context(), &b, c, i18n.For("en")); err != nil || !strings.Contains(b.String(), "Nothing was corrected.") {
		t.Errorf("no places: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := report.WriteCorrectionHTML(ctx, &b, corrected(1), i18n.For("en")); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// A place that is too large is shown completely, at a smaller scale.
func TestCorrectionHTMLLarge(t *testing.T) {
	t.Parallel()
	c := corrected(1)
	const w, h = 1900, 30
	c.Source.Picture = &processing.Picture{Width: w, Height: h, Channels: 3, U16: make([]uint16, 3*w*h)}
	c.Mask, c.Findings = nil, nil
	p := processing.Patch{Spot: 1, Runs: []processing.Run{{Y: 15, X0: 10, X1: w - 10}}, U16: make([]uint16, 3*(w-20))}
	for i := range p.U16 {
		p.U16[i] = 65535
	}
	c.Patches = []processing.Patch{p}
	var b bytes.Buffer
	if err := report.WriteCorrectionHTML(t.Context(), &b, c, i18n.For("en")); err != nil {
		t.Fatal(err)
	}
	after := shownPictures(t, b.Bytes())[1]
	if after.Bounds() != image.Rect(0, 0, 380, 6) || !strings.Contains(b.String(), "; 20 %") {
		t.Errorf("%v", after.Bounds())
	}
	if got := after.At(190, 3); got != color.Color(color.RGBA{51, 51, 51, 255}) { // one row of five is white
		t.Errorf("averaged: %v", got)
	}
}

func TestCorrectionNames(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{"/a/x_corrected.tif": "/a/x_corrected", "/a/x.v2.png": "/a/x.v2_corrected", "/a/x": "/a/x_corrected", "/a/.tif": "/a/.tif_corrected"} {
		if j, h := report.CorrectionPaths(result); j != want+".json" || h != want+".html" {
			t.Errorf("%s: %s, %s", result, j, h)
		}
	}
	c := corrected(1)
	c.Saved.Path = filepath.Join(t.TempDir(), "a_corrected.tif")
	save := func(overwrite bool) (j, h string, err error) {
		out := imagefile.Begin()
		defer out.Close()
		if j, h, err = report.AddCorrection(t.Context(), out, c, i18n.For("ru"), overwrite); err == nil {
			err = out.Commit(t.Context(), j)
		}
		return j, h, err
	}
	j, h, err := save(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{j, h} {
		if info, err := os.Stat(path); err != nil || info.Size() < 1000 || filepath.Dir(path) != filepath.Dir(c.Saved.Path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := save(false); !errors.Is(err, imagefile.ErrExists) {
		t.Errorf("an existing report: %v", err)
	}
	if _, _, err := save(true); err != nil {
		t.Errorf("overwritten: %v", err)
	}
	// The same name with another extension is another picture.
	c.Saved.Path = strings.TrimSuffix(c.Saved.Path, ".tif") + ".png"
	if _, _, err := save(true); !errors.Is(err, imagefile.ErrForeign) {
		t.Errorf("the report on another file: %v", err)
	}
	if err := os.WriteFile(j, []byte(`{"format": "something"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := save(true); !errors.Is(err, imagefile.ErrForeign) {
		t.Errorf("no report at all: %v", err)
	}
	c.Saved.Path = strings.TrimSuffix(c.Saved.Path, ".png") + ".tif"
}

// Places that were corrected with other parameters than the rest say so, with what differs.
func TestOtherParameters(t *testing.T) {
	t.Parallel()
	c := corrected(1)
	earlier := c.Params
	earlier.Halo, earlier.Feather = 7, 9
	c.Made = []processing.Params{c.Params, earlier, earlier}
	var b bytes.Buffer
	if err := report.WriteCorrectionJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Preset json.RawMessage
		Others []json.RawMessage `json:"other_presets"`
		Places []report.Place
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := c.Params
	want.Halo = 7
	if len(got.Others) != 1 {
		t.Fatalf("%d other presets", len(got.Others))
	}
	// What detection found does not depend on when a place was corrected.
	if p, _, err := preset.Decode(got.Others[0]); err != nil || p != want {
		t.Errorf("the other preset is %+v, %v", p, err)
	}
	for i, number := range []int{0, 1, 1} {
		if got.Places[i].Preset != number {
			t.Errorf("place %d was made with preset %d, expected %d", i+1, got.Places[i].Preset, number)
		}
	}
	for lang, says := range map[string]string{"en": "Corrected with other parameters, set 1; findings: 2", "ru": "С другими параметрами, набор 1; находок: 2"} {
		b.Reset()
		if err := report.WriteCorrectionHTML(context.Background(), &b, c, i18n.For(lang)); err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(b.String(), says)
		rows, _, _ := strings.Cut(after, "</table>")
		if !found || strings.Count(rows, "<tr>") != 1 || !strings.Contains(rows, "<td>7 ") {
			t.Errorf("%s: found %v, %s", lang, found, rows)
		}
	}
	// Equal parameters are listed only once.
	c.Made = []processing.Params{c.Params, c.Params, c.Params}
	b.Reset()
	if err := report.WriteCorrectionJSON(&b, c); err != nil || strings.Contains(b.String(), "other_presets") {
		t.Errorf("%v, other presets of equal ones", err)
	}
}

// The parameters of a report are those of most corrections, with those of detection in manual form.
func TestNewCorrection(t *testing.T) {
	t.Parallel()
	first, second := processing.DefaultParams(), processing.DefaultParams()
	first.Halo, second.Halo = 1, 2
	a, b := &document.Origin{Params: first, Device: "cpu"}, &document.Origin{Params: second, Device: "cuda:0"}
	found := &detect.Found{Params: processing.DefaultParams(), Findings: make([]detect.Finding, 2)}
	found.Params.Window = 21
	c := report.NewCorrection(nil, "1.2", found, make([]processing.Patch, 3), []*document.Origin{a, b, b})
	if c.Device != "cpu, cuda:0" || c.Params.Halo != 2 || c.Params.Window != 21 || len(c.Findings) != 2 || c.Mode != second.Mode {
		t.Errorf("%+v", c)
	}
	if !slices.Equal(c.Made, []processing.Params{first, second, second}) {
		t.Errorf("made with %+v", c.Made)
	}
	// The mask was given, and all corrections were made in the same way.
	c = report.NewCorrection(nil, "1.2", nil, nil, []*document.Origin{a})
	if c.Params != first || c.Findings != nil || c.Made != nil || c.Device != "cpu" {
		t.Errorf("%+v", c)
	}
}

// The pixels that were free to change are marked, halo or veil, each once, and the halo ends at its width.
func TestExtent(t *testing.T) {
	t.Parallel()
	const w, h, halo = 30, 12, 2
	pic := testpic.Flat(w, h, 1, 100)
	mask := processing.NewMask(w, h)
	marked := []image.Point{{5, 5}, {6, 5}, {6, 6}}
	for _, p := range marked {
		mask.Pix[p.Y*w+p.X] = 255
	}
	var patch processing.Patch
	want := report.Extent{}
	for y := 1; y < 11; y++ {
		patch.Runs = append(patch.Runs, processing.Run{Y: y, X0: 1, X1: 20})
		for x := 1; x < 20; x++ {
			near := w * h
			for _, p := range marked {
				near = min(near, (p.X-x)*(p.X-x)+(p.Y-y)*(p.Y-y))
			}
			switch {
			case near == 0:
				want.Marked++
			case near <= halo*halo:
				want.Halo++
			default:
				want.Veil++
			}
			patch.U8 = append(patch.U8, uint8(100-x%2))
			want.Changed += int64(x % 2)
		}
	}
	c := report.Correction{
		Source: &imagefile.File{Picture: pic}, Saved: &imagefile.Saved{PixelsChanged: want.Changed}, Mask: mask,
		Params: processing.Params{Halo: halo}, Patches: []processing.Patch{patch},
	}
	got, err := c.Extent()
	if err != nil || got != want || got.Free() != 190 || got.Veil == 0 {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
