package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file whose outputs a killed run had finished counts as done; any other existing output does not, and neither do
// those of other work or of an original that had the same name.
func TestCompleted(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(in, []byte("one"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := &Workshop{Work: Default()}
	about := (&task{Workshop: s, input: in}).about()
	s.Completed = map[string]string{"a_mask.png": about, "a.csv": about}
	for outputs, want := range map[string]bool{
		"a_mask.png a.csv": true, "a_mask.png": true, "a_mask.png b.csv": false, "b.csv": false,
	} {
		task := &task{Workshop: s, input: in}
		paths := strings.Fields(outputs)
		for i, name := range paths {
			paths[i] = filepath.Join("out", name)
		}
		if got := task.done(paths); got != want || got != task.Outcome.Completed {
			t.Errorf("%s: %v, %+v", outputs, got, task.Outcome)
		}
	}
	done := func() bool { return (&task{Workshop: s, input: in}).done([]string{"a.csv"}) }
	s.Work.Params.Sensitivity = 2
	if done() {
		t.Error("done with another sensitivity")
	}
	s.Work = Default()
	s.Work.Overwrite = true
	if done() {
		t.Error("with --overwrite nothing is left alone")
	}
	s.Work = Default()
	if err := os.WriteFile(in, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if done() {
		t.Error("another original")
	}
}

// Every option has a flag's name, and its field belongs to the work that it is called on.
func TestOptions(t *testing.T) {
	t.Parallel()
	seen := map[any]string{}
	w := Default()
	for _, o := range Options(Detection | Correction | Masked | Tables) {
		field := o.Field(&w)
		if other, ok := seen[field]; ok {
			t.Errorf("--%s and --%s set the same", other, o.Name)
		}
		seen[field] = o.Name
		if o.Help == "" || o.Of == 0 {
			t.Errorf("%+v", o)
		}
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func TestFindMask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a_mask.png", "a.tif", "b.png", "c_glare.png", "c_mask.tif", "d_pred.jpg", "e_glare_mask.png"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a": "a_mask.png", "b": "b.png", "c_glare": "c_mask.tif", "d": "d_pred.jpg", "e": "e_glare_mask.png", "e_glare": "e_glare_mask.png", "f": ""} {
		picture := filepath.Join("elsewhere", name+".png")
		if name == "c_glare" {
			picture = filepath.Join(dir, "c_glare.png") // which is no mask of itself
		}
		got, err := (&Work{MaskFolder: dir}).maskOf(picture)
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
}
