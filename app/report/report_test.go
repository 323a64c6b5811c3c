package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"blik/app/preset"
	"blik/app/report"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

func example() report.Report {
	p := processing.DefaultParams()
	p.Mode, p.Window = processing.Manual, 13
	mask := processing.NewMask(6, 4)
	mask.Pix[7], mask.Pix[8] = 255, 200
	return report.Report{
		File: "scan, recto.tif", Program: "1.2.3",
		Picture: &processing.Picture{Width: 6, Height: 4, Channels: 3, U16: make([]uint16, 72)},
		Region:  &processing.Region{Shape: processing.RectangleShape, Points: []processing.Point{{X: 1, Y: 1}, {X: 4, Y: 3}}},
		Result: &detect.Found{
			Mask: mask, Params: p, Device: "cpu",
			Findings: []detect.Finding{{
				ID: 1, X: 2, Y: 1.5, Left: 1, Top: 1, Width: 2, Height: 1, Area: 2, Peak: 250,
				Contrast: 0.123456, Elongation: 2, Score: -0.5,
				Evidence: detect.Evidence{Strength: 3.25, Rise: 90, Shares: [4]float64{0.25, 0.75},
					Kind: processing.KindPaint, Certainty: 0.5, Check: true},
			}},
			Chosen: []detect.Chosen{{
				ID: "noise", Name: message.Of("noise"), Unit: message.Of("levels"),
				Value: 1.5, Why: message.Of("Noise"),
			}},
		},
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := report.WriteCSV(&b, example(), report.Comma); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	want := [][]string{
		{"file", "id", "x", "y", "left", "top", "width", "height", "area", "peak", "contrast", "elongation", "score",
			"strength", "rise", "kind", "certainty", "check", "reasons"},
		{"scan, recto.tif", "1", "2.00", "1.50", "1", "1", "2", "1", "2", "250", "0.1235", "2.00", "-0.500",
			"3.25", "90", "paint", "0.50", "check", "looks like: painted light (75 %); rises above its surroundings: 90 levels; " +
				"strength: 3.2 (score -0.5); size: 2 px; look at it: probably not glare"},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("got %q, %v", rows, err)
	}
}

// The table for spreadsheets of countries with a decimal comma.
func TestCSVWithSemicolons(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := report.WriteCSV(&b, example(), report.Semicolon); err != nil {
		t.Fatal(err)
	}
	want := "\ufefffile;id;x;y;left;top;width;height;area;peak;contrast;elongation;score;strength;rise;kind;" +
		"certainty;check;reasons\n" +
		"scan, recto.tif;1;2,00;1,50;1;1;2;1;2;250;0,1235;2,00;-0,500;3,25;90;paint;0,50;check;" +
		"\"looks like: painted light (75 %); rises above its surroundings: 90 levels; strength: 3.2 (score -0.5); " +
		"size: 2 px; look at it: probably not glare\"\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := example()
	var b bytes.Buffer
	if err := report.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format, Program, File, Device, Mode, Region string
		Version, Width, Height, Channels, Depth     int
		MaskArea                                    int `json:"mask_area"`
		Preset                                      json.RawMessage
		Chosen                                      []struct {
			ID        string
			Value     float64
			Why, Name map[string]string
		}
		Findings []detect.Finding
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != report.Format || got.Version != 1 || got.Program != "1.2.3" || got.File != r.File || got.Device != "cpu" ||
		got.Mode != "adaptive" || got.Region != "rect:1,1,3,2" || got.Width != 6 || got.Height != 4 || got.Channels != 3 ||
		got.Depth != 16 || got.MaskArea != 2 {
		t.Errorf("head: %+v", got)
	}
	if p, _, err := preset.Decode(got.Preset); err != nil || p != r.Result.Params {
		t.Errorf("the preset within: %+v, %v", p, err)
	}
	if len(got.Chosen) != 1 || got.Chosen[0].ID != "noise" || got.Chosen[0].Value != 1.5 || got.Chosen[0].Why["ru"] != "Шум" || got.Chosen[0].Name["en"] != "noise" {
		t.Errorf("chosen: %+v", got.Chosen)
	}
	want := slices.Clone(r.Result.Findings)
	want[0].Contrast = 0.1235
	if !reflect.DeepEqual(got.Findings, want) {
		t.Errorf("findings: %+v", got.Findings)
	}
	// As many decimals as mean something.
	long := &r.Result.Findings[0]
	long.X, long.Y, long.Elongation, long.Score, long.Strength = 2./3, 1e3/3, 4./3, 2./3, 20./3
	r.Result.Chosen[0].Value = 2.965159377316531
	long.Certainty, long.Shares = 0.5800000000000001, [detect.GlintKinds]float64{1. / 3, 2. / 3, 1e-9}
	b.Reset()
	if err := report.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\.[0-9]{5}|[0-9]e-`).FindString(b.String()); found != "" || !bytes.Contains(b.Bytes(), []byte(`"certainty": 0.58,`)) {
		t.Errorf("%q in %s", found, b.Bytes())
	}

	r.Result.Findings, r.Result.Chosen, r.Region = nil, nil, nil
	b.Reset()
	if err := report.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b.Bytes(), []byte(`"findings": []`)) || !bytes.Contains(b.Bytes(), []byte(`"chosen": []`)) {
		t.Errorf("nothing found must be empty lists: %s", b.Bytes())
	}
}

// The outline is what lies 3 rows or columns away from the mask, and nothing else changes.
func TestMarked(t *testing.T) {
	t.Parallel()
	const w, h = 17, 12
	pic := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
	for i := range pic.U8 {
		pic.U8[i] = uint8(i)
	}
	mask := processing.NewMask(w, h)
	for _, p := range [][2]int{{8, 6}, {9, 6}, {0, 0}, {16, 11}} {
		mask.Pix[p[1]*w+p[0]] = 255
	}
	mask.Pix[3*w+3] = processing.MaskLevel - 1 // too faint to count
	got, err := report.Marked(t.Context(), pic, nil, mask)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(); err != nil || got.Channels != 3 {
		t.Fatalf("%d channels, %v", got.Channels, err)
	}
	distance := func(x, y int) int {
		d := math.MaxInt
		for i, v := range mask.Pix {
			if v >= processing.MaskLevel {
				dx, dy := x-i%w, y-i/w
				d = min(d, max(dx, -dx, dy, -dy))
			}
		}
		return d
	}
	for i := range w * h {
		want := []uint8{uint8(i), uint8(i), uint8(i)}
		if distance(i%w, i/w) == 3 {
			want = []uint8{255, 0, 0}
		}
		if !slices.Equal(got.U8[3*i:3*i+3], want) {
			t.Errorf("pixel %d,%d: got %v, want %v", i%w, i/w, got.U8[3*i:3*i+3], want)
		}
	}
}

func TestMarkedDepths(t *testing.T) {
	t.Parallel()
	none := processing.NewMask(1, 1)
	for _, c := range []struct {
		pic  *processing.Picture
		want []uint8
	}{
		{&processing.Picture{Channels: 3, U16: []uint16{0xabcd, 100, 65535}}, []uint8{0xab, 0, 255}},
		{&processing.Picture{Channels: 3, F32: []float32{-1, float32(math.NaN()), 7}}, []uint8{0, 0, 255}},
		{&processing.Picture{Channels: 1, U16: []uint16{0x8080}}, []uint8{0x80, 0x80, 0x80}},
		{&processing.Picture{Channels: 4, U8: []uint8{0, 255, 0, 0}}, []uint8{255, 0, 255}},
		{&processing.Picture{Channels: 3, F32: []float32{0.5, 1, 0}, Transfer: processing.TransferLinear}, []uint8{188, 255, 0}},
	} {
		c.pic.Width, c.pic.Height = 1, 1
		got, err := report.Marked(t.Context(), c.pic, nil, none)
		if err != nil || !slices.Equal(got.U8, c.want) {
			t.Errorf("%d bits: got %v, %v; want %v", c.pic.Depth(), got.U8, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := report.Marked(ctx, &processing.Picture{Width: 1, Height: 1, Channels: 1, U8: []uint8{1}}, nil, none); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
