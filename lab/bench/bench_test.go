package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"blik/app/i18n"
	"blik/internal/test/testpic"
	"blik/lab/experiment"
)

func machine() Machine {
	return Machine{CPU: "Abacus 3", Cores: 4, Kernels: "avx2", GPUs: []string{}, System: "linux/amd64", Go: "go1.26", Version: "1.2.3",
		Date: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
}

// result returns made-up rows of the sliding window with two window sizes, one skipped and one without a GPU.
func result(t *testing.T, id string) *experiment.Result {
	t.Helper()
	e, err := experiment.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	r := &experiment.Result{Experiment: e}
	size := experiment.Size{W: 1024, H: 1024}
	add := func(variant int, m string, ms float64) {
		d := time.Duration(ms * 1e6)
		r.Rows = append(r.Rows, experiment.Row{
			Variant: e.Variants[variant], Case: experiment.Case{Size: size, Values: map[string]string{"m": m}},
			State: experiment.Measured, Runs: 7, Spread: experiment.Spread{Median: d, Q1: d * 9 / 10, Q3: d * 11 / 10,
				Fastest: d / 2}, Operations: 1e6,
			Check: experiment.Check{Compared: 10, Samples: 1000},
		})
	}
	add(0, "5", 120)
	add(2, "5", 1.5)
	add(0, "15", 1080)
	add(2, "15", 1.25)
	left := r.Rows[0]
	left.State, left.Note = experiment.LeftOut, e.Name
	left.Median, left.Runs = 0, 0
	r.Rows = append(r.Rows, left, experiment.Row{Variant: e.Variants[4], State: experiment.NeedsGPU, Note: e.Question})
	r.Conclusions = []experiment.Conclusion{{Verdict: experiment.Different, Ratio: 2, Paper: 3, Claim: e.Name,
		Text: e.Name}}
	return r
}

// sums returns made-up rows with errors.
func sums(t *testing.T) *experiment.Result {
	t.Helper()
	e, err := experiment.Find("sum")
	if err != nil {
		t.Fatal(err)
	}
	r := &experiment.Result{Experiment: e}
	for k := 10; k <= 14; k += 2 {
		for i := range 2 {
			wrong := float64(i) * 1e-7
			d := time.Duration(k*1000/(i+1)) * time.Microsecond
			r.Rows = append(r.Rows, experiment.Row{Variant: e.Variants[i],
				Case:  experiment.Case{Size: experiment.Line(1 << k)},
				State: experiment.Measured, Runs: 3, Spread: experiment.Spread{Median: d, Q1: d, Q3: d, Fastest: d},
				Check: experiment.Check{Compared: 1, Samples: 1, Deviation: 1e-8, Tolerance: 1e-6, Error: &wrong}})
		}
	}
	return r
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Table(&b, machine(), result(t, "sliding"), i18n.For("en")); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"Abacus 3, 4 cores, kernels: avx2; no GPU; linux/amd64; go1.26; blik 1.2.3; 2026-01-02 15:04\n",
		"variant        size        m  median, ms  quartiles  runs  operations  paper, ms  check\n",
		"cpu-direct     1024×1024   5         120    108…132     7       1e+06        283  exact (1 % compared)\n",
		"cpu-recursive  1024×1024  15        1.25  1.12…1.38     7       1e+06        733  exact (1 % compared)\n",
		"left out: Mean over a sliding window\n",
		"CPU direct                  283    922    2531\n",
		"\nMean over a sliding window.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if strings.HasSuffix(line, " \n") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
	// Empty columns are left out.
	if strings.Contains(got, "error") {
		t.Error("a column of errors without any")
	}

	b.Reset()
	if err := Table(&b, machine(), sums(t), i18n.For("ru")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ядер: 4, код: ", "; без GPU", "cpu-pairwise    2^14", "1e-07", "1,0e-08 ≤ 1,0e-06", "медиана, мс"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		123456 * time.Microsecond: "123", 12345 * time.Microsecond: "12.3", 1234 * time.Microsecond: "1.23",
		123 * time.Microsecond: "0.123", 1234 * time.Nanosecond: "0.00123",
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := markdown(&b, result(t, "sliding"), i18n.For("en")); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		if strings.Count(l, "|") != strings.Count(lines[0], "|") {
			t.Errorf("other columns in %q", l)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := result(t, "sliding")
	r.Rows[1].Variant.GPUs = []string{"H200", "H200"}
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != len(r.Rows)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	at := func(row int, column string) string { return rows[row][slices.Index(rows[0], column)] }
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "experiment", "sliding"}, {1, "variant", "cpu-direct"}, {1, "width", "1024"}, {1, "samples", "1048576"},
		{1, "m", "5"},
		{1, "median_ns", "120000000"}, {1, "q1_ns", "108000000"}, {1, "paper_ns", "283000000"},
		{1, "state", "measured"},
		{1, "gpus", ""}, {2, "gpus", "2 × H200"}, {5, "state", "left out"}, {5, "median_ns", ""},
		{6, "state", "needs GPU"}, {6, "width", ""},
	} {
		if got := at(c.row, c.column); got != c.want {
			t.Errorf("row %d, %s: %q, want %q", c.row, c.column, got, c.want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := sums(t)
	r.Rows[1].Variant.GPUs = []string{"H200", "H200"}
	if err := JSON(&b, machine(), r, i18n.For("ru")); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Format != "blik bench" || d.Version != 1 || d.Experiment != "sum" || d.Machine.CPU != "Abacus 3" ||
		!d.Machine.Date.Equal(machine().Date) {
		t.Errorf("%+v", d)
	}
	if len(d.Rows) != 6 || d.Rows[1].Median != 5e6 || d.Rows[1].Width != 1024 || *d.Rows[1].Error != 1e-7 ||
		len(d.Rows[0].GPUs) != 0 || len(d.Rows[1].GPUs) != 2 {
		t.Errorf("%+v", d.Rows)
	}
	// Lists are never null.
	if !strings.Contains(b.String(), `"gpus": []`) || !strings.Contains(b.String(), `"conclusions": []`) {
		t.Error(b.String())
	}
}

func names(plots []Plot) (list []string) {
	for _, p := range plots {
		list = append(list, p.Name)
	}
	return list
}

func TestPlots(t *testing.T) {
	t.Parallel()
	plots, err := Plots(result(t, "sliding"), i18n.For("en"))
	if err != nil || !slices.Equal(names(plots), []string{"sliding_time_1024x1024"}) {
		t.Fatalf("%q, %v", names(plots), err)
	}
	var b bytes.Buffer
	if err := plots[0].Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CPU direct, 1 thread", "figures, in the colours of their variants",
		"stroke-dasharray", "side of the window", ">15<", ">5<", "1024×1024"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the SVG", want)
		}
	}
	plots, err = Plots(sums(t), i18n.For("ru"))
	if err != nil || !slices.Equal(names(plots), []string{"sum_time", "sum_speedup", "sum_error"}) {
		t.Fatalf("%q, %v", names(plots), err)
	}
	for _, p := range plots {
		b.Reset()
		if err := p.Write(&b, "png"); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if s := img.Bounds().Size(); s.X < 400 || s.Y < 300 {
			t.Errorf("%s: %v pixels", p.Name, s)
		}
	}
	for _, c := range [][2]image.Point{{{1210, 2000}, {1205, 828}}, {{4000, 416}, {605, 416}}, {{10, 10}, {151, 103}}} {
		if got := plots[0].Image(c[0].X, c[0].Y).Bounds().Size(); max(got.X-c[1].X, c[1].X-got.X, got.Y-c[1].Y,
			c[1].Y-got.Y) > 12 {
			t.Errorf("the plot for %v is of %v, expected about %v", c[0], got, c[1])
		}
	}
	if err := plots[0].Write(&b, "tga"); err == nil {
		t.Error("a plot as tga")
	}
}

// A single point is not plotted as a line, an empty result has no plot, and times of 0 are not plotted.
func TestPlotsOfLittle(t *testing.T) {
	t.Parallel()
	r := result(t, "sliding")
	r.Rows = r.Rows[:2]
	for _, rows := range [][]experiment.Row{r.Rows, r.Rows[:0]} {
		r.Rows = rows
		if plots, err := Plots(r, i18n.For("en")); err != nil || len(plots) != 0 {
			t.Errorf("%d rows: %q, %v", len(rows), names(plots), err)
		}
	}
	s := sums(t)
	for i := range s.Rows {
		s.Rows[i].Median, s.Rows[i].Q1, s.Rows[i].Q3 = time.Millisecond, 0, time.Millisecond
	}
	plots, err := Plots(s, i18n.For("en"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		if err := p.Write(&bytes.Buffer{}, "svg"); err != nil {
			t.Error(err)
		}
	}
}

func TestDecades(t *testing.T) {
	t.Parallel()
	labels := func(low, high float64) (list []string) {
		for _, tick := range (decades{}).Ticks(low, high) {
			if tick.Value < low || tick.Value > high {
				t.Errorf("a tick at %g outside %g…%g", tick.Value, low, high)
			}
			if tick.Label != "" {
				list = append(list, tick.Label)
			}
		}
		return list
	}
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{0.005, 150, []string{"0.01", "0.1", "1", "10", "100"}},
		{1e-8, 2e-5, []string{"1e-08", "1e-07", "1e-06", "1e-05"}},
		{3, 30, []string{"5", "10", "20"}},
		{11, 49, []string{"20"}},
		{0.9e6, 1e7, []string{"1e+06", "1e+07"}},
	} {
		if got := labels(c.low, c.high); !slices.Equal(got, c.want) {
			t.Errorf("%g…%g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

func TestSave(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	written, err := Save(t.Context(), dir, false, machine(), result(t, "sliding"), i18n.For("en"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"sliding.txt", "sliding.md", "sliding.csv", "sliding.json", "sliding_time_1024x1024.png",
		"sliding_time_1024x1024.svg"}
	for i, path := range written {
		if i >= len(want) || filepath.Base(path) != want[i] {
			t.Errorf("wrote %s", path)
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(written) != len(want) {
		t.Errorf("%d files, want %d", len(written), len(want))
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	empty := t.TempDir()
	if _, err := Save(ctx, empty, true, machine(), result(t, "sliding"), i18n.For("en")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}

func TestSaveWritesFigures(t *testing.T) {
	t.Parallel()
	e, err := experiment.Find("vhgw")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	written, err := Save(t.Context(), dir, false, machine(), &experiment.Result{Experiment: e}, i18n.For("en"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vhgw_noisy.png", "vhgw_opened.png", "vhgw_closed.png"} {
		if !slices.Contains(written, filepath.Join(dir, name)) {
			t.Errorf("no %s in %q", name, written)
		}
	}
}

// The times measured by the test and by its child process agree.
func TestSinceStart(t *testing.T) {
	t.Parallel()
	if os.Getenv("BLIK_CHILD") == "since" {
		time.Sleep(50 * time.Millisecond)
		fmt.Printf("ran %d\n", SinceStart())
		return
	}
	testpic.Need(t, SinceStart() != 0, "a system that reports when a process was started")
	cmd := exec.Command(os.Args[0], "-test.run=^TestSinceStart$", "-test.v")
	cmd.Env = append(os.Environ(), "BLIK_CHILD=since")
	start := time.Now()
	out, err := cmd.Output()
	whole := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	var ran time.Duration
	_, told, _ := strings.Cut(string(out), "ran ")
	if _, err := fmt.Sscan(told, &ran); err != nil || ran < 50*time.Millisecond-2*tick || ran > whole+2*tick {
		t.Errorf("%v of %v, %v", ran, whole, err)
	}
}

func TestThisMachine(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := ThisMachine("7", now)
	if m.Cores < 1 || m.Kernels == "" || m.System == "" || m.Go == "" || m.Version != "7" || !m.Date.Equal(now) || m.GPUs == nil {
		t.Errorf("%+v", m)
	}
	m.CPU, m.GPUs = "", []string{"H200", "T4", "H200"}
	for _, lang := range []string{"en", "ru"} {
		if line := m.line(i18n.For(lang)); !utf8.ValidString(line) || !strings.HasPrefix(line, m.System) ||
			!strings.Contains(line, "; 2 × H200, T4; ") {
			t.Error(line)
		}
	}
}
