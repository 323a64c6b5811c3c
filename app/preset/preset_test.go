package preset_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blik/app/preset"
	"blik/processing"
	"blik/processing/network"

	"pgregory.net/rapid"
)

// anyParams draws a value for every parameter, including the ends of its range.
func anyParams(t *rapid.T) processing.Params {
	p := processing.DefaultParams()
	for _, s := range processing.Specs() {
		v := rapid.Float64Range(s.Min, s.Max).Draw(t, s.ID)
		if s.Kind != processing.KindReal {
			v = math.Round(v)
		}
		if s.Kind == processing.KindOdd && int(v)%2 == 0 {
			v++
		}
		if err := s.Set(&p, v); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyParams(t)
		got, _, err := preset.Decode(preset.Encode(want))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// Presets from before correction existed keep their meaning, and a preset may contain only parameters of correction.
func TestPresetsOfOneStage(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*processing.Params){
		`{"format": "blik preset", "version": 1, "values": {"mode": "manual", "window": 15, "fill": false}}`: func(p *processing.Params) {
			p.Mode, p.Window, p.Fill = processing.Manual, 15, false
		},
		`{"format": "blik preset", "version": 1, "values": {"method": "exemplar", "halo": 5, "only-darken": true}}`: func(p *processing.Params) {
			p.Method, p.Halo, p.OnlyDarken = processing.MethodExemplar, 5, true
		},
	} {
		want := processing.DefaultParams()
		change(&want)
		if got, _, err := preset.Decode([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.json")
	want := processing.DefaultParams()
	want.Mode, want.Window, want.Contrast = processing.Manual, 15, 12.5
	if err := preset.Write(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	if got, _, err := preset.Read(path); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	bad := want
	bad.Window = 4
	if err := preset.Write(t.Context(), path, bad); err == nil {
		t.Error("an even window was written")
	}
	if got, _, _ := preset.Read(path); got != want {
		t.Error("the refused write changed the file")
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	t.Parallel()
	got, _, err := preset.Decode([]byte(`{"format": "blik preset", "version": 1, "values": {"margin": 2}}`))
	want := processing.DefaultParams()
	want.Margin = 2
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	values := func(v string) string { return `{"format": "blik preset", "version": 1, "values": {` + v + `}}` }
	for _, c := range []struct{ name, json, says string }{
		{"nothing", ``, "not valid JSON"},
		{"cut short", string(preset.Encode(processing.DefaultParams())[:60]), "not valid JSON"},
		{"another format", `{"format": "other", "version": 1}`, "not a preset"},
		{"an array", `[1, 2]`, "not a preset"},
		{"no version", `{"format": "blik preset", "values": {}}`, "not a preset"},
		{"newer", `{"format": "blik preset", "version": 3, "values": {"new": 1}}`, "version 3"},
		{"unknown field", `{"format": "blik preset", "version": 1, "values": {}, "more": 1}`, `"more"`},
		{"unknown parameter", values(`"wobble": 1`), `"wobble"`},
		{"even window", values(`"window": 12`), "window to 12: must be an odd whole number between 3 and 63 px"},
		{"out of range", values(`"sensitivity": 50`), "sensitivity to 50: must be a number between -5 and 5"},
		{"fraction", values(`"min-area": 1.5`), "must be a whole number between 1 and 1000 px"},
		{"text for a number", values(`"window": "11"`), "must be an odd whole number"},
		{"null", values(`"window": null`), "must be an odd whole number"},
		{"number for a switch", values(`"fill": 1`), "must be true or false"},
		{"null for a switch", values(`"fill": null`), "must be true or false"},
		{"number for a choice", values(`"mode": 1`), "must be one of adaptive, manual"},
		{"unknown choice", values(`"mode": "clever"`), "mode to \"clever\": must be one of"},
		{"a long value", values(`"mode": "` + strings.Repeat("x", 1000) + `"`), "xxx…: must be"},
	} {
		_, _, err := preset.Decode([]byte(c.json))
		var e *preset.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want a sentence with %q", c.name, err, c.says)
		}
		if errors.Is(err, preset.ErrNewer) != (c.name == "newer") {
			t.Errorf("%s: ErrNewer is wrong on %v", c.name, err)
		}
	}
}

// learned returns learned parameters for a preset.
func learned(t *testing.T, way processing.LearnedWay) *processing.Learned {
	t.Helper()
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	basis, n := processing.LearnedBasis(model)
	row := func(f func(i int) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	l := &processing.Learned{Basis: basis, Way: way, Mean: row(func(i int) float64 { return float64(i) / 3 }),
		Deviation: row(func(i int) float64 { return 1 + float64(i)/7 })}
	if way == processing.WayShift {
		l.Offset, l.Weights = 0.1, row(func(i int) float64 { return 1 / float64(i+3) })
		return l
	}
	l.Gain = 4
	for k := range 2 {
		l.Glare = append(l.Glare, row(func(i int) float64 { return float64(max(1-max(i-k, k-i), 0)) }))
	}
	l.Paint = l.Glare[1:]
	return l
}

// Learned parameters of both methods are restored bit for bit; older versions reject the preset as newer.
func TestLearnedRoundTrip(t *testing.T) {
	t.Parallel()
	for _, way := range []processing.LearnedWay{processing.WayShift, processing.WayConjugacy} {
		p := processing.DefaultParams()
		p.Learned = learned(t, way)
		data := preset.Encode(p)
		got, _, err := preset.Decode(data)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %+v, %v", way, got.Learned, err)
		}
		if !strings.Contains(string(data), `"version": 2`) {
			t.Errorf("%s: older versions would not know that it is newer", way)
		}
	}
	if data := preset.Encode(processing.DefaultParams()); !strings.Contains(string(data), `"version": 1`) {
		t.Error("older versions could not read a preset without anything learned")
	}
}

func TestLearnedRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *processing.Learned){
		"another version": func(l *processing.Learned) { l.Basis = "0123" },
		"damaged: way":    func(l *processing.Learned) { l.Way = "guess" },
		"damaged: mean":   func(l *processing.Learned) { l.Mean = l.Mean[1:] },
		"damaged: spread": func(l *processing.Learned) { l.Deviation[3] = 0 },
		"damaged: row":    func(l *processing.Learned) { l.Glare[1] = l.Glare[1][1:] },
		"damaged: length": func(l *processing.Learned) { l.Glare[1][1] = 7 },
		"damaged: shift":  func(l *processing.Learned) { l.Way = processing.WayShift },
	} {
		p := processing.DefaultParams()
		p.Learned = learned(t, processing.WayConjugacy)
		// Rows are shared.
		p.Learned.Glare[1] = slices.Clone(p.Learned.Glare[1])
		change(p.Learned)
		_, _, err := preset.Decode(preset.Encode(p))
		var e *preset.Error
		says, _, _ := strings.Cut(name, ":")
		if !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	large := filepath.Join(dir, "large.json")
	if err := errors.Join(os.WriteFile(bad, []byte("{"), 0o666), os.WriteFile(large, make([]byte, 2<<20), 0o666)); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		bad: "JSON", large: "too large", dir: "not a preset file", filepath.Join(dir, "none.json"): "no such file",
	} {
		if _, _, err := preset.Read(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s: … %s", err, path, says)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(preset.Encode(processing.DefaultParams()))
	f.Add([]byte(`{"format": "blik preset", "version": 9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := preset.Decode(data)
		if err == nil && p.Validate() != nil {
			t.Errorf("accepted %+v: %v", p, p.Validate())
		}
	})
}

// Presets of older versions open with one remark: detectors that are gone are the network, and a score is ignored.
func TestOlderPresets(t *testing.T) {
	t.Parallel()
	old := func(values string) string {
		return `{"format": "blik preset", "version": 1, "values": {` + values + `}}`
	}
	classic := processing.DefaultParams()
	classic.Mode = processing.Manual
	own, harmonic := classic, processing.DefaultParams()
	own.Contrast, harmonic.Method = 20, processing.MethodHarmonic
	for _, c := range []struct {
		text string
		want processing.Params
		says string
	}{
		{old(`"detector": "joined"`), processing.DefaultParams(), `"joined" no longer exists`},
		{old(`"detector": "network", "mode": "manual"`), processing.DefaultParams(), `"network" no longer exists`},
		{old(`"method": "telea"`), harmonic, `"telea" no longer exists; "harmonic" is used`},
		{old(`"method": "median", "detector": "joined"`), harmonic, `is used; the correction method "median" no longer`},
		{old(`"mode": "manual", "contrast": 20, "min-z": 0, "colour-gate": false`), own, ""},
		{old(`"mode": "manual", "contrast": 20, "min-z": 2.5, "min-line": 0, "colour-gate": true`), own, "ignored: min-z, colour-gate"},
		{old(`"min-top-hat": 40`), processing.DefaultParams(), ""},
		{old(`"mode": "adaptive", "score": 0`), processing.DefaultParams(), ""},
		{old(`"mode": "manual", "score": 1.5, "contrast": 15, "level": 120, "max-elongation": 40`), classic, "a score"},
		{old(`"mode": "manual", "score": 0, "contrast": 20`), own, "a score"},
		{old(`"mode": "manual", "contrast": 20`), own, ""},
	} {
		got, remark, err := preset.Decode([]byte(c.text))
		if err != nil || got != c.want || (c.says == "") != remark.IsZero() || !strings.Contains(remark.String(), c.says) {
			t.Errorf("%s: %+v, %q, %v", c.text, got, remark.String(), err)
		}
	}
}
