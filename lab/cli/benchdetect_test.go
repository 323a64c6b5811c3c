package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/cli"
	"blik/app/device"
	"blik/cuda/driver"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/lab/bench"
	"blik/processing"
	"blik/processing/cpu"

	"github.com/spf13/cobra"
)

// quick is a CPU whose copy rates are not measured, because that is slow with the race detector.
type quick struct{ *cpu.Backend }

func (quick) CopyRates(context.Context) (local, up, down float64, err error) { return 1e10, 0, 0, nil }

// direct runs all jobs on one backend.
type direct struct{ processing.Backend }

func (d direct) Run(ctx context.Context, _ int, job device.Job) (*message.Message, error) {
	return nil, job(ctx, d.Backend)
}

// compare runs `blik bench detect` with that CPU for all devices, except the missing one.
func compare(t *testing.T, missing int, args ...string) outcome {
	t.Helper()
	opened := 0
	return callWith(t.Context(), func(context.Context, string) (bench.Runner, error) {
		if opened++; opened == missing {
			return nil, &driver.Problem{Reason: driver.NoDevice}
		}
		return direct{quick{cpu.New()}}, nil
	}, args...)
}

func TestBenchDetect(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	got := compare(t, 0, "bench", "detect", "--device", "cpu,cpu", "--megapixels", "0.02", "--depth", "16", "--repeat", "1", "--margin", "2", "-o", dir)
	if got.status != exitDone || got.errors != "" {
		t.Fatalf("status %d, stderr %q", got.status, got.errors)
	}
	for _, want := range []string{"163 × 123 pixels (0.0 MP), channels: 3, bits: 16, adaptive mode", "network", "speed-up", "opening", "together with opening", "are identical", "detect_time.svg"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	for _, name := range []string{"detect.txt", "detect.md", "detect.csv", "detect.json", "detect_time.png", "detect_share.svg"} {
		if !slices.Contains(testpic.Listed(t, dir), name) {
			t.Errorf("no %s in %q", name, testpic.Listed(t, dir))
		}
	}
}

func TestBenchDetectOnAPicture(t *testing.T) {
	t.Parallel()
	path := painting(t, t.TempDir(), "p.png")
	got := compare(t, 0, "--lang", "ru", "bench", "detect", "--device", "cpu", "--input", path, "--quick", "--window", "13", "--format", "table")
	if got.status != exitDone || !strings.Contains(got.out, "ручной режим") || !strings.Contains(got.out, "Маски не сравнивались") {
		t.Errorf("%d, %q\n%s", got.status, got.errors, got.out)
	}
	if got := call(t, "bench", "detect", "--input", "missing.png"); got.status != exitFailed || !strings.Contains(got.errors, "missing.png") {
		t.Errorf("%d, %q", got.status, got.errors)
	}
}

func TestBenchDetectFormats(t *testing.T) {
	t.Parallel()
	args := []string{"bench", "detect", "--device", "cpu", "--megapixels", "0.01", "--repeat", "1", "--format"}
	got := compare(t, 0, append(args, "csv")...)
	rows, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
	steps := 1 // opening
	if bench.SinceStart() > 0 {
		steps++
	}
	if err != nil || len(rows) != 1+steps+5+5 || rows[2][0] != "cpu" {
		t.Errorf("%d rows, %v, %s", len(rows), err, got.errors)
	}
	got = compare(t, 0, append(args, "json")...)
	var d struct {
		Machine struct{ Cores int }
		Devices []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || d.Machine.Cores < 1 || len(d.Devices) != 1 || d.Devices[0].State != "measured" {
		t.Errorf("%+v, %v", d, err)
	}
}

// A device that is requested by name and missing is an error, but the rest is printed.
func TestBenchDetectWithoutTheDevice(t *testing.T) {
	t.Parallel()
	testpic.Clock(t)
	got := compare(t, 2, "bench", "detect", "--device", "cpu,cuda:97", "--megapixels", "0.01", "--repeat", "1")
	if got.status != exitFailed || !strings.HasPrefix(got.errors, "blik: cuda:97: ") || !strings.Contains(got.out, "cuda:97 was not measured") || !strings.Contains(got.out, "outlines") {
		t.Errorf("%d, %q\n%s", got.status, got.errors, got.out)
	}
}

// failing is a GPU that fails computing the luminance, or computes too large values.
type failing struct {
	quick
	err error
}

func (f *failing) Name() string { return "cuda:0" }

func (f *failing) Do(ctx context.Context, op processing.Op) error {
	o, ok := op.(processing.Luminance)
	if !ok {
		return f.Backend.Do(ctx, op)
	}
	if f.err != nil {
		return f.err
	}
	other := *o.Picture
	other.U8 = slices.Repeat([]uint8{90}, len(o.Picture.U8))
	// A speck that stands alone would not be accepted.
	for i := range 40 {
		copy(other.U8[(2*i+1)*len(other.U8)/80:], slices.Repeat([]uint8{255}, 9))
	}
	o.Picture = &other
	return f.Backend.Do(ctx, o)
}

func TestBenchDetectReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	testpic.Clock(t)
	for _, c := range []struct {
		err  error
		says string
	}{
		{&driver.Problem{Reason: driver.Fault, Code: 700, Detail: "wait"}, "error 700"},
		{errors.New("odd"), "odd"},
		{nil, "differ in"},
	} {
		opened := 0
		open := func(context.Context, string) (bench.Runner, error) {
			if opened++; opened == 1 {
				return direct{quick{cpu.New()}}, nil
			}
			return direct{&failing{quick{cpu.New()}, c.err}}, nil
		}
		got := callWith(t.Context(), open, "bench", "detect", "--device", "cpu,cuda", "--megapixels", "0.01", "--repeat", "1")
		if got.status != exitFailed || !strings.Contains(got.errors, c.says) || !strings.Contains(got.out, "outlines") || strings.Contains(got.out, "identical") {
			t.Errorf("%v: %d, %q\n%s", c.err, got.status, got.errors, got.out)
		}
	}
}

func TestBenchDetectRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--device", "gpu"}, "--device gpu: must be cpu, cuda or cuda:N"},
		{[]string{"--device", "cpu,auto"}, "--device auto: must be cpu, cuda or cuda:N"},
		{[]string{"--repeat", "0"}, "--repeat 0"},
		{[]string{"--megapixels", "-1"}, "--megapixels -1"},
		{[]string{"--megapixels", "NaN"}, "--megapixels NaN"},
		{[]string{"--depth", "12"}, "--depth 12"},
		{[]string{"--format", "xml"}, "--format xml"},
		{[]string{"--window", "4"}, "--window 4"},
		{[]string{"picture.png"}, "0 arguments expected, 1 given"},
	} {
		got := call(t, append([]string{"bench", "detect"}, c.args...)...)
		if got.status != exitUsage || !strings.Contains(got.errors, c.want) || got.out != "" {
			t.Errorf("%q: status %d, %q, %q", c.args, got.status, got.errors, got.out)
		}
	}
}

func TestBenchDetectFits(t *testing.T) {
	t.Parallel()
	var b *comparison
	extend := func(c *cli.Tool) *cobra.Command {
		b = &comparison{benchOutput: benchOutput{tool: &tool{Tool: c}}, megapixels: 100}
		return &cobra.Command{Use: "none"}
	}
	cli.Commands("en", "1.2.3", []cli.Extension{extend})
	if err := b.fits(8 << 30); err != nil {
		t.Error(err)
	}
	if err := b.fits(5 << 30); err == nil || err.Error() != "--megapixels 100: takes 5.2 GiB of memory, more than the limit of 5.0 GiB" {
		t.Error(err)
	}
	// For a picture of the user, reading checks the memory.
	b.input = "scan.tif"
	if err := b.fits(1); err != nil {
		t.Error(err)
	}
}

func TestBenchDetectCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := callWith(ctx, nil, "bench", "detect", "--megapixels", "0.01"); got.status != exitCancelled || got.out != "" {
		t.Errorf("%d, %q", got.status, got.errors)
	}
}
