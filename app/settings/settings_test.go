package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
	"blik/processing/network"
)

func TestMissingFileGivesDefaults(t *testing.T) {
	t.Parallel()
	s, err := Load(filepath.Join(t.TempDir(), "no", "settings.json"))
	if err != nil || !reflect.DeepEqual(s, Default()) {
		t.Errorf("Load = %+v, %v", s, err)
	}
}

func TestSettingsComeBack(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := Default()
		s.Language = rapid.SampledFrom([]string{"", "en", "ru"}).Draw(t, "language")
		for i := range rapid.IntRange(0, 14).Draw(t, "recent") {
			s.AddRecent(filepath.Join(folder, fmt.Sprintf("картина %d.tif", i%12)))
		}
		s.WindowWidth, s.WindowHeight = rapid.Float64Range(1, 5000).Draw(t, "width"), rapid.Float64Range(1, 5000).Draw(t, "height")
		s.OverlayColour = rapid.SampledFrom([]string{"red", "blue", "yellow"}).Draw(t, "colour")
		s.OverlayOpacity = rapid.Float64Range(0, 1).Draw(t, "opacity")
		s.BrushRadius = rapid.Float64Range(0.5, 2000).Draw(t, "radius")
		s.BrushSoftness = rapid.Float64Range(0, 1).Draw(t, "soft")
		s.WriteReport = rapid.Bool().Draw(t, "report")
		for _, spec := range processing.Specs() {
			v := rapid.Float64Range(spec.Min, spec.Max).Draw(t, spec.ID)
			if spec.Kind != processing.KindReal {
				v = float64(int(v))
			}
			if spec.Check(v) == nil {
				if err := spec.Set(&s.Params, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		path := filepath.Join(folder, "blik", "settings.json")
		if err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		s.Params = s.Params.Automatic()
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("came back as %+v, %v, want %+v", got, err, s)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Fatalf("files left beside the settings: %v", left)
		}
	})
}

func TestDamagedFileIsKept(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", "[1]", `{"brush-radius": "large"}`, "\x00\x00\x00", `{"params": 3}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(path)
		var damaged *DamagedError
		if !errors.As(err, &damaged) || !reflect.DeepEqual(s, Default()) {
			t.Errorf("%q: Load = %+v, %v", content, s, err)
			continue
		}
		if !strings.Contains(err.Error(), path) || damaged.Kept != path+".bad" {
			t.Errorf("%q: %v does not say where the file is kept", content, err)
		}
		if kept, err := os.ReadFile(damaged.Kept); err != nil || string(kept) != content {
			t.Errorf("%q is kept as %q, %v", content, kept, err)
		}
		if err := s.Save(path); err != nil {
			t.Error(err)
		}
		if _, err := Load(path); err != nil {
			t.Errorf("the next start fails, too: %v", err)
		}
	}
}

func TestOneBadValueSpoilsNoOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	// On Windows, absolute paths begin with a drive.
	recent := filepath.ToSlash(filepath.VolumeName(t.TempDir())) + "/a.tif"
	content := `{"language": "fr", "overlay-opacity": 7, "brush-radius": -1, "brush-softness": 0.5, "window-width": 900,
		"recent": ["relative.tif", "` + recent + `", "` + recent + `"], "unknown": {"a": 1},
		"params": {"scale": 9, "sensitivity": 1.5, "mode": "manual", "window": 21, "fill": 3, "no-such": 1, "level": null}}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.BrushSoftness = 0.5
	want.Recent = []string{recent}
	want.Params.Sensitivity = 1.5
	if !reflect.DeepEqual(s, want) {
		t.Errorf("Load = %+v, want %+v", s, want)
	}
}

func TestSaveLeavesTheOldFileWhereItFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	// A folder in the file's place cannot be replaced by it.
	path := filepath.Join(folder, "settings.json")
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Default().Save(path); err == nil || !strings.HasPrefix(err.Error(), "save settings: ") {
		t.Errorf("Save = %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 1 {
		t.Errorf("a failed save left %v", left)
	}
	if _, err := Load(path); err == nil {
		t.Error("a folder was read as settings")
	}
}

func TestRecentFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := func(i int) string { return filepath.Join(folder, fmt.Sprint(i), "scan.tif") }
	s := Default()
	for i := range 13 {
		s.AddRecent(name(i))
	}
	s.AddRecent(name(8))
	if len(s.Recent) != MaxRecent || s.Recent[0] != name(8) || s.Recent[1] != name(12) || s.Recent[9] != name(3) {
		t.Errorf("recent files are %v", s.Recent)
	}
	if s.LastFolder != filepath.Dir(name(8)) {
		t.Errorf("last folder is %s", s.LastFolder)
	}
	s.RemoveRecent(name(8))
	s.RemoveRecent("no such")
	if len(s.Recent) != 9 || s.Recent[0] != name(12) {
		t.Errorf("recent files are %v", s.Recent)
	}
	s.AddRecent("here.tif")
	if !filepath.IsAbs(s.Recent[0]) {
		t.Errorf("%s is not absolute", s.Recent[0])
	}
}

func TestPath(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	t.Setenv("HOME", folder)
	t.Setenv("AppData", folder)
	path, err := Path()
	if err != nil || !strings.HasPrefix(path, folder) || !strings.HasSuffix(path, filepath.Join("blik", "settings.json")) {
		t.Errorf("Path = %s, %v", path, err)
	}
}

// Keys are restored as chosen.
func TestKeysComeBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	s := Default()
	s.Keys = Keys{"find.run": "Ctrl+Shift+G", "tool.brush": "", "view.in": "+"}
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("came back as %+v, %v", got, err)
	}
}

// Damaged keys affect neither other keys nor other settings.
func TestDamagedKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Keys{
		`3`: nil, `null`: nil, `["a"]`: nil, `"F5"`: nil, `{}`: nil,
		`{"a": 1, "b": null, "c": {"d": "e"}, "f": "F5", "g": ""}`: {"f": "F5", "g": ""},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(`{"keys": `+text+`, "brush-radius": 7}`), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil || got.BrushRadius != 7 || !reflect.DeepEqual(got.Keys, want) {
			t.Errorf("%s: keys %v, brush %g, %v", text, got.Keys, got.BrushRadius, err)
		}
	}
}

// Learned parameters are restored, unless another version of the detector learned them.
func TestLearnedComesBack(t *testing.T) {
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	basis, n := processing.LearnedBasis(model)
	l := &processing.Learned{Basis: basis, Way: processing.WayShift, Offset: 0.25, Mean: make([]float64, n),
		Deviation: make([]float64, n), Weights: make([]float64, n)}
	for i := range n {
		l.Mean[i], l.Deviation[i], l.Weights[i] = float64(i)/3, 1+float64(i)/7, 0.1/float64(i+1)
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	s := Default()
	s.Params.Learned = l
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !reflect.DeepEqual(got.Params.Learned, l) {
		t.Errorf("came back as %+v, %v", got.Params.Learned, err)
	}
	l.Basis = "another"
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || got.Params.Learned != nil {
		t.Errorf("what another version learned came back: %+v, %v", got.Params.Learned, err)
	}
}
