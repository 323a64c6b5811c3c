package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blik/app/i18n"
	"blik/cuda/driver"
	"blik/internal/message"
	"blik/internal/test/testpic"
	"blik/lab/experiment"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// painting is a generated painting with glare.
func painting(t testing.TB, w, h, depth int) *processing.Picture {
	t.Helper()
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	pic, _, _, err := synth.Generate(t.Context(), w, h, depth, 3, synth.PaintOptions{}, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

// fakeGPU computes on the CPU and pretends to copy.
type fakeGPU struct {
	*cpu.Backend
	// wrong changes the first sample that Host returns.
	wrong bool
	// failure, if not nil, is the error of detection number fails, counted from 0.
	failure error
	fails   int
	runs    int
}

func (g *fakeGPU) Name() string { return "cuda:7" }

func (g *fakeGPU) Do(ctx context.Context, op processing.Op) error {
	if _, first := op.(processing.Luminance); first {
		g.runs++
		if g.failure != nil && g.runs == g.fails+1 {
			return g.failure
		}
	}
	return g.Backend.Do(ctx, op)
}

func (g *fakeGPU) Host(ctx context.Context, p processing.Plane) (processing.Samples, error) {
	s, err := g.Backend.Host(ctx, p)
	if g.wrong && s.U8 != nil {
		s.U8 = slices.Clone(s.U8)
		s.U8[0] ^= 255
	}
	return s, err
}

func (g *fakeGPU) Timings() []processing.StageTime {
	return append(g.Backend.Timings(), processing.StageTime{Name: stageUpload, Time: time.Microsecond},
		processing.StageTime{Name: stageDownload, Time: 2 * time.Microsecond})
}

func (g *fakeGPU) CopyRates(ctx context.Context) (local, up, down float64, err error) {
	return 4e12, 5e10, 6e10, ctx.Err()
}

// fakeRunner runs jobs on b and, like a device.Runner, on the CPU if that fails.
type fakeRunner struct {
	b      processing.Backend
	notice *message.Message
	closed *int
}

func (r fakeRunner) Run(ctx context.Context, _ int, job func(context.Context,
	processing.Backend) error) (*message.Message, error) {
	err := job(ctx, r.b)
	var p *driver.Problem
	if errors.As(err, &p) {
		host := cpu.New()
		defer host.Close()
		return new(message.Of("on the CPU")), job(ctx, host)
	}
	return r.notice, err
}

func (r fakeRunner) Close() error { *r.closed++; return r.b.Close() }

// devices returns a function that opens the CPU and the given GPUs by name.
func devices(closed *int, gpus map[string]*fakeGPU) func(context.Context, string) (Runner, error) {
	return func(_ context.Context, name string) (Runner, error) {
		if name == "cpu" {
			return fakeRunner{b: cpu.New(), closed: closed}, nil
		}
		if g := gpus[name]; g != nil {
			return fakeRunner{b: g, closed: closed}, nil
		}
		return nil, &driver.Problem{Reason: driver.NoDevice}
	}
}

func request(pic *processing.Picture, closed *int, g *fakeGPU) Request {
	// The classical detector has the most stages.
	p := processing.DefaultParams()
	p.Detector = processing.DetectorClassic
	return Request{Picture: pic, Params: p, Devices: []string{"cpu", "cuda:7"}, Repeat: 3,
		Open: devices(closed, map[string]*fakeGPU{"cuda:7": g}), copyBytes: 1 << 20}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	testpic.Clock(t)
	pic := painting(t, 161, 123, 8)
	closed := 0
	r := request(pic, &closed, &fakeGPU{Backend: cpu.New()})
	var told []Progress
	r.Progress = func(p Progress) { told = append(told, p) }
	r.Before = time.Second
	c, err := Compare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if c.Width != 161 || c.Height != 123 || c.Channels != 3 || c.Depth != 8 || len(c.Devices) != 2 || closed != 2 {
		t.Fatalf("%+v, %d closed", c, closed)
	}
	want, err := detect.Detect(t.Context(), cpu.New(), r.Picture, r.Params, detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Findings != len(want.Findings) || c.Marked != want.Mask.Area() || c.Marked == 0 || len(c.Differences) != 0 {
		t.Errorf("%d findings, %d pixels, want %d, %d; differences %v", c.Findings, c.Marked, len(want.Findings),
			want.Mask.Area(), c.Differences)
	}
	host, gpu := &c.Devices[0], &c.Devices[1]
	if host.Start != r.Before || gpu.Start <= r.Before {
		t.Errorf("started after %v and %v", host.Start, gpu.Start)
	}
	for _, m := range c.Devices {
		if m.State != experiment.Measured || m.Runs != 3 || m.Open <= 0 || len(m.Stages) != 7 {
			t.Errorf("%+v", m)
		}
		var sum, bytes int64
		for _, s := range m.Stages {
			sum += int64(s.Cold)
			bytes += s.Bytes
			if i18n.For("ru").Sprint(s.Name) == "" {
				t.Errorf("stage %q has no Russian name", s.Name.String())
			}
			if s.Warm.Fastest > s.Warm.Q1 || s.Warm.Q1 > s.Warm.Median || s.Warm.Median > s.Warm.Q3 ||
				s.Warm.Fastest <= 0 {
				t.Errorf("%s: %+v", s.Name.String(), s.Warm)
			}
		}
		if int64(m.Kernels.Cold) != sum || m.Kernels.Bytes != bytes || m.Kernels.Rate() <= 0 {
			t.Errorf("kernels %+v, the stages add up to %d ns, %d bytes", m.Kernels, sum, bytes)
		}
		if m.Total.Cold < m.Kernels.Cold || m.Total.Cold > m.Kernels.Cold+m.Upload.Cold+m.Download.Cold+m.Rest.Cold {
			t.Errorf("the total of %v is not its parts %v, %v, %v, %v", m.Total.Cold, m.Upload.Cold, m.Kernels.Cold,
				m.Download.Cold, m.Rest.Cold)
		}
	}
	// Both count the same bytes; only the GPU has copies.
	for i, s := range host.Rows() {
		if g := gpu.Rows()[i]; s.Bytes != g.Bytes || !s.Name.Equal(g.Name) {
			t.Errorf("%+v beside %+v", s, g)
		}
	}
	n := int64(161 * 123)
	if host.Stages[0].Bytes != (3+2+1)*n || host.Upload.Bytes < 3*n || host.Upload.Rate() != 0 ||
		host.Download.Rate() != 0 {
		t.Errorf("%+v", host)
	}
	if gpu.Upload.Warm.Median != time.Microsecond || gpu.Upload.Limit != 5e10 || gpu.Download.Limit != 6e10 ||
		gpu.Kernels.Limit != 4e12 || gpu.Stages[1].Limit != 4e12 {
		t.Errorf("%+v", gpu)
	}
	if host.Limits.Local <= 0 || host.Limits.Up != 0 || host.Title != processorName() {
		t.Errorf("%+v", host)
	}
	if v := c.Speedup(1); v != float64(host.Total.Warm.Median)/float64(gpu.Total.Warm.Median) || c.Speedup(0) != 1 {
		t.Errorf("speed-up %g", v)
	}

	for i, p := range told {
		if p.Done < 0 || p.Done > 1 || i > 0 && p.Done < told[i-1].Done || p.Doing.IsZero() {
			t.Fatalf("%+v after %+v", p, told[max(i-1, 0)])
		}
	}
	if told[0].Device != "cpu" || told[len(told)-1].Device != "cuda:7" || told[len(told)-1].Done < 0.8 {
		t.Errorf("from %+v to %+v", told[0], told[len(told)-1])
	}
}

func TestCompareFindsDifferences(t *testing.T) {
	t.Parallel()
	pic := painting(t, 161, 123, 8)
	closed := 0
	r := request(pic, &closed, &fakeGPU{Backend: cpu.New(), wrong: true})
	// The mask is downloaded only if it is cleaned up on the device.
	r.Params.Margin = 1
	c, err := Compare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := Difference{Device: "cuda:7", Against: "cpu", Pixels: 1, Got: 255}
	if len(c.Differences) != 1 || c.Differences[0] != want {
		t.Errorf("%+v", c.Differences)
	}
}

func TestDiffer(t *testing.T) {
	t.Parallel()
	result := func(pix []uint8, ids ...int) *detect.Found {
		r := &detect.Found{Mask: &processing.Mask{Width: 3, Height: 2, Pix: pix}}
		for _, id := range ids {
			r.Findings = append(r.Findings, detect.Finding{ID: id, Runs: []processing.Run{{Y: id}}})
		}
		return r
	}
	first := &outcome{"cpu", result([]uint8{0, 0, 255, 0, 9, 0}, 1, 2)}
	moved := result([]uint8{0, 0, 255, 0, 9, 0}, 1, 2)
	moved.Findings[1].Runs[0].X1++
	for _, c := range []struct {
		got  *detect.Found
		want *Difference
	}{
		{result([]uint8{0, 0, 255, 0, 9, 0}, 1, 2), nil},
		{result([]uint8{0, 0, 255, 0, 8, 1}, 1, 2), &Difference{Device: "x", Against: "cpu", Pixels: 2, X: 1, Y: 1,
			Got: 8, Want: 9}},
		{result([]uint8{0, 0, 255, 0, 9, 0}, 1), &Difference{Device: "x", Against: "cpu", Finding: 2}},
		{result([]uint8{0, 0, 255, 0, 9, 0}, 1, 2, 3), &Difference{Device: "x", Against: "cpu", Finding: 3}},
		{moved, &Difference{Device: "x", Against: "cpu", Finding: 2}},
	} {
		got := differ("x", c.got, first)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if got != nil {
			for lang, name := range map[string]string{"en": "cpu", "ru": "ЦП"} {
				s := i18n.For(lang).Sprint(got.Text())
				if !strings.HasSuffix(s, ".") || !strings.Contains(s, name) || strings.Contains(s, "%!") {
					t.Error(s)
				}
			}
		}
	}
}

// If a device fails at any detection, its earlier measurements are kept, and the other device is complete.
func TestCompareDeviceFails(t *testing.T) {
	t.Parallel()
	pic := painting(t, 161, 123, 8)
	for _, c := range []struct {
		fails, runs int
		gpuFirst    bool
	}{{0, 0, false}, {1, 0, false}, {2, 0, false}, {3, 1, false}, {4, 2, true}} {
		closed := 0
		g := &fakeGPU{Backend: cpu.New(), failure: &driver.Problem{Reason: driver.Fault, Code: 719,
			Detail: "wait for the GPU"}, fails: c.fails}
		r := request(pic, &closed, g)
		if c.gpuFirst {
			slices.Reverse(r.Devices)
		}
		got, err := Compare(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		host, gpu := got.Devices[0], got.Devices[1]
		if c.gpuFirst {
			host, gpu = gpu, host
		}
		if host.State != experiment.Measured || host.Runs != 3 || host.Kernels.Limit <= 0 || closed != 2 {
			t.Errorf("%d: the CPU: %+v, %d closed", c.fails, host, closed)
		}
		if gpu.State != experiment.Failed || gpu.Runs != c.runs || !strings.Contains(gpu.Note.String(), "719") {
			t.Errorf("%d: the GPU: %+v", c.fails, gpu)
		}
		if (len(gpu.Stages) > 0) != (c.fails > 0) || (gpu.Total.Warm.Median > 0) != (c.runs > 0) ||
			len(got.Differences) != 0 || got.Marked == 0 {
			t.Errorf("%d: the GPU: %+v", c.fails, gpu)
		}
		var b bytes.Buffer
		if err := errors.Join(got.Table(&b, machine(), i18n.For("en")), got.CSV(&b),
			got.JSON(&b, machine(), i18n.For("ru"))); err != nil || !strings.Contains(b.String(), "719") {
			t.Errorf("%v\n%s", err, b.String())
		}
		if _, err := got.Plots(i18n.For("en")); err != nil {
			t.Error(err)
		}
	}
}

func TestCompareMissingDevice(t *testing.T) {
	t.Parallel()
	pic := painting(t, 161, 123, 8)
	closed := 0
	r := request(pic, &closed, nil)
	r.Devices = []string{"cuda:7", "cpu", "cuda:8"}
	c, err := Compare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if c.Devices[0].State != experiment.NeedsGPU || c.Devices[0].Note.String() != "The NVIDIA driver finds no such GPU." || c.Devices[1].State != experiment.Measured || c.Devices[2].Name != "cuda:8" {
		t.Errorf("%+v", c.Devices)
	}
	if c.Speedup(1) != 1 || c.Speedup(0) != 0 || !c.Missing.IsZero() {
		t.Errorf("%g, %g, %q", c.Speedup(1), c.Speedup(0), c.Missing.String())
	}
	if lines := strings.Join(c.Conclusions(i18n.For("en")), "\n"); !strings.Contains(lines,
		"cuda:7 was not measured. The NVIDIA driver finds no such GPU.") || !strings.Contains(lines, "not compared") {
		t.Error(lines)
	}

	r.Devices = []string{"cuda:7"}
	if c, err = Compare(t.Context(), r); err != nil || len(c.measured()) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	var b bytes.Buffer
	if err := c.Table(&b, machine(), i18n.For("ru")); err != nil || !strings.Contains(b.String(), "не измерено") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if plots, err := c.Plots(i18n.For("en")); err != nil || len(plots) != 0 {
		t.Errorf("%v, %v", plots, err)
	}
}

func TestCompareTellsNotices(t *testing.T) {
	t.Parallel()
	pic := painting(t, 161, 123, 8)
	closed := 0
	r := request(pic, &closed, nil)
	r.Devices = []string{"cuda:7"}
	r.Open = func(context.Context, string) (Runner, error) {
		return fakeRunner{b: &fakeGPU{Backend: cpu.New()}, notice: new(message.Of("In bands.")), closed: &closed}, nil
	}
	c, err := Compare(t.Context(), r)
	if err != nil || c.Devices[0].State != experiment.Measured || c.Devices[0].Note.String() != "In bands." {
		t.Errorf("%+v, %v", c, err)
	}
	if !slices.Contains(c.Conclusions(i18n.For("ru")), "cuda:7: In bands.") {
		t.Error(c.Conclusions(i18n.For("ru")))
	}
}

func TestCompareAllDevices(t *testing.T) {
	t.Parallel()
	c, err := Compare(t.Context(), Request{Picture: painting(t, 40, 30, 8), Params: processing.DefaultParams(),
		Repeat: 1, copyBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if c.Devices[0].Name != "cpu" || (len(c.Devices) == 1) == (c.Missing.IsZero()) {
		t.Errorf("%+v", c)
	}
}

func TestCompareCancelled(t *testing.T) {
	t.Parallel()
	pic := painting(t, 161, 123, 8)
	for _, at := range []string{"opening", "luminance", "cleanup", "copy limits"} {
		closed := 0
		ctx, cancel := context.WithCancel(t.Context())
		r := request(pic, &closed, &fakeGPU{Backend: cpu.New()})
		r.Progress = func(p Progress) {
			if p.Device == "cuda:7" && p.Doing.String() == at {
				cancel()
			}
		}
		if c, err := Compare(ctx, r); !errors.Is(err, context.Canceled) || c != nil || closed != 2 {
			t.Errorf("%s: %+v, %v, %d closed", at, c, err, closed)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	pic := painting(t, 20, 20, 8)
	outside, err := processing.ParseRegion("rect:100,100,5,5")
	if err != nil {
		t.Fatal(err)
	}
	bad := processing.DefaultParams()
	bad.Window = 4
	for i, r := range []Request{
		{Picture: pic, Params: processing.DefaultParams()},
		{Params: processing.DefaultParams(), Repeat: 1},
		{Picture: &processing.Picture{Width: 3}, Params: processing.DefaultParams(), Repeat: 1},
		{Picture: pic, Params: bad, Repeat: 1},
		{Picture: pic, Params: processing.DefaultParams(), Region: outside, Repeat: 1},
	} {
		r.Open = func(context.Context, string) (Runner, error) {
			t.Errorf("%d: a device is opened", i)
			return nil, errors.New("not expected")
		}
		if _, err := Compare(t.Context(), r); err == nil {
			t.Errorf("%d: no error", i)
		}
	}
}

func TestHostCopyRate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 4097, 1 << 20} {
		if v, err := hostCopyRate(t.Context(), n, 2); err != nil || v < 0 || n > 5000 && v < 1e6 {
			t.Errorf("%d bytes: %g, %v", n, v, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hostCopyRate(ctx, 100, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// comparison returns a made-up comparison of two devices and a missing one.
func comparison() *Comparison {
	stage := func(name message.Text, ms float64, bytes int64, limit float64) Stage {
		d := time.Duration(ms * 1e6)
		return Stage{Name: message.Of(name), Cold: 3 * d, Warm: experiment.Spread{Median: d, Q1: d * 9 / 10,
			Q3: d * 11 / 10, Fastest: d / 2}, Bytes: bytes, Limit: limit}
	}
	host := Measurement{Name: "cpu", Title: "Abacus 3", State: experiment.Measured, Open: 20e3, Runs: 9,
		Limits:  CopyRates{Local: 2e10},
		Stages:  []Stage{stage("luminance", 10, 1e8, 2e10), stage("cleanup", 0.5, 0, 2e10)},
		Upload:  stage("upload", 0, 5e7, 0),
		Kernels: stage("kernels", 10.5, 1e8, 2e10), Download: stage("download", 0, 1e6, 0),
		Rest:  stage("rest", 1, 0, 0),
		Total: stage("total", 11.5, 0, 0)}
	gpu := Measurement{Name: "cuda:0", Title: "H200", State: experiment.Measured, Open: 400e6, Runs: 9,
		Limits: CopyRates{4e12, 5e10, 4e10},
		Stages: []Stage{stage("luminance", 0.05, 1e8, 4e12), stage("cleanup", 0.5, 0, 4e12)},
		Upload: stage("upload", 2, 5e7, 5e10), Kernels: stage("kernels", 0.55, 1e8, 4e12),
		Download: stage("download", 0.1, 1e6, 4e10), Rest: stage("rest", 0.25, 0, 0), Total: stage("total", 2.9, 0, 0)}
	return &Comparison{Width: 5300, Height: 3533, Channels: 3, Depth: 16, Params: processing.DefaultParams(),
		Findings: 41, Marked: 1234,
		Devices: []Measurement{host, gpu, {Name: "cuda:1", State: experiment.NeedsGPU,
			Note: message.Of("There is none.")}}}
}

func TestComparisonTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := comparison().Table(&b, machine(), i18n.For("en")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Abacus 3, 4 cores, kernels: avx2; ", "5300 × 3533 pixels (18.7 MP), channels: 3, bits: 16, adaptive mode\n",
		"stage      cpu, ms    quartiles  GB/s  % of copy  cuda:0, ms        quartiles  GB/s  % of copy  speed-up\n",
		"luminance     10.0    9.00…11.0  10.0       50.0     0.05000  0.04500…0.05500  2000       50.0       200\n",
		"cleanup      0.500  0.450…0.550                        0.500      0.450…0.550                       1.00\n",
		"upload                                                  2.00        1.80…2.20  25.0       50.0\n",
		"total         11.5    10.3…12.7                         2.90        2.61…3.19                       3.97\n",
		"opening                0.02000         400\n", "first detection           34.5        8.70\n",
		"together with opening     34.5         409\n",
		"cuda:0               4000           50.0             40.0\n",
		"cuda:1 was not measured. There is none.\n",
		"Speed-up of cuda:0 over cpu: 3.97 × for a whole detection, 0.08446 × from opening to the first result.\n",
		"The masks and the findings of cpu, cuda:0 are identical (findings: 41, pixels of the mask: 1234).\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	c := comparison()
	c.Differences = []Difference{{Device: "cuda:0", Against: "cpu", Pixels: 3, X: 1, Y: 2, Got: 255}}
	c.Params.Mode = processing.Manual
	if err := errors.Join(c.Table(&b, machine(), i18n.For("ru")), c.markdown(&b, i18n.For("ru"))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ручной режим", "обработка маски", "ускорение", "Маски cuda:0 и ЦП различаются (пикселей: 3), впервые в (1, 2): 255 вместо 0.", "| яркость | 10,0 | 9,00…11,0 |", "- cuda:1: не измерено. There is none.\n",
		"Ускорение cuda:0 относительно ЦП: 3,97 × для всего поиска, 0,08446 × от открытия до первого результата."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	// Without a GPU there are no copies.
	alone := comparison()
	alone.Devices = alone.Devices[:1]
	if rows := alone.Warm(i18n.For("en")); len(rows) != 1+2+3 || rows[3][0] != "kernels" || len(rows[0]) != 5 {
		t.Errorf("%q", rows)
	}
	if strings.Contains(b.String(), "одинаковы") {
		t.Error("what differs is called identical")
	}
}

func TestComparisonFromTheStart(t *testing.T) {
	t.Parallel()
	c := comparison()
	c.Devices[0].Start, c.Devices[1].Start = 30*time.Millisecond, 250*time.Millisecond
	cold := c.Cold(i18n.For("en"))
	if first, last := cold[1], cold[len(cold)-1]; !slices.Equal(first,
		[]string{"start of program and driver", "30.0", "250"}) ||
		!slices.Equal(last, []string{"from the start of the program", "64.5", "659"}) {
		t.Errorf("%q", cold)
	}
	var table, document bytes.Buffer
	if err := errors.Join(c.CSV(&table), c.JSON(&document, machine(), i18n.For("en"))); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 1+2*9+1 || !slices.Contains(rows[10], "start of program and driver") ||
		!slices.Contains(rows[10], strconv.Itoa(250e6)) {
		t.Errorf("%q, %v", rows, err)
	}
	if !strings.Contains(document.String(), `"startNs": 250000000,`) {
		t.Error(document.String())
	}
}

func TestComparisonCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := comparison().CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	// Opening, two stages and five sums on two devices, and the one that is missing.
	if len(rows) != 1+2*8+1 {
		t.Fatalf("%d rows", len(rows))
	}
	get := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	luminance := rows[10]
	for name, want := range map[string]string{"device": "cuda:0", "title": "H200", "width": "5300", "depth": "16",
		"state": "measured", "stage": "luminance", "runs": "9",
		"median_ns": "50000", "q1_ns": "45000", "cold_ns": "150000", "bytes": "100000000",
		"bytes_per_s": "2000000000000", "limit_bytes_per_s": "4000000000000"} {
		if got := get(luminance, name); got != want {
			t.Errorf("%s: %q, want %q in %q", name, got, want, luminance)
		}
	}
	if last := rows[17]; get(last, "note") != "There is none." || get(last, "state") != "needs GPU" ||
		get(last, "stage") != "" {
		t.Errorf("%q", last)
	}
	if get(rows[9], "stage") != "opening" || get(rows[9], "cold_ns") != strconv.Itoa(400e6) {
		t.Errorf("%q", rows[9])
	}
}

func TestComparisonJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	c := comparison()
	if err := c.JSON(&b, machine(), i18n.For("ru")); err != nil {
		t.Fatal(err)
	}
	var d comparisonDocument
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Machine.CPU != "Abacus 3" || d.Width != 5300 || d.Depth != 16 || len(d.Devices) != 3 || d.Identical == nil ||
		!*d.Identical || d.Params["window"] == "" || d.Findings != 41 {
		t.Errorf("%+v", d)
	}
	if strings.Contains(b.String(), "startNs") {
		t.Error("a start that is not known is told")
	}
	gpu := d.Devices[1]
	if gpu.Title != "H200" || gpu.Open != 400e6 || gpu.Local != 4e12 || len(gpu.Stages) != 7 || gpu.Stages[0].Name != "яркость" || gpu.Stages[0].Stage != "luminance" ||
		gpu.Stages[0].Share != 0.5 || gpu.Speedup < 3.9 || d.Devices[2].Note != "There is none." {
		t.Errorf("%+v", gpu)
	}
	b.Reset()
	c.Devices = c.Devices[:1]
	if err := c.JSON(&b, machine(), i18n.For("en")); err != nil || strings.Contains(b.String(), "identical") {
		t.Errorf("one device is compared: %v\n%s", err, b.String())
	}
}

func TestComparisonSaves(t *testing.T) {
	t.Parallel()
	want := []string{"detect.txt", "detect.md", "detect.csv", "detect.json", "detect_time.png", "detect_time.svg",
		"detect_share.png", "detect_share.svg"}
	for _, lang := range []string{"en", "ru"} {
		dir := filepath.Join(t.TempDir(), "new")
		written, err := comparison().Save(t.Context(), dir, false, machine(), i18n.For(lang))
		if err != nil || len(written) != len(want) {
			t.Fatalf("%q, %v", written, err)
		}
		for i, path := range written {
			if filepath.Base(path) != want[i] {
				t.Errorf("wrote %s, want %s", path, want[i])
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "detect_time.svg"))
		if err != nil || !bytes.Contains(text, []byte("<svg")) ||
			!bytes.Contains(text, []byte("font-family:'Liberation Serif','Times New Roman',")) {
			t.Errorf("%v, the SVG has no other font of the same widths", err)
		}
		img := testpic.Image(t, filepath.Join(dir, "detect_time.png"))
		// Both devices are drawn, in their colours.
		seen := map[[3]uint32]bool{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				seen[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
			}
		}
		for _, c := range palette()[:2] {
			if !seen[[3]uint32{uint32(c.R), uint32(c.G), uint32(c.B)}] {
				t.Errorf("no %v among %d colours", c, len(seen))
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := comparison().Save(ctx, t.TempDir(), false, machine(), i18n.For("en")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
