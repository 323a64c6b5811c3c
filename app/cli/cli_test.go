package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/preset"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"

	"github.com/spf13/cobra"
)

// outcome is the result of a run of the command line.
type outcome struct {
	status      int
	out, errors string
}

func call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t.Context(), Options{}, args...)
}

func callWith(ctx context.Context, o Options, args ...string) outcome {
	var out, errs bytes.Buffer
	o.Version, o.Stdin, o.Stdout, o.Stderr = "1.2.3", strings.NewReader(""), &out, &errs
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	return outcome{Run(ctx, args, o), out.String(), errs.String()}
}

// painting writes a grey picture with glints at known positions and returns its path.
func painting(t *testing.T, dir, name string) string {
	t.Helper()
	const w, h = 160, 120
	p := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
	for i := range p.U8 {
		p.U8[i] = uint8(60 + i*7919%5)
	}
	for _, at := range glints() {
		for y := at[1] - 1; y <= at[1]+1; y++ {
			for x := at[0] - 1; x <= at[0]+1; x++ {
				p.U8[y*w+x] = 250
			}
		}
	}
	path := filepath.Join(dir, name)
	if err := imagefile.WritePNG(t.Context(), path, imagefile.WriteOptions{Overwrite: true}, p); err != nil {
		t.Fatal(err)
	}
	return path
}

func glints() [][2]int { return [][2]int{{20, 20}, {80, 60}, {140, 100}} }

func exist(paths ...string) bool {
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return false
		}
	}
	return true
}

func TestDetectWritesMaskAndFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "scan.v2.png")
	out := filepath.Join(dir, "new", "folder")
	got := call(t, "detect", "--marked", "--timing", "-o", out, in)
	if got.status != exitDone || got.errors != "" {
		t.Fatalf("status %d, stderr %q", got.status, got.errors)
	}
	if want := []string{"scan.v2_findings.csv", "scan.v2_findings.json", "scan.v2_marked.png", "scan.v2_mask.png"}; !slices.Equal(testpic.Listed(t, out), want) {
		t.Errorf("written: %v, want %v", testpic.Listed(t, out), want)
	}
	m, err := imagefile.ReadMask(t.Context(), filepath.Join(out, "scan.v2_mask.png"), 160, 120, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range glints() {
		if m.Pix[at[1]*160+at[0]] != 255 {
			t.Errorf("the glint at %v is not in the mask", at)
		}
	}
	for i, v := range m.Pix {
		if v != 0 && v != 255 {
			t.Fatalf("mask value %d at %d", v, i)
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(testpic.ReadFile(t, filepath.Join(out, "scan.v2_findings.csv")))).ReadAll()
	if err != nil || len(rows) != 1+len(glints()) || rows[1][0] != "scan.v2.png" {
		t.Errorf("CSV: %q, %v", rows, err)
	}
	var found struct {
		File, Program, Mode string
		Findings            []detect.Finding
		Chosen              []struct{ ID string }
	}
	if err := json.Unmarshal(testpic.ReadFile(t, filepath.Join(out, "scan.v2_findings.json")), &found); err != nil {
		t.Fatal(err)
	}
	if found.File != "scan.v2.png" || found.Program != "1.2.3" || found.Mode != "adaptive" || len(found.Findings) != 3 {
		t.Errorf("JSON: %+v", found)
	}
	for _, says := range []string{"findings: 3", "network", "outlines", "read file", "write files", "total", "160 × 120", "device cpu"} {
		if !strings.Contains(got.out, says) {
			t.Errorf("stdout lacks %q:\n%s", says, got.out)
		}
	}
	if runtime.GOOS == "linux" && !strings.Contains(got.out, "peak memory") {
		t.Error("no peak memory")
	}
}

// The values that adaptive mode chose are stored with the findings and reproduce the mask.
func TestAdaptiveResultRepeats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	if got := call(t, "detect", "-q", "-o", first, in); got != (outcome{}) {
		t.Fatalf("%+v, want silence", got)
	}
	var found struct{ Preset json.RawMessage }
	if err := json.Unmarshal(testpic.ReadFile(t, filepath.Join(first, "a_findings.json")), &found); err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(dir, "p.json")
	if err := os.WriteFile(stored, found.Preset, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "detect", "-q", "--preset", stored, "-o", second, in); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	if !bytes.Equal(testpic.ReadFile(t, filepath.Join(first, "a_mask.png")), testpic.ReadFile(t, filepath.Join(second, "a_mask.png"))) {
		t.Error("the masks differ")
	}
}

func TestPresetsAndModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	base := processing.DefaultParams()
	base.Mode, base.Window, base.Margin = processing.Manual, 15, 2
	stored := filepath.Join(dir, "base.json")
	if err := preset.Write(t.Context(), stored, base); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want func(*processing.Params)
	}{
		{nil, func(*processing.Params) {}},
		{[]string{"--auto"}, func(*processing.Params) {}},
		{[]string{"--sensitivity", "-1,5", "--margin=3"}, func(p *processing.Params) { p.Sensitivity, p.Margin = -1.5, 3 }},
		{[]string{"--window", "21"}, func(p *processing.Params) { p.Mode, p.Window = processing.Manual, 21 }},
		{[]string{"--min-area=2", "--fill=false"}, func(p *processing.Params) { p.Mode, p.MinArea, p.Fill = processing.Manual, 2, false }},
		{[]string{"--mode", "manual"}, func(p *processing.Params) { p.Mode = processing.Manual }},
		{[]string{"--mode", "adaptive", "--window", "21"}, func(p *processing.Params) { p.Window = 21 }},
		{[]string{"--preset", stored}, func(p *processing.Params) { *p = base }},
		{[]string{"--preset", stored, "--window", "9"}, func(p *processing.Params) { *p = base; p.Window = 9 }},
		{[]string{"--preset", stored, "--auto"}, func(p *processing.Params) { *p = base; p.Mode = processing.Adaptive }},
	} {
		want := processing.DefaultParams()
		c.want(&want)
		saved := filepath.Join(t.TempDir(), "saved.json")
		got := call(t, append([]string{"detect", "-q", "--overwrite", "-o", dir, "--save-preset", saved, in}, c.args...)...)
		if got.status != exitDone {
			t.Errorf("%v: %+v", c.args, got)
			continue
		}
		if p, _, err := preset.Read(saved); err != nil || p != want {
			t.Errorf("%v: used %+v, %v; want %+v", c.args, p, err, want)
		}
		if ignored := strings.Contains(got.errors, "ignores --window"); ignored != slices.Contains(c.args, "adaptive") {
			t.Errorf("%v: stderr %q", c.args, got.errors)
		}
	}
	only := filepath.Join(t.TempDir(), "only.json")
	if got := call(t, "detect", "--save-preset", only, "--window", "9"); got.status != exitDone || !exist(only) {
		t.Errorf("storing a preset without files: %+v", got)
	}
	if got := call(t, "detect", "--save-preset", only, "--window", "11"); got.status != exitFailed || !strings.Contains(got.errors, "--overwrite replaces it") {
		t.Errorf("storing a preset again: %+v", got)
	}
	if got := call(t, "detect", "--overwrite", "--save-preset", only, "--window", "11"); got.status != exitDone {
		t.Errorf("storing a preset again: %+v", got)
	}
	if got := call(t, "detect", "--overwrite", "--preset", only, "--save-preset", only); got.status != exitUsage || !strings.Contains(got.errors, "--preset reads this file; give another name") {
		t.Errorf("storing a preset over itself: %+v", got)
	}
	other := filepath.Join(t.TempDir(), "batch.json")
	if got := call(t, "batch", "--save-preset", other, "--window", "9"); got.status != exitDone || !exist(other) {
		t.Errorf("storing a preset with batch: %+v", got)
	}
	// As in `blik detect --save-preset *.png`.
	before := testpic.ReadFile(t, in)
	for _, path := range []string{in, t.TempDir()} {
		if got := call(t, "detect", "-o", dir, "--save-preset", path); got.status != exitUsage || !strings.Contains(got.errors, "file exists and is not a preset; not overwritten") {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if !bytes.Equal(testpic.ReadFile(t, in), before) {
		t.Error("a picture was replaced by a preset")
	}
}

func TestRegion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := call(t, "detect", "-o", dir, "--region", "rect:60,40,40,40", in)
	if got.status != exitDone || !strings.Contains(got.out, "findings: 1;") {
		t.Errorf("%+v", got)
	}
	m, err := imagefile.ReadMask(t.Context(), filepath.Join(dir, "a_mask.png"), 160, 120, imagefile.DefaultLimits())
	if err != nil || m.Pix[60*160+80] != 255 || m.Pix[20*160+20] != 0 {
		t.Errorf("the mask is not clipped to the region: %v", err)
	}
	got = call(t, "detect", "--overwrite", "-o", dir, "--region", "rect:500,500,10,10", in)
	want := "blik: " + in + ": the region rect:500,500,10,10 lies outside the picture of 160 × 120 pixels\n"
	if got.status != exitFailed || got.errors != want {
		t.Errorf("a region outside: %+v, want %q", got, want)
	}
}

// Each bad file causes one line on stderr and status 1, and the good one is still processed.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := painting(t, dir, "good.png")
	data := testpic.ReadFile(t, good)
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad := map[string]string{
		filepath.Join(dir, "missing.tif"):        "no such file",
		filepath.Join(dir, "no*match.tif"):       "no such file",
		put("empty.jpg", nil):                    "the file is empty",
		put("cut.png", data[:len(data)/2]):       "the file is truncated",
		put("text.tif", []byte("a shopping li")): "this is not a picture",
		dir:                                      "this is a folder",
	}
	args := []string{"detect", "-o", filepath.Join(dir, "out")}
	for path := range bad {
		args = append(args, path)
	}
	got := call(t, append(args, good)...)
	if got.status != exitFailed {
		t.Errorf("status %d", got.status)
	}
	lines := strings.Split(strings.TrimSuffix(got.errors, "\n"), "\n")
	if len(lines) != len(bad) {
		t.Errorf("%d lines for %d bad files: %q", len(lines), len(bad), lines)
	}
	for path, says := range bad {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "blik: "+path+": "+says) }) {
			t.Errorf("no line says %s: %s\n%s", path, says, got.errors)
		}
	}
	if want := []string{"good_findings.csv", "good_findings.json", "good_mask.png"}; !slices.Equal(testpic.Listed(t, filepath.Join(dir, "out")), want) {
		t.Errorf("written: %v", testpic.Listed(t, filepath.Join(dir, "out")))
	}
	large := call(t, "detect", "--limit", "0.01", "-o", dir, good)
	if large.status != exitFailed || !strings.Contains(large.errors, good+": 160 × 120 pixels are more than the limit of 0.01 MP") {
		t.Errorf("larger than the limit: %+v", large)
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	twin := painting(t, filepath.Dir(painting(t, t.TempDir(), "b.png")), "a.png")
	newer := filepath.Join(dir, "newer.json")
	even := filepath.Join(dir, "even.json")
	if err := errors.Join(
		os.WriteFile(newer, []byte(`{"format": "blik preset", "version": 9, "values": {}}`), 0o666),
		os.WriteFile(even, []byte(`{"format": "blik preset", "version": 1, "values": {"window": 8}}`), 0o666),
	); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"detect"}, "no files given"},
		{[]string{"detect", "--wobble", in}, "unknown flag --wobble"},
		{[]string{"detect", "-x", in}, "unknown flag -x"},
		{[]string{"detect", in, "--output"}, "--output needs a value"},
		{[]string{"detect", "--window", "12", in}, "--window 12: must be an odd whole number between 3 and 63 px"},
		{[]string{"detect", "--window", "1001", in}, "must be an odd whole number"},
		{[]string{"detect", "--min-area", "1.5", in}, "must be a whole number between 1 and 1000 px"},
		{[]string{"detect", "--contrast", "lots", in}, "must be a number between 1 and 95 % of white"},
		{[]string{"detect", "--sensitivity", "high", in},
			"must be a number between -5 and 5, or one of certain, balanced, visible, dim"},
		{[]string{"detect", "--mode", "clever", in}, "must be one of adaptive, manual"},
		{[]string{"detect", "--fill=perhaps", in}, "must be true or false"},
		{[]string{"detect", "--auto", "--window", "11", in}, "cannot be combined with --window"},
		{[]string{"detect", "--auto", "--mode", "manual", in}, "contradict"},
		{[]string{"detect", "--region", "circle:1,2,3", in}, "the shape must be"},
		{[]string{"detect", "--device", "abacus", in}, "--device abacus: must be auto, cpu, cuda or cuda:N"},
		{[]string{"detect", "--limit", "0", in}, "--limit 0"},
		{[]string{"detect", "--limit", "x", in}, "--limit x: invalid value"},
		{[]string{"detect", "--preset", newer, in}, newer + ": the preset has version 9"},
		{[]string{"detect", "--preset", even, in}, "sets window to 8"},
		{[]string{"detect", "--preset", filepath.Join(dir, "none.json"), in}, "no such file"},
		{[]string{"detect", in, twin}, "would both write a_mask.png"},
		{[]string{"detect", "--lang", "fr", in}, "--lang fr: must be en or ru"},
		{[]string{"detect", ""}, "argument 1 is empty"},
		{[]string{"detect", in, ""}, "argument 2 is empty"},
		{[]string{"detect", in, "--output", ""}, "--output needs a value"},
		{[]string{"detect", "--preset", "", in}, "--preset needs a value"},
		{[]string{"detect", "--limit", "", in}, "--limit needs a value"},
		{[]string{"detect", "--region=", in}, "--region needs a value"},
		{[]string{"batch", "--root", "", in}, "--root needs a value"},
		{[]string{"batch", "--device", "", in}, "--device needs a value"},
		{[]string{"help", "bogus"}, `no help on "bogus"; choose from batch, completion, correct, detect, devices, doctor, farm, help, learn, open, parameters, verify, version`},
		{[]string{"detcet"}, "did you mean detect?"},
		{[]string{filepath.Join(dir, "none.png")}, "neither a command nor a file"},
	} {
		args := c.args
		if args[0] == "detect" {
			args = append([]string{"detect", "-o", out}, args[1:]...)
		}
		if slices.Contains(c.args, "--output") {
			args = c.args
		}
		got := call(t, args...)
		first, rest, _ := strings.Cut(got.errors, "\n")
		if got.status != exitUsage || !strings.HasPrefix(first, "blik: ") || !strings.Contains(first, c.says) || !strings.HasPrefix(rest, "See `blik") || got.out != "" {
			t.Errorf("%v: %+v, want status 2 and %q", c.args, got, c.says)
		}
	}
	if exist(out) {
		t.Errorf("wrong use wrote %v", testpic.Listed(t, out))
	}
}

// A result never replaces an input, which could happen if all of a folder of pictures and masks is given.
func TestInputIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	painting(t, dir, "a.png")
	mask := painting(t, dir, "a_mask.png")
	before := testpic.ReadFile(t, mask)
	got := call(t, "detect", "-o", dir, filepath.Join(dir, "*.png"))
	if got.status != exitUsage || !strings.Contains(got.errors, "a_mask.png is an input and would be overwritten") {
		t.Errorf("%+v", got)
	}
	if !bytes.Equal(testpic.ReadFile(t, mask), before) || len(testpic.Listed(t, dir)) != 2 {
		t.Errorf("the folder now holds %v", testpic.Listed(t, dir))
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.png", "c.tif", "[x].png"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	for _, c := range []struct{ args, want []string }{
		{at("*.png"), at("[x].png", "a.png", "b.png")},
		{at("?.*"), at("a.png", "b.png", "c.tif")},
		{at("[x].png"), at("[x].png")},
		{at("a.png", "*.png"), at("a.png", "[x].png", "b.png")},
		{at("no*.png", "c.tif"), at("no*.png", "c.tif")},
		{nil, nil},
	} {
		if got := expand(c.args); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
	}
}

func TestOutputFolderThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	if got := call(t, "detect", "-o", in, in); got.status != exitFailed || !strings.Contains(got.errors, "this is a file, not a folder") {
		t.Errorf("a file for a folder: %+v", got)
	}
	if got := call(t, "detect", "-o", filepath.Join(in, "sub"), in); got.status != exitFailed || strings.Count(got.errors, "\n") != 1 {
		t.Errorf("a folder in a file: %+v", got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err == nil { // Windows may not permit it
		if got := call(t, "detect", "-o", link, in); got.status != exitFailed || !strings.Contains(got.errors, "this is a link to a folder that does not exist") {
			t.Errorf("a dangling link: %+v", got)
		}
	}
	if os.Getuid() <= 0 {
		t.Log("as root, and in Windows, no folder is read-only; package imagefile tests failing disks")
		return
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "detect", "-o", closed, in); got.status != exitFailed || !strings.Contains(got.errors, "no permission") {
		t.Errorf("read-only folder: %+v", got)
	}
	if got := call(t, "detect", "-o", filepath.Join(closed, "sub"), in); got.status != exitFailed || !strings.Contains(got.errors, "no permission") {
		t.Errorf("folder in a read-only one: %+v", got)
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A command whose results cannot be printed has failed, once its work is done.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := painting(t, dir, "a.png"), painting(t, dir, "b.png")
	out := filepath.Join(dir, "out")
	if got := call(t, "correct", "-o", dir, a); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	for _, args := range [][]string{
		{"detect", "-o", out, a, b},
		{"batch", "-o", filepath.Join(dir, "batch"), "--store", filepath.Join(dir, "store"), a},
		{"verify", a, filepath.Join(dir, "a_corrected.png")},
		{"version"}, {"devices"}, {"help", "parameters"}, {"detect", "--help"}, {"completion", "bash"},
	} {
		var errs bytes.Buffer
		o := Options{Stdout: full{}, Stderr: &errs, Getenv: func(string) string { return "" }, childArguments: asChild}
		if status := Run(t.Context(), args, o); status != exitFailed || errs.String() != "blik: no space left\n" {
			t.Errorf("%v: %d, %q", args, status, errs.String())
		}
	}
	if n := len(testpic.Listed(t, out)); n != 6 {
		t.Errorf("detection wrote %v", testpic.Listed(t, out))
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	out := filepath.Join(dir, "out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := callWith(ctx, Options{}, "detect", "-o", out, in)
	if got.status != exitCancelled || got.errors != "blik: cancelled\n" || len(testpic.Listed(t, out)) != 0 {
		t.Errorf("cancelled before: %+v, wrote %v", got, testpic.Listed(t, out))
	}

	// Cancelled by the first operation of detection.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	o := Options{backend: func() (processing.Backend, error) {
		return hooked{cpu.New(), func() { cancel() }}, nil
	}}
	got = callWith(ctx, o, "detect", "-o", out, in)
	if got.status != exitCancelled || got.errors != "blik: cancelled\n" || got.out != "" || len(testpic.Listed(t, out)) != 0 {
		t.Errorf("cancelled within: %+v, wrote %v", got, testpic.Listed(t, out))
	}
}

// hooked is a Backend that calls hook before the first operation of a picture.
type hooked struct {
	processing.Backend
	hook func()
}

func (h hooked) Do(ctx context.Context, op processing.Op) error {
	if _, first := op.(processing.Luminance); first {
		h.hook()
	}
	return h.Backend.Do(ctx, op)
}

// Ctrl-C on a real process: the test starts itself as the program, which waits during detection until it is
// interrupted.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	testpic.Need(t, runtime.GOOS != "windows", "a system with signals between processes")
	const variable = "BLIK_TEST_INTERRUPT"
	if args := os.Getenv(variable); args != "" {
		o := Options{Version: "1", Stdout: os.Stdout, Stderr: os.Stderr}
		o.backend = func() (processing.Backend, error) {
			return waiting{cpu.New()}, nil
		}
		os.Exit(Main(strings.Split(args, "\n"), o))
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	cmd := exec.Command(os.Args[0], "-test.run=^TestInterrupt$")
	cmd.Env = append(os.Environ(), "LC_ALL=C", variable+"="+strings.Join([]string{"detect", "-o", out, painting(t, dir, "a.png")}, "\n"))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := pipe.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitCancelled || errs.String() != "blik: cancelled\n" {
		t.Errorf("%v, stderr %q", err, errs.String())
	}
	if len(testpic.Listed(t, out)) != 0 {
		t.Errorf("written: %v", testpic.Listed(t, out))
	}
}

// waiting is a Backend that prints that it waits, and waits until it is cancelled.
type waiting struct{ processing.Backend }

func (waiting) Do(ctx context.Context, _ processing.Op) error {
	os.Stdout.WriteString("waiting\n")
	<-ctx.Done()
	return ctx.Err()
}

// A panic during one file causes a sentence about that file with the path of the crash log; the other is still
// processed.
func TestPanicIsASentence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := painting(t, dir, "a.png"), painting(t, dir, "b.png")
	n := 0
	var stack []byte
	o := Options{
		backend: func() (processing.Backend, error) {
			return hooked{cpu.New(), func() {
				if n++; n == 1 {
					panic("a slip")
				}
			}}, nil
		},
		Recovered: func(_ any, s []byte) string { stack = s; return "/logs/crash.log" },
	}
	got := callWith(t.Context(), o, "detect", "-o", dir, first, second)
	if got.status != exitFailed || got.errors != "blik: "+first+": internal error: a slip; details in /logs/crash.log\n" {
		t.Errorf("%+v", got)
	}
	if !bytes.Contains(stack, []byte("TestPanicIsASentence")) {
		t.Error("the record has no stack")
	}
	if exist(filepath.Join(dir, "a_mask.png")) || !exist(filepath.Join(dir, "b_mask.png")) {
		t.Errorf("written: %v", testpic.Listed(t, dir))
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "x.png")
	env := func(kv map[string]string) Options {
		return Options{Getenv: func(k string) string { return kv[k] }}
	}
	for _, c := range []struct {
		name string
		o    Options
		args []string
		want string
	}{
		{"nothing set", env(nil), nil, "no such file"},
		{"LANG", env(map[string]string{"LANG": "ru_RU.UTF-8"}), nil, "нет такого файла"},
		{"LC_ALL wins", env(map[string]string{"LANG": "ru_RU.UTF-8", "LC_ALL": "C"}), nil, "no such file"},
		{"--lang wins", env(map[string]string{"LC_ALL": "C"}), []string{"--lang", "ru"}, "нет такого файла"},
		{"--lang=", env(nil), []string{"--lang=ru"}, "нет такого файла"},
		{"another language", env(map[string]string{"LANG": "tlh_XX.UTF-8"}), nil, "no such file"},
	} {
		got := callWith(t.Context(), c.o, append([]string{"detect", "-o", dir, missing}, c.args...)...)
		if got.status != exitFailed || !strings.Contains(got.errors, c.want) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
	in := painting(t, dir, "a.png")
	got := call(t, "detect", "--lang", "ru", "--timing", "-o", dir, in)
	for _, says := range []string{"находок: 3", "контуры", "чтение файла", "сеть", "всего"} {
		if !strings.Contains(got.out, says) {
			t.Errorf("Russian output lacks %q:\n%s", says, got.out)
		}
	}
	got = call(t, "correct", "--lang", "ru", "--timing", "-o", dir, in)
	_, times, _ := strings.Cut(got.out, "вычислительный код: ")
	_, times, _ = strings.Cut(times, "\n")
	if times == "" || strings.ContainsFunc(times, func(r rune) bool { return r == '.' || r >= 'a' && r <= 'z' }) {
		t.Errorf("the times are not entirely in Russian:\n%s", got.out)
	}
}

// Every parameter is a flag, described in both languages, and accepts the ends of its range.
func TestEveryParameterIsAFlag(t *testing.T) {
	t.Parallel()
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for _, lang := range []string{"en", "ru"} {
		help := call(t, "correct", "--help-all", "--lang", lang)
		detect := call(t, "detect", "--help-all", "--lang", lang)
		manual := call(t, "help", "parameters", "--lang", lang)
		flat := words(help.out)
		for _, s := range processing.Specs() {
			if !strings.Contains(help.out, "--"+s.ID+" ") || !strings.Contains(flat, words(i18n.For(lang).Sprint(s.Help))) || !strings.Contains(flat, i18n.For(lang).Sprint(s.Unit)) {
				t.Errorf("%s: the help of correct does not describe --%s", lang, s.ID)
			}
			if strings.Contains(detect.out, "--"+s.ID+" ") != (s.Stage == processing.StageDetection) {
				t.Errorf("%s: detect should have the parameters of detection and no other: --%s", lang, s.ID)
			}
			if !strings.Contains(manual.out, "| `--"+s.ID+"` |") || !strings.Contains(manual.out, i18n.For(lang).Sprint(s.Help)) {
				t.Errorf("%s: the manual does not describe --%s", lang, s.ID)
			}
			if strings.Contains(flat, "Включает ручной режим") != (lang == "ru") {
				t.Errorf("%s: manual parameters are not told apart", lang)
			}
		}
		for _, line := range strings.Split(help.out, "\n") {
			if n := len([]rune(line)); strings.HasPrefix(line, "      ") && n > helpWidth+2 {
				t.Errorf("%s: a line of %d characters: %q", lang, n, line)
			}
		}
	}
	for _, s := range processing.Specs() {
		for _, v := range []float64{s.Min, s.Max} {
			saved := filepath.Join(t.TempDir(), "p.json")
			got := call(t, "correct", "--save-preset", saved, "--"+s.ID+"="+s.Format(v))
			if p, _, err := preset.Read(saved); got.status != exitDone || err != nil || s.Get(p) != v {
				t.Errorf("--%s=%s: %+v, %v", s.ID, s.Format(v), got, err)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	display := func(k string) string { return map[string]string{"DISPLAY": ":0", "LANG": "ru_RU.UTF-8"}[k] }
	var opened []Window
	open := func(_ context.Context, w Window) error { opened = append(opened, w); return nil }
	for _, c := range []struct {
		args []string
		want Window
	}{
		{nil, Window{}},
		{[]string{in}, Window{Files: []string{in}}},
		{[]string{"open", in}, Window{Files: []string{in}}},
		{[]string{"open"}, Window{}},
		{[]string{"open", "--detect", in, "--lang", "en"}, Window{Files: []string{in}, Lang: "en", Detect: true}},
	} {
		opened = nil
		got := callWith(t.Context(), Options{Getenv: display, Window: open}, c.args...)
		if got != (outcome{}) || len(opened) != 1 || !slices.Equal(opened[0].Files, c.want.Files) || opened[0].Lang != c.want.Lang || opened[0].Detect != c.want.Detect {
			t.Errorf("%v: %+v opened %+v, want %+v", c.args, got, opened, c.want)
		}
	}

	if got := call(t); got.status != exitDone || !strings.Contains(got.out, "Commands:") || !strings.HasSuffix(got.out, "This build has no window.\n") {
		t.Errorf("without a window: %+v", got)
	}
	if got := call(t, "open", in); got.status != exitFailed || !strings.Contains(got.errors, "this build has no window") {
		t.Errorf("open without a window: %+v", got)
	}
	if runtime.GOOS == "linux" {
		opened = nil
		got := callWith(t.Context(), Options{Window: open}, in)
		if got.status != exitFailed || !strings.Contains(got.errors, "neither DISPLAY nor WAYLAND_DISPLAY is set") || len(opened) != 0 {
			t.Errorf("without a display: %+v", got)
		}
	}
	broken := func(context.Context, Window) error { return errors.New("no GL") }
	if got := callWith(t.Context(), Options{Getenv: display, Window: broken}, "open", "--lang", "en"); got.status != exitFailed || got.errors != "blik: no GL\n" {
		t.Errorf("a window that fails: %+v", got)
	}
}

// Flags are listed in order of use, not alphabetically.
func TestHelpKeepsTheOrder(t *testing.T) {
	t.Parallel()
	got := call(t, "correct", "--help-all")
	rest := got.out
	for _, next := range []string{"\nFlags:\n", " --output DIR ", " --mask FILE ", "\nMode:\n", " --mode ", " --sensitivity ", "\nSearch:\n", "\nDecision:\n", "\nMask cleanup:\n", "\nGeneral flags:\n", " --lang "} {
		_, after, found := strings.Cut(rest, next)
		if !found {
			t.Fatalf("no %q in its place in\n%s", next, got.out)
		}
		rest = after
	}
}

// The first help of a command shows at most 30 flags, and leads to the others.
func TestHelpIsShort(t *testing.T) {
	t.Parallel()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		args := strings.Fields(c.CommandPath())[1:]
		got := call(t, append(args, "--help")...)
		count := strings.Count(got.out, "\n      --") + strings.Count(got.out, "\n  -")
		second := strings.Contains(got.out, "--help-all\n")
		if got.status != exitDone || count > maxFlags || second != (c.Flags().Lookup(helpAll) != nil) {
			t.Errorf("%s: %d flags, %+v", c.CommandPath(), count, got.status)
		}
		if second && strings.Count(call(t, append(args, "--help-all")...).out, "\n      --") <= count {
			t.Errorf("%s: --help-all shows no more than --help", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(Commands("en", "1", nil))
}

func TestVersionAndCompletion(t *testing.T) {
	t.Parallel()
	got := call(t, "version")
	if want := regexp.MustCompile(`^blik 1\.2\.3\ngo\S+ \w+/\w+\nbuild tags: \S.*; without window\nCPU kernels: (plain|avx2|avxvnni|avx512|vnni)\b.*\n$`); got.status != exitDone || !want.MatchString(got.out) {
		t.Errorf("%+v", got)
	}
	if flag := call(t, "--version"); flag != got {
		t.Errorf("--version: %+v, want what `blik version` prints", flag)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := call(t, "completion", shell); got.status != exitDone || !strings.Contains(got.out, "blik") {
			t.Errorf("completion %s: status %d", shell, got.status)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "csh"}, {"completion", "bash", "zsh"}} {
		if got := call(t, args...); got.status != exitUsage || !strings.Contains(got.errors, "choose from bash, zsh, fish, powershell") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := call(t, "--lang", "ru", "help", "completion"); got.status != exitDone || strings.Contains(got.out, "Generate") {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"detect", "--mode", ""}, "adaptive\nmanual\n"},
		{[]string{"--lang", ""}, "en\nru\n"},
		{[]string{"help", ""}, "\nparameters\n"},
	} {
		if got := call(t, append([]string{"__complete"}, c.args...)...); !strings.Contains(got.out, c.want) {
			t.Errorf("completion of %q: %q", c.args, got.out)
		}
	}
}

func TestProgressBar(t *testing.T) {
	t.Parallel()
	if newBar(&bytes.Buffer{}) != nil {
		t.Error("a bar in a buffer")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if newBar(w) != nil {
		t.Error("a bar in a pipe")
	}
	var none *bar
	none.set("a", "b", 1)
	none.clear()
	none.close()

	for _, c := range []struct {
		share float64
		width int
		want  string
	}{
		{0, 80, "[........................]   0 %  2/5 scan.tif  cores"},
		{0.5, 80, "[############............]  50 %  2/5 scan.tif  cores"},
		{7, 80, "[########################] 100 %  2/5 scan.tif  cores"},
		{0.5, 40, "[############............]  50 %  2/5 s"},
	} {
		if got := barLine("2/5 scan.tif", "cores", c.share, c.width); got != c.want {
			t.Errorf("%g: got %q, want %q", c.share, got, c.want)
		}
	}
	// Each of these characters takes two columns.
	if got, want := barLine("1/1 山水画.tif", "", 0, 46), "[........................]   0 %  1/1 山水画."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		b := startBar(&screen, 60)
		b.set("1/1 a.png", "фон", 0.25)
		time.Sleep(3 * barPeriod)
		b.close()
		got := screen.String()
		if strings.Count(got, "a.png") != 1 || !strings.Contains(got, "25 %") || !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("drawn: %q", got)
		}
	})
}

// lazy is a terminal that is slow to write the first line.
type lazy struct {
	bytes.Buffer
	begun, gate chan struct{}
	once        sync.Once
}

func (l *lazy) Write(p []byte) (int, error) {
	l.once.Do(func() {
		close(l.begun)
		<-l.gate
	})
	return l.Buffer.Write(p)
}

// A bar that is being drawn while clear is called does not appear after the text that follows.
func TestProgressBarIsGoneWhenCleared(t *testing.T) {
	t.Parallel()
	screen := &lazy{begun: make(chan struct{}), gate: make(chan struct{})}
	b := startBar(screen, 60)
	b.set("1/1 a.png", "фон", 0.25)
	<-screen.begun
	if b.drawing.TryLock() {
		t.Fatal("clear would not wait until the bar is drawn")
	}
	cleared := make(chan struct{})
	go func() {
		defer close(cleared)
		b.clear()
	}()
	close(screen.gate)
	<-cleared
	if got := screen.String(); !strings.HasSuffix(got, "\r\x1b[K") || !strings.Contains(got, "a.png") {
		t.Errorf("drawn: %q", got)
	}
	b.close()
}

func TestRemarkHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	p := &program{Options: Options{Stderr: &screen}, tr: i18n.For("en")}
	b := &bar{w: &screen, drawn: "[###.....]"}
	printRemarks(p, b, "a.png", []message.Message{message.Of("The GPU is tired.")})
	if screen.String() != "\r\x1b[Kblik: a.png: The GPU is tired.\n" {
		t.Errorf("%q", screen.String())
	}
}

// A warning about a file is printed whatever is done with it, once.
func TestWarnings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	overwrite(t, dir, "a.png", withChunk(testpic.ReadFile(t, in), "iCCP", "none"))
	batch := []string{"batch", "--store", filepath.Join(dir, "store")}
	for i, args := range [][]string{{"detect"}, {"correct"}, batch, batch} {
		out := filepath.Join(dir, args[0])
		got := callWith(t.Context(), Options{childArguments: asChild}, append(args, "-q", "-o", out, in)...)
		told := strings.HasSuffix(got.errors, "a.png: The colour profile is damaged; the picture is shown as if it had none.\n")
		if got.status != exitDone || strings.Count(got.errors, "\n") > 1 || told != (i < 3) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// The devices depend on the machine, but the CPU always exists. A missing GPU causes one sentence.
func TestDevices(t *testing.T) {
	t.Parallel()
	got := callWith(t.Context(), Options{}, "devices")
	if got.status != exitDone || !strings.HasPrefix(got.out, "cpu") {
		t.Errorf("%+v", got)
	}
	testpic.Need(t, !strings.Contains(got.out, "cuda:99"), "a machine with fewer than a hundred GPUs")
	dir := t.TempDir()
	got = callWith(t.Context(), Options{}, "detect", "--device", "cuda:99", "-o", dir, painting(t, dir, "a.png"))
	if got.status != exitFailed || !strings.HasPrefix(got.errors, "blik: --device cuda:99: ") || exist(filepath.Join(dir, "a_mask.png")) {
		t.Errorf("%+v, wrote %v", got, testpic.Listed(t, dir))
	}
}

func writeMask(t *testing.T, path string, w int, pix ...uint8) string {
	t.Helper()
	if err := imagefile.WriteMask(t.Context(), path, imagefile.WriteOptions{Overwrite: true}, &processing.Mask{Width: w, Height: len(pix) / w, Pix: pix}); err != nil {
		t.Fatal(err)
	}
	return path
}
