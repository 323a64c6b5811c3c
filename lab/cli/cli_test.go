package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blik/app/cli"
	"blik/app/imagefile"
	"blik/internal/test/testpic"
	"blik/lab/bench"
	"blik/processing"
)

// The exit statuses of the program.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
)

// outcome is the result of a run of the command line.
type outcome struct {
	status      int
	out, errors string
}

func call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t.Context(), nil, args...)
}

// callWith opens devices with open unless that is nil.
func callWith(ctx context.Context, open func(context.Context, string) (bench.Runner, error), args ...string) outcome {
	var out, errs bytes.Buffer
	status := cli.Run(ctx, args, cli.Options{
		Version: "1.2.3", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Extensions: commands(open),
		Getenv: func(string) string { return "" },
	})
	return outcome{status, out.String(), errs.String()}
}

// painting writes a grey picture with glints and returns its path.
func painting(t *testing.T, dir, name string) string {
	t.Helper()
	const w, h = 160, 120
	p := testpic.Flat(w, h, 1, 60)
	for i := range p.U8 {
		p.U8[i] += uint8(i * 7919 % 5)
	}
	for _, at := range [][2]int{{20, 20}, {80, 60}, {140, 100}} {
		for y := at[1] - 1; y <= at[1]+1; y++ {
			copy(p.U8[y*w+at[0]-1:], []uint8{250, 250, 250})
		}
	}
	path := filepath.Join(dir, name)
	if err := imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{}, p); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"score", dir}, "2 arguments expected, 1 given"},
		{[]string{"score", "--tol", "-1", dir, dir}, "--tol -1"},
		{[]string{"score", "--level", "255", dir, dir}, "--level 255"},
		{[]string{"sample", "--depth", "12"}, "--depth 12"},
		{[]string{"sample", "--glare", "huge"}, "--glare huge"},
		{[]string{"sample", "--scene", "dogs"}, "--scene dogs"},
		{[]string{"sample", "--width", "3"}, "width and height"},
		{[]string{"sample", "--megapixels", "5000"}, "--megapixels"},
		{[]string{"sample", "--megapixels", "1", "--width", "100"}, "--megapixels"},
		{[]string{"sample", "-o", filepath.Join(dir, "a.jpg")}, ".png"},
		{[]string{"sample", "extra"}, "0 arguments expected"},
	} {
		got := call(t, c.args...)
		if got.status != exitUsage || got.out != "" || !strings.Contains(got.errors, c.want) {
			t.Errorf("%q: %+v, want %q", c.args, got, c.want)
		}
	}
}

// The commands are listed among the others, but not the hidden one.
func TestListed(t *testing.T) {
	t.Parallel()
	got := call(t, "__complete", "help", "")
	for name, want := range map[string]bool{"bench": true, "sample": true, "score": true, "trainingset": false} {
		if strings.Contains(got.out, "\n"+name+"\n") != want {
			t.Errorf("%s: want %t in %q", name, want, got.out)
		}
	}
	if got := call(t, "__complete", "help", "bench", ""); !strings.Contains(got.out, "detect\n") {
		t.Errorf("%q", got.out)
	}
}

// No command replaces a file without --overwrite.
func TestNobodysFileIsReplaced(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	in := painting(t, t.TempDir(), "scan.png")
	own := []byte("painted by hand")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"s.png", []string{"sample", "--width", "32", "--height", "32", "-o", filepath.Join(out, "s.png")}},
		{"s_mask.png", []string{"sample", "--width", "32", "--height", "32", "-o", filepath.Join(out, "s.png")}},
		{"s_clean.png", []string{"sample", "--width", "32", "--height", "32", "--clean", "-o", filepath.Join(out, "s.png")}},
		{"sliding.csv", []string{"bench", "sliding", "--quick", "-q", "-o", out}},
		{"manifest.json", []string{"trainingset", "--paintings", in, "-o", out}},
	} {
		path := filepath.Join(out, c.name)
		if err := os.WriteFile(path, own, 0o600); err != nil {
			t.Fatal(err)
		}
		got := call(t, c.args...)
		if got.status == exitDone || !strings.Contains(got.errors, c.name) || !bytes.Equal(testpic.ReadFile(t, path), own) {
			t.Errorf("%v: %+v", c.args, got)
		}
		if entries := testpic.Listed(t, out); len(entries) != 1 {
			t.Errorf("%v left %v", c.args, entries)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paint := func(name string, args ...string) outcome {
		return call(t, append([]string{"sample", "--width", "120", "--height", "90", "-o", filepath.Join(dir, name)}, args...)...)
	}
	if got := paint("a.png", "--clean"); got.status != exitDone || !strings.Contains(got.out, "120 × 90") {
		t.Fatalf("%+v", got)
	}
	if got := paint("b.png", "-q"); got != (outcome{}) {
		t.Fatalf("%+v, want silence", got)
	}
	if want := []string{"a.png", "a_clean.png", "a_mask.png", "b.png", "b_mask.png"}; !slices.Equal(testpic.Listed(t, dir), want) {
		t.Errorf("written: %v, want %v", testpic.Listed(t, dir), want)
	}
	if !bytes.Equal(testpic.ReadFile(t, filepath.Join(dir, "a.png")), testpic.ReadFile(t, filepath.Join(dir, "b.png"))) {
		t.Error("the same seed gave two pictures")
	}
	paint("c.png", "--seed", "2", "--depth", "16", "--glare", noGlare)
	if exists(filepath.Join(dir, "c_mask.png")) {
		t.Error("a mask of no glare")
	}
	f, err := imagefile.Read(t.Context(), filepath.Join(dir, "c.png"), imagefile.DefaultLimits())
	if err != nil || f.Picture.U16 == nil || f.Picture.Width != 120 || f.Picture.Height != 90 {
		t.Errorf("16 bits: %v", err)
	}
	if got := call(t, "sample", "-o", filepath.Join(dir, "d.png"), "--megapixels", "0.03"); got.status != exitDone || !strings.Contains(got.out, "200 × 150") {
		t.Errorf("%+v", got)
	}
}

// The picture without glare differs from that with glare where the glare is, and elsewhere by noise and veil only.
func TestSampleOfReliefWithoutGlare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := call(t, "sample", "--width", "240", "--height", "180", "--glare", reliefGlare, "--clean", "-o", filepath.Join(dir, "a.png"))
	if got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	var pictures [3]*processing.Picture
	for i, name := range []string{"a.png", "a_clean.png", "a_mask.png"} {
		f, err := imagefile.Read(t.Context(), filepath.Join(dir, name), imagefile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		pictures[i] = f.Picture
	}
	lit, clean, mask := pictures[0].U8, pictures[1].U8, pictures[2].U8
	var beside, glints []int
	for i, m := range mask {
		c := i * len(lit) / len(mask)
		if d := int(lit[c]) - int(clean[c]); m == 0 {
			beside = append(beside, max(d, -d))
		} else {
			glints = append(glints, d)
		}
	}
	slices.Sort(beside)
	slices.Sort(glints)
	if len(glints) == 0 || glints[len(glints)/2] < 10 || beside[len(beside)*9/10] > 8 {
		t.Errorf("%d glints; beside them up to %d in nine of ten places", len(glints), beside[len(beside)*9/10])
	}
}

// scorePy returns an interpreter and the script that it can run, ../shared/tools/score.py, or skips the test.
func scorePy(t *testing.T) (python, script string) {
	t.Helper()
	testpic.Long(t)
	script = testpic.SharedTool(t, "score.py")
	return testpic.Python(t, "cv2", "numpy", "scipy"), script
}

// On real pictures, detect and score print exactly the table of score.py.
func TestScoreEqualsScorePy(t *testing.T) {
	t.Parallel()
	testpic.Slow(t)
	py, script := scorePy(t)
	truth := testpic.Shared(t, "glare-dev")
	dir := t.TempDir()
	if got := call(t, "detect", "-q", "-o", dir, truth+"/d0[1-3]_*_glare.*"); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	for _, args := range [][]string{nil, {"--tol", "3", "--level", "10"}} {
		got := call(t, append([]string{"score", truth, dir}, args...)...)
		want, err := exec.Command(py, append([]string{script, "--gt", truth, "--pred", dir}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		table := regexp.MustCompile(`(?m)^missing prediction.*\n`).ReplaceAllString(string(want), "")
		if got.out != table {
			t.Errorf("%v: got\n%s\nwant\n%s", args, got.out, table)
		}
		if got.status != exitFailed || strings.Count(got.errors, "no prediction; scored as empty") != 3 {
			t.Errorf("three predictions are missing: status %d, %q", got.status, got.errors)
		}
	}

	negatives := testpic.Shared(t, "negatives")
	if got := call(t, "detect", "-q", "--sensitivity", "5", "-o", dir, negatives+"/*.png"); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	got := call(t, "score", "--negatives", negatives, dir)
	want, err := exec.Command(py, script, "--negatives", negatives, "--pred", dir).Output()
	if err != nil || got.out != string(want) || got.status != exitDone {
		t.Errorf("negatives: %+v, want\n%s%v", got, want, err)
	}
}

func writeMask(t *testing.T, path string, w int, pix ...uint8) string {
	t.Helper()
	if err := imagefile.WriteMask(t.Context(), path, imagefile.WriteOptions{Overwrite: true}, &processing.Mask{Width: w, Height: len(pix) / w, Pix: pix}); err != nil {
		t.Fatal(err)
	}
	return path
}

// The table for small literal masks, which score.py prints as well.
func TestScoreTable(t *testing.T) {
	t.Parallel()
	truthDir, predDir := t.TempDir(), t.TempDir()
	truth := writeMask(t, filepath.Join(truthDir, "a_mask.png"), 6,
		255, 255, 0, 0, 0, 0,
		255, 255, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 255, 0)
	pred := writeMask(t, filepath.Join(predDir, "a.png"), 6,
		0, 200, 0, 0, 0, 0,
		0, 200, 200, 0, 0, 90,
		0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0)
	writeMask(t, filepath.Join(truthDir, "long_name_of_a_painting_by_someone_mask.png"), 2, 0, 0)
	writeMask(t, filepath.Join(predDir, "long_name_of_a_painting_by_someone_glare_mask.png"), 2, 0, 255)
	const head = "image                          P     R    F1 |    P1    R1   F1t |  objR  objP   FPppm\n"
	const row = " 0.667 0.400 0.500 | 1.000 0.800 0.889 | 0.500 1.000       0\n"

	if got := call(t, "score", truth, pred); got.status != exitDone ||
		got.out != head+"a                         "+row+"MEAN of 1                 "+row {
		t.Errorf("two files: %+v", got)
	}
	if got := call(t, "score", "--limit", "0.00001", truth, pred); got.status != exitFailed ||
		!strings.Contains(got.errors, "limit of") {
		t.Errorf("--limit: %+v", got)
	}
	if got := call(t, "score", "--level", "80", truth, pred); !strings.Contains(got.out, "0.500 0.400 0.444") {
		t.Errorf("--level 80: %+v", got)
	}
	want := head + "a                         " + row +
		"long_name_of_a_painting_by 0.000 1.000 0.000 | 0.000 1.000 0.000 | 1.000 0.000  500000\n" +
		"MEAN of 2                  0.333 0.700 0.250 | 0.500 0.900 0.444 | 0.750 0.500  250000\n"
	if got := call(t, "score", truthDir, predDir); got.status != exitDone || got.out != want {
		t.Errorf("two folders: %+v, want\n%s", got, want)
	}
	got := call(t, "score", truth, filepath.Join(predDir, "long_name_of_a_painting_by_someone_glare_mask.png"))
	if got.status != exitFailed || !strings.Contains(got.errors, "the mask has 2 × 1 pixels, the picture 6 × 4; scored as empty") {
		t.Errorf("another size: %+v", got)
	}

	for name, args := range map[string][]string{
		"no such file":              {"score", filepath.Join(truthDir, "none.png"), pred},
		"no such folder":            {"score", truthDir, filepath.Join(predDir, "none")},
		"not a folder":              {"score", truthDir, pred},
		"neither a manifest.json":   {"score", t.TempDir(), predDir},
		"contains no PNG pictures":  {"score", "--negatives", t.TempDir(), predDir},
		"no such folder, negatives": {"score", "--negatives", filepath.Join(predDir, "none"), predDir},
	} {
		says, _, _ := strings.Cut(name, ",")
		if got := call(t, args...); got.status != exitFailed || !strings.Contains(got.errors, says) {
			t.Errorf("%v: %+v, want %q", args, got, says)
		}
	}
}

// A manifest lists the items; those without a stored picture are left out with a remark.
func TestScoreManifest(t *testing.T) {
	t.Parallel()
	truthDir, predDir, large := t.TempDir(), t.TempDir(), t.TempDir()
	writeMask(t, filepath.Join(truthDir, "m1.png"), 2, 255, 0)
	writeMask(t, filepath.Join(truthDir, "m2.png"), 2, 255, 0)
	writeMask(t, filepath.Join(truthDir, "g1.png"), 2, 0, 0)
	writeMask(t, filepath.Join(predDir, "one_glare.png"), 2, 255, 0)
	writeMask(t, filepath.Join(predDir, "two_pred.png"), 2, 255, 0)
	manifest := `{"items": [{"name": "one", "mask": "m1.png", "glare": "g1.png"}, {"name": "two", "mask": "m2.png", "glare": "g2.png"}]}`
	path := filepath.Join(truthDir, "manifest.json")
	if err := os.WriteFile(path, []byte(manifest), 0o666); err != nil {
		t.Fatal(err)
	}
	got := call(t, "score", truthDir, predDir)
	if got.status != exitDone || !strings.Contains(got.out, "MEAN of 1 ") || !strings.Contains(got.errors, "g2.png is not stored; left out") {
		t.Errorf("%+v", got)
	}
	writeMask(t, filepath.Join(large, "g2.png"), 2, 0, 0)
	got = call(t, "score", "--large-dir", large, truthDir, predDir)
	if got.status != exitDone || !strings.Contains(got.out, "MEAN of 2 ") || got.errors != "" {
		t.Errorf("with the large folder: %+v", got)
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "score", truthDir, predDir); got.status != exitFailed || !strings.Contains(got.errors, "no valid manifest") {
		t.Errorf("a broken manifest: %+v", got)
	}
}
