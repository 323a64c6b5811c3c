package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

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
