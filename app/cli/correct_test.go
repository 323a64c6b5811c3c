package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

// fixed runs the command line with a fixed date.
func fixed(t *testing.T, args ...string) outcome {
	t.Helper()
	return callWith(t.Context(), Options{now: func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }}, args...)
}

// The picture is corrected where glare is found and proven to equal the source elsewhere; reports and mask are written.
func TestCorrect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "scan.v2.png")
	before := testpic.ReadFile(t, in)
	out := filepath.Join(dir, "new", "folder")
	got := fixed(t, "correct", "--detector", "classic", "--save-mask", "--timing", "-o", out, in)
	if got.status != exitDone || got.errors != "" {
		t.Fatalf("status %d, stderr %q", got.status, got.errors)
	}
	if want := []string{"scan.v2_corrected.html", "scan.v2_corrected.json", "scan.v2_corrected.png", "scan.v2_mask.png"}; !slices.Equal(testpic.Listed(t, out), want) {
		t.Errorf("written: %v, want %v", testpic.Listed(t, out), want)
	}
	for _, says := range []string{"findings corrected: 3; pixels changed: ", "Proven: ", "no other pixel changed", "read file", "save and prove", "write report", "total", "160 × 120"} {
		if !strings.Contains(got.out, says) {
			t.Errorf("stdout lacks %q:\n%s", says, got.out)
		}
	}
	if !bytes.Equal(testpic.ReadFile(t, in), before) {
		t.Error("the source was written to")
	}
	result := filepath.Join(out, "scan.v2_corrected.png")
	f, err := imagefile.Read(t.Context(), result, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range glints() {
		if v := f.Picture.U8[at[1]*160+at[0]]; v > 80 {
			t.Errorf("the glint at %v is still there: %d", at, v)
		}
	}
	var report struct {
		Date, Program, Mode string
		Places              []struct{ Method string }
		Proof               struct{ Holds bool }
	}
	if err := json.Unmarshal(testpic.ReadFile(t, filepath.Join(out, "scan.v2_corrected.json")), &report); err != nil {
		t.Fatal(err)
	}
	if report.Date != "2026-11-21T09:00:00Z" || report.Program != "1.2.3" || report.Mode != "adaptive" || len(report.Places) != 3 || !report.Proof.Holds {
		t.Errorf("the report: %+v", report)
	}

	mask := filepath.Join(out, "scan.v2_mask.png")
	verified := call(t, "verify", in, result, "--mask", mask)
	if verified.status != exitDone || !strings.Contains(verified.out, "pixels changed beyond these: 0\n") || !strings.Contains(verified.out, "Proven: ") || verified.errors != "" {
		t.Errorf("verify: %+v", verified)
	}
	// The run, the report and the proof count the same pixels.
	counts := regexp.MustCompile(`marked (\d+) \+ halo (\d+) \+ veil (\d+) = (\d+) free to change`)
	said, proven := counts.FindStringSubmatch(got.out), counts.FindStringSubmatch(verified.out)
	if said == nil || !slices.Equal(said, proven) || !strings.Contains(verified.out, "pixels free to change: "+said[4]+"\n") {
		t.Errorf("correct counts %q, verify %q in\n%s", said, proven, verified.out)
	}

	if got := call(t, "detect", "-q", "--detector", "classic", "-o", dir, in); got.status != exitDone {
		t.Fatal(got)
	}
	bare := filepath.Join(dir, "scan.v2_mask.png")
	// With a mask that lacks one of the changed pixels, the proof fails.
	m, err := imagefile.ReadMask(t.Context(), bare, 160, 120, imagefile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	at := glints()[0]
	m.Pix[at[1]*160+at[0]] = 0
	short := filepath.Join(dir, "short.png")
	if err := imagefile.WriteMask(t.Context(), short, imagefile.WriteOptions{}, m); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "verify", in, result, "--mask", short, "--lang", "ru"); got.status != exitFailed || !strings.Contains(got.out, "Не доказано: изменено пикселей, которые нельзя было менять") || !strings.Contains(got.errors, "не та маска") || strings.Count(got.errors, "\n") != 1 {
		t.Errorf("verify with a mask that lacks a pixel: %+v", got)
	}
	if got := call(t, "verify", "-q", in, result, "--mask", short); got.status != exitFailed || got.out != "" ||
		!strings.Contains(got.errors, "blik: Not proven: ") {
		t.Errorf("verify -q: %+v", got)
	}
	again := filepath.Join(dir, "again")
	if got := fixed(t, "correct", "-q", "--no-report", "--mask", bare, "-o", again, in); got != (outcome{}) {
		t.Errorf("%+v, want silence", got)
	}
	if want := []string{"scan.v2_corrected.png"}; !slices.Equal(testpic.Listed(t, again), want) || !bytes.Equal(testpic.ReadFile(t, filepath.Join(again, want[0])), testpic.ReadFile(t, result)) {
		t.Errorf("the mask of detection gives another picture, or more: %v", testpic.Listed(t, again))
	}
	if got := fixed(t, "correct", "-q", "--mask-dir", dir, "-o", filepath.Join(dir, "third"), in); got != (outcome{}) {
		t.Errorf("%+v, want silence", got)
	}
	if !bytes.Equal(testpic.ReadFile(t, filepath.Join(dir, "third", "scan.v2_corrected.png")), testpic.ReadFile(t, result)) {
		t.Error("the mask of the folder gives another picture")
	}
}

// With an empty mask the result is the source, byte for byte, and its report fits.
func TestCorrectNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, testpic.Image(t, in), nil); err != nil {
		t.Fatal(err)
	}
	overwrite(t, dir, "b.jpg", photo.Bytes())
	mask := writeMask(t, filepath.Join(dir, "m.png"), 160, make([]uint8, 160*120)...)
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{{in}, {filepath.Join(dir, "b.jpg"), "--format", "jpeg"}} {
		got := call(t, append([]string{"correct", "--mask", mask, "-o", out}, args...)...)
		if got.status != exitDone || !strings.Contains(got.out, "findings corrected: 0; pixels changed: 0") {
			t.Fatalf("%+v", got)
		}
		extension := filepath.Ext(args[0])
		result := strings.TrimSuffix(filepath.Base(args[0]), extension) + "_corrected" + extension
		if !bytes.Equal(testpic.ReadFile(t, args[0]), testpic.ReadFile(t, filepath.Join(out, result))) {
			t.Errorf("%s is not the source", result)
		}
		if got := call(t, "verify", args[0], filepath.Join(out, result)); got.status != exitDone {
			t.Errorf("%+v", got)
		}
	}
}

// Nothing is replaced without permission, and an input never.
func TestCorrectOverwrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	if got := call(t, "correct", "-q", "-o", dir, in); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	result := filepath.Join(dir, "a_corrected.png")
	if got := call(t, "correct", "-o", dir, in); got.status != exitFailed || got.errors != "blik: "+result+" exists; --overwrite replaces it\n" {
		t.Errorf("%+v", got)
	}
	if got := call(t, "correct", "-q", "--overwrite", "--keep-time", "-o", dir, in); got != (outcome{}) {
		t.Errorf("%+v", got)
	}
	a, _ := os.Stat(in)
	b, _ := os.Stat(result)
	if !a.ModTime().Equal(b.ModTime()) {
		t.Error("the time is not kept")
	}
	got := call(t, "correct", "--overwrite", "-o", dir, in, result)
	if got.status != exitFailed || !strings.Contains(got.errors, result+" is an input and would be overwritten by the result of "+in) {
		t.Errorf("%+v", got)
	}
	if !exist(filepath.Join(dir, "a_corrected_corrected.png")) {
		t.Error("the other file was not done")
	}
}

// A mask made by hand is not replaced by the mask with the halo, whatever its name and folder.
func TestCorrectKeepsTheMask(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	painting(t, dir, "a.png")
	mask := processing.NewMask(160, 120)
	mask.Pix[60*160+80] = 255
	if err := imagefile.WriteMask(t.Context(), "a_mask.png", imagefile.WriteOptions{Overwrite: true}, mask); err != nil {
		t.Fatal(err)
	}
	before := testpic.ReadFile(t, "a_mask.png")
	for _, from := range [][]string{{"--mask", "./a_mask.png"}, {"--mask-dir", "."}} {
		got := call(t, append([]string{"correct", "--save-mask", "--overwrite", "-o", ".", "a.png"}, from...)...)
		if got.status != exitFailed || !strings.Contains(got.errors, "a_mask.png is an input") {
			t.Errorf("%q: %+v", from, got)
		}
	}
	if !bytes.Equal(testpic.ReadFile(t, "a_mask.png"), before) || !slices.Equal(testpic.Listed(t, dir), []string{"a.png", "a_mask.png"}) {
		t.Errorf("the mask was changed, or the folder holds %q", testpic.Listed(t, dir))
	}
}

func TestCorrectFormats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	for format, name := range map[string]string{"png": "a_corrected.png", "tiff": "a_corrected.tif"} {
		out := filepath.Join(dir, format)
		if got := call(t, "correct", "-q", "--format", format, "-o", out, in); got != (outcome{}) || !exist(filepath.Join(out, name)) {
			t.Errorf("%s: %+v, %v", format, got, testpic.Listed(t, out))
		}
	}
	if got := call(t, "correct", "--format", "jpeg", "-o", dir, in); got.status != exitFailed || !strings.Contains(got.errors, "only a JPEG is saved as JPEG") {
		t.Errorf("a PNG as JPEG: %+v", got)
	}
	photo := testpic.Shared(t, "io-samples/Landscape_6.jpg")
	const part, all = "--detector=classic", "--coverage=100"
	got := call(t, "correct", part, all, "-o", dir, photo)
	if got.status != exitDone || !exist(filepath.Join(dir, "Landscape_6_corrected.tif")) || !strings.Contains(got.out, "Proven: ") {
		t.Errorf("a JPEG: %+v", got)
	}
	got = call(t, "correct", part, all, "--format", "jpeg", "--overwrite", "-o", dir, photo)
	if got.status != exitFailed || !strings.Contains(got.errors, "this is the report on Landscape_6_corrected.tif") {
		t.Errorf("the report on another file: %+v", got)
	}
	dir = t.TempDir()
	got = call(t, "correct", part, all, "--format", "jpeg", "-o", dir, photo)
	if got.status != exitDone || !strings.Contains(got.out, "Proven: ") || !exist(filepath.Join(dir, "Landscape_6_corrected.jpg")) || !strings.Contains(got.out, "the blocks around changed pixels were encoded again") {
		t.Errorf("a JPEG as JPEG: %+v", got)
	}
}

// Parameters reach correction: from flags, and from presets that hold both stages.
func TestCorrectParameters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	stored := filepath.Join(dir, "p.json")
	if got := call(t, "correct", "--save-preset", stored, "--method", "harmonic", "--halo", "1"); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	if got := call(t, "detect", "-q", "--preset", stored, "-o", dir, in); got != (outcome{}) {
		t.Errorf("detect with a preset of both stages: %+v", got)
	}
	out := filepath.Join(dir, "out")
	if got := call(t, "correct", "-q", "--save-mask", "--preset", stored, "--sensitivity", "0.5", "-o", out, in); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	var report struct {
		Preset struct{ Values map[string]any }
		Places []struct {
			Method     string
			Area, Halo int
		}
	}
	if err := json.Unmarshal(testpic.ReadFile(t, filepath.Join(out, "a_corrected.json")), &report); err != nil {
		t.Fatal(err)
	}
	if v := report.Preset.Values; v["method"] != "harmonic" || v["halo"] != 1.0 || v["sensitivity"] != 0.5 || v["mode"] != "adaptive" {
		t.Errorf("the values used: %v", v)
	}
	for _, p := range report.Places {
		if p.Halo == 0 || p.Halo >= 3*p.Area {
			t.Errorf("a halo of one pixel around %d: %+v", p.Area, p)
		}
	}
}

func TestCorrectWrongUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	twin := painting(t, t.TempDir(), "a.png")
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "no files given"},
		{[]string{"--mask", in, "--mask-dir", dir, in}, "exclude each other"},
		{[]string{"--mask", in, in, painting(t, dir, "b.png")}, "--mask is for one file"},
		{[]string{"--mask", in, "--auto", in}, "--auto finds the glare itself"},
		{[]string{"--mask-dir", dir, "--window", "11", in}, "--window is a parameter of detection"},
		{[]string{"--mask", in, "--region", "1,1,5,5", in}, "--region limits detection"},
		{[]string{"--format", "gif", in}, "--format gif: must be one of"},
		{[]string{"--method", "magic", in}, "must be one of auto, subtract"},
		{[]string{"--halo", "99", in}, "--halo 99: must be"},
		{[]string{in, twin}, "would both write a_corrected"},
	} {
		got := call(t, append([]string{"correct", "-o", out}, c.args...)...)
		if got.status != exitUsage || !strings.Contains(got.errors, c.says) || got.out != "" {
			t.Errorf("%v: %+v, want status 2 and %q", c.args, got, c.says)
		}
	}
	if got := call(t, "verify", in); got.status != exitUsage {
		t.Errorf("verify of one file: %+v", got)
	}
	if exist(out) {
		t.Errorf("wrong use wrote %v", testpic.Listed(t, out))
	}
}

// Each bad file causes one sentence, and the good one is still processed.
func TestCorrectBadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := painting(t, dir, "good.png")
	masks := t.TempDir()
	writeMask(t, filepath.Join(masks, "good_mask.png"), 160, make([]uint8, 160*120)...)
	small := painting(t, dir, "small.png")
	writeMask(t, filepath.Join(masks, "small.png"), 2, 0, 255)
	lone := painting(t, dir, "lone.png")
	missing := filepath.Join(dir, "none.tif")
	got := call(t, "correct", "--mask-dir", masks, "-o", filepath.Join(dir, "out"), missing, small, lone, good)
	want := []string{missing + ": no such file", filepath.Join(masks, "small.png") + ": the mask has 2 × 1 pixels, the picture 160 × 120",
		lone + ": no mask for it in " + masks}
	if got.status != exitFailed || strings.Count(got.errors, "\n") != len(want) || !exist(filepath.Join(dir, "out", "good_corrected.png")) {
		t.Errorf("%+v", got)
	}
	for _, says := range want {
		if !strings.Contains(got.errors, "blik: "+says+"\n") {
			t.Errorf("no line says %q: %s", says, got.errors)
		}
	}
	if got := call(t, "correct", "--mask-dir", missing, good); got.status != exitFailed || got.errors != "blik: "+missing+": no such folder\n" {
		t.Errorf("masks in a folder that is missing: %+v", got)
	}
	if got := call(t, "verify", good, missing); got.status != exitFailed || got.errors != "blik: "+missing+": no such file\n" {
		t.Errorf("verify: %+v", got)
	}
	if got := call(t, "verify", "--lang", "ru", "--mask", filepath.Join(masks, "small.png"), good, good); got.status != exitFailed || !strings.Contains(got.errors, "good.png: в изображении 160 × 120 пикселей, в маске 2 × 1") {
		t.Errorf("verify with a mask of another size: %+v", got)
	}
}

func TestCorrectCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	out := filepath.Join(dir, "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{backend: func() (processing.Backend, error) {
		return hooked{cpu.New(), func() { cancel() }}, nil
	}}
	got := callWith(ctx, o, "correct", "-o", out, in)
	if got.status != exitCancelled || got.errors != "blik: cancelled\n" || len(testpic.Listed(t, out)) != 0 {
		t.Errorf("%+v, wrote %v", got, testpic.Listed(t, out))
	}
}

// Without anyone watching, a picture of which more is marked than permitted is not corrected, unless the mask is given;
// what needs a look is left alone unless all may be corrected.
func TestConsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := call(t, "correct", "-o", dir, "--coverage", "0", in)
	if got.status != exitFailed || !strings.HasPrefix(got.errors, "blik: "+in+": ") || !strings.Contains(got.errors, "--coverage") {
		t.Errorf("more is marked than permitted: %+v", got)
	}
	if got := call(t, "detect", "-q", "-o", dir, in); got != (outcome{}) {
		t.Fatalf("%+v", got)
	}
	got = call(t, "correct", "-o", dir, "--coverage", "0", "--mask", filepath.Join(dir, "a_mask.png"), in)
	if got.status != exitDone || !strings.Contains(got.out, "findings corrected: 3;") {
		t.Errorf("with a mask: %+v", got)
	}
	got = call(t, "correct", "-o", dir, "--overwrite", "--correct", "all", in)
	if got.status != exitDone || !strings.Contains(got.out, "findings corrected: 3;") || strings.Contains(got.out, "left for you") {
		t.Errorf("all may be corrected: %+v", got)
	}
}

// Flags of older versions still work, with a remark.
func TestFormerMethods(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, stored := painting(t, dir, "a.png"), filepath.Join(dir, "p.json")
	old := call(t, "correct", "-q", "-o", dir, "--method", "telea", "--save-preset", stored, in)
	if want := "blik: the correction method \"telea\" no longer exists; \"harmonic\" is used\n"; old.status != exitDone ||
		old.errors != want {
		t.Errorf("%+v", old)
	}
	if !strings.Contains(string(testpic.ReadFile(t, stored)), `"method": "harmonic"`) {
		t.Error("the preset holds another method")
	}
	if got := call(t, "correct", "-q", "-o", dir, "--overwrite", "--method", "telea", "--method", "subtract", in); got.errors != "" {
		t.Errorf("the last one counts: %+v", got)
	}
}

// The rules of manual mode that no longer exist are ignored with a remark; they still switch to manual mode.
func TestFormerRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := call(t, "detect", "-o", dir, "--mode", "manual", in)
	old := call(t, "detect", "-o", dir, "--overwrite", "--colour-gate", "--min-z", "3", in)
	if old.status != exitDone || old.errors != "blik: rules that no longer exist are ignored: --min-z, --colour-gate\n" ||
		old.out != got.out {
		t.Errorf("%+v, want %+v", old, got)
	}
}

// Flags of older versions still work, with a remark.
func TestFormerDetectors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	got := call(t, "detect", "-o", dir, "--mode", "adaptive", in)
	for _, args := range [][]string{{"--detector", "joined"}, {"--detector", "network"}} {
		old := call(t, append([]string{"detect", "-o", dir, "--overwrite", in}, args...)...)
		if old.status != exitDone || !strings.Contains(old.errors, args[1]) || !strings.Contains(old.errors, "no longer exists") || old.out != got.out {
			t.Errorf("%v: %+v", args, old)
		}
	}
	if old := call(t, "detect", "-q", "-o", dir, "--overwrite", "--mode", "manual", "--score", "0.5", in); old.status != exitDone ||
		strings.Count(old.errors, "\n") != 1 || !strings.Contains(old.errors, "no longer has a score") {
		t.Errorf("%+v", old)
	}
}
