//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"gorgonia.org/cu"

	"blik/internal/test/testpic"
	"blik/internal/test/verified"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/detect"
	"blik/processing/network"
)

// passed are the tests that ran on a GPU and did not fail.
var passed = struct {
	sync.Mutex
	names []string
}{}

// TestMain writes the record of verification, kernels/verified.json, to BLIK_VERIFY if all tests passed on a GPU.
func TestMain(m *testing.M) {
	code := m.Run()
	b, err := shared()
	if path := os.Getenv("BLIK_VERIFY"); path != "" && code == 0 {
		if err == nil {
			err = writeRecord(path, b)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "no record of verification:", err)
			code = 1
		}
	}
	if b != nil {
		if err := b.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func writeRecord(path string, b *Backend) error {
	m, err := measure(b)
	if err != nil {
		return err
	}
	hash, err := verified.Hash("../kernels")
	if err != nil {
		return err
	}
	sort.Strings(passed.names)
	i := b.Info()
	r := verified.Record{
		Device: i.Name, Driver: "CUDA " + i.Driver, Date: time.Now().UTC().Format(time.DateOnly), Hash: hash,
		Tests: passed.names, Figures: m.figures, Ratios: m.ratios,
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// milliseconds returns the median over repetitions of the device's time for an operation with everything warm.
func milliseconds(b *Backend, f func() error) (float64, error) {
	const warm, repeats, times = 3, 9, 8
	var ms []float64
	for i := range warm + repeats {
		b.Timings()
		end := b.Stage("measured")
		for range times {
			if err := f(); err != nil {
				return 0, err
			}
		}
		end()
		for _, s := range b.Timings() {
			if i >= warm && s.Name == "measured" {
				ms = append(ms, s.Time.Seconds()*1e3/times)
			}
		}
	}
	slices.Sort(ms)
	return ms[len(ms)/2], nil
}

// meter collects figures and ratios; it keeps the first error.
type meter struct {
	b       *Backend
	figures []verified.Figure
	ratios  []verified.Ratio
	live    []processing.Plane
	err     error
}

// time measures an operation that reads and writes at least the given number of bytes, and returns its milliseconds.
func (m *meter) time(name string, bytes int, f func() error) float64 {
	if m.err != nil {
		return 1
	}
	ms, err := milliseconds(m.b, f)
	if err != nil {
		m.err = fmt.Errorf("%s: %w", name, err)
		return 1
	}
	m.figures = append(m.figures, verified.Figure{Name: name, Milliseconds: round(ms),
		GigabytesPerSecond: round(float64(bytes) / ms / 1e6)})
	return ms
}

// ratio records a number that is not a time.
func (m *meter) ratio(name string, value float64, unit string) {
	m.ratios = append(m.ratios, verified.Ratio{Name: name, Value: value, Unit: unit})
}

// spread returns by how much the slowest of some times exceeds the fastest.
func (m *meter) spread(name string, ms []float64) {
	m.ratio(name+": slowest above fastest", round(100*(slices.Max(ms)/slices.Min(ms)-1)), "%")
}

// plane allocates a plane, of random samples where it is to be filled.
func (m *meter) plane(kind processing.Kind, w, h int, fill bool) processing.Plane {
	if m.err != nil {
		return nil
	}
	p, err := m.b.Alloc(kind, w, h)
	if err != nil {
		m.err = err
		return nil
	}
	m.live = append(m.live, p)
	if fill {
		m.err = m.b.Upload(background, p, random(kind, w*h))
	}
	return p
}

func (m *meter) release() {
	for _, p := range m.live {
		p.Release()
	}
	m.live = nil
}

// random returns n samples, always the same.
func random(kind processing.Kind, n int) (s processing.Samples) {
	r := rand.New(rand.NewPCG(1, uint64(kind)))
	switch kind {
	case processing.U8:
		s.U8 = make([]uint8, n)
		for i := range s.U8 {
			s.U8[i] = uint8(r.Uint32())
		}
	case processing.U16:
		s.U16 = make([]uint16, n)
		for i := range s.U16 {
			s.U16[i] = uint16(r.Uint32())
		}
	case processing.F32:
		s.F32 = make([]float32, n)
		for i := range s.F32 {
			s.F32[i] = r.Float32()
		}
	}
	return s
}

// measure takes the figures of the record, on 18.7 megapixels with planes on the device.
func measure(b *Backend) (*meter, error) {
	m := &meter{b: b}
	defer m.release()
	m.windows()
	m.release()
	m.network()
	m.release()
	m.release()
	m.detection()
	return m, m.err
}

func (m *meter) windows() {
	const w, h = 5300, 3533
	const n = w * h
	b := m.b
	u8, u16 := m.plane(processing.U8, w, h, true), m.plane(processing.U16, w, h, true)
	d8, d16 := m.plane(processing.U8, w, h, false), m.plane(processing.U16, w, h, false)
	few := m.plane(processing.U8, w, h, false)
	if m.err != nil {
		return
	}
	if m.err = b.Upload(background, d16, processing.Samples{U16: make([]uint16, n)}); m.err != nil {
		return
	}
	if m.err = b.Do(background, processing.DifferenceThreshold{
		Dst: few, Y: u16, Background: d16, V: u8, Over: 64999,
	}); m.err != nil {
		return
	}

	var all, squares, words []float64
	for _, k := range []int{5, 15, 51, 101} {
		m.time(fmt.Sprintf("mean, U8, window %d", k), 2*n, func() error {
			return b.Do(background, processing.BoxMean{Dst: d8, Src: u8, Radius: k / 2})
		})
	}

	morph := func(d, s processing.Plane, op processing.MorphOp, e processing.Element) func() error {
		return func() error { return b.Do(background, processing.Morph{Dst: d, Src: s, Op: op, Element: e}) }
	}
	sizes := []int{3, 11, 25, 51, 75, 101}
	for _, k := range sizes {
		t := m.time(fmt.Sprintf("dilation, U8, %d × %d", k, k), 2*n, morph(d8, u8, processing.Dilate,
			processing.Square(k/2)))
		squares, all = append(squares, t), append(all, t)
	}
	for _, s := range [][2]int{{3, 51}, {51, 3}, {3, 101}, {101, 3}, {25, 101}, {101, 25}} {
		e := processing.Element{Width: s[0], Height: s[1]}
		all = append(all, m.time(fmt.Sprintf("dilation, U8, %d × %d", s[0], s[1]), 2*n,
			morph(d8, u8, processing.Dilate, e)))
	}
	m.spread("dilation, U8, squares of 3 to 101", squares)
	m.spread("dilation, U8, squares and oblong rectangles of 3 to 101", all)
	for _, k := range []int{3, 51, 101} {
		m.time(fmt.Sprintf("erosion, U8, %d × %d", k, k), 2*n, morph(d8, u8, processing.Erode, processing.Square(k/2)))
	}
	most := 0.0
	for i, k := range sizes {
		t := m.time(fmt.Sprintf("dilation, U16, %d × %d", k, k), 4*n, morph(d16, u16, processing.Dilate,
			processing.Square(k/2)))
		words, most = append(words, t), max(most, t/squares[i])
	}
	m.spread("dilation, U16, squares of 3 to 101", words)
	m.ratio("dilation, U16 to U8, squares of 3 to 101: largest", round(most), "")
	for _, k := range []int{3, 51, 101} {
		m.time(fmt.Sprintf("dilation, U8, horizontal line of %d", k), 2*n,
			morph(d8, u8, processing.Dilate, processing.Element{Width: k, Height: 1}))
		m.time(fmt.Sprintf("dilation, U8, vertical line of %d", k), 2*n,
			morph(d8, u8, processing.Dilate, processing.Element{Width: 1, Height: k}))
	}

	m.time("Gaussian, U8, radius 5", 2*n, func() error {
		return b.Do(background, processing.Gaussian{Dst: d8, Src: u8, Sigma: 5. / 3})
	})
	m.time("starlet band 2", 3*n, func() error {
		return b.Do(background, processing.StarletBand{Dst: d16, Src: u8})
	})
	m.time("background, radii 12 to 79, 1 % excluded", 5*n, func() error {
		return b.Do(background, processing.Background{Dst: d16, Y: u16, Exclude: few, Radii: []int{12, 22, 41, 79}})
	})
	m.time("background, radii 5 to 33, 1 % excluded", 5*n, func() error {
		return b.Do(background, processing.Background{Dst: d16, Y: u16, Exclude: few, Radii: []int{5, 9, 17, 33}})
	})
	m.time("background, radii 5 to 33, 99.6 % excluded", 5*n, func() error {
		return b.Do(background, processing.Background{Dst: d16, Y: u16, Exclude: u8, Radii: []int{5, 9, 17, 33}})
	})
	m.time("histogram, U8", 2*n, func() error {
		_, err := processing.Evaluate(background, b, processing.Histogram{Src: u8, Exclude: few})
		return err
	})
	m.time("noise tiles of 64", n, func() error {
		_, err := processing.Evaluate(background, b, processing.NoiseTiles{Src: u8, Side: 64})
		return err
	})
}

// network measures the network, and the time for its planes in addition to those of the classical detector.
func (m *meter) network() {
	const w, h = 5300, 3533
	const n = w * h
	model, err := network.Default()
	if m.err == nil {
		m.err = err
	}
	red, green, blue := m.plane(processing.U8, w, h, true), m.plane(processing.U8, w, h, true), m.plane(processing.U8, w,
		h, true)
	dst := m.plane(processing.U8, w, h, false)
	if m.err != nil {
		return
	}
	m.time("network", 4*n, func() error {
		return m.b.Do(background, processing.Glints{Dst: dst, Red: red, Green: green, Blue: blue, Model: model, Offset: 32})
	})
}

// detection measures the stages of detection on a painting with glare; copies are in the stages upload and download.
func (m *meter) detection() {
	if m.err != nil {
		return
	}
	const w, h = 5300, 3533
	glare, err := synth.Preset("default")
	if err != nil {
		m.err = err
		return
	}
	pic, _, _, err := synth.Generate(background, w, h, 8, 11, synth.PaintOptions{Scene: "coast"}, glare)
	if err != nil {
		m.err = err
		return
	}
	const warm, repeats = 2, 7
	var names []string
	times := map[string][]float64{}
	add := func(name string, ms float64) {
		if times[name] == nil {
			names = append(names, name)
		}
		times[name] = append(times[name], ms)
	}
	for i := range warm + repeats {
		start := time.Now()
		res, err := detect.Detect(background, m.b, pic, processing.DefaultParams(), detect.Options{})
		if err != nil {
			m.err = err
			return
		}
		total := time.Since(start)
		if i < warm {
			continue
		}
		onDevice := 0.0
		for _, s := range res.Timings {
			ms := s.Time.Seconds() * 1e3
			add("detection, 8-bit RGB: "+s.Name, ms)
			if s.Name != stageUpload && s.Name != stageDownload {
				onDevice += ms
			}
		}
		add("detection, 8-bit RGB: stages without upload and download", onDevice)
		add("detection, 8-bit RGB: whole, host memory to host memory", total.Seconds()*1e3)
	}
	for range repeats {
		sum, _, err := kernelTime(m.b, pic, detect.Options{})
		if err != nil {
			m.err = err
			return
		}
		add("detection, 8-bit RGB: all kernels alone", sum.Seconds()*1e3)
	}
	for _, name := range names {
		slices.Sort(times[name])
		ms := times[name][len(times[name])/2]
		m.figures = append(m.figures, verified.Figure{Name: name, Milliseconds: round(ms),
			GigabytesPerSecond: round(3 * w * h / ms / 1e6)})
	}
}

// kernelTime adds up the times of all kernels of a detection, and counts them. If the device is done before the host has
// queued the next kernel, the event comes early: the sum is never too small.
func kernelTime(
	b *Backend, pic *processing.Picture, o detect.Options,
) (sum time.Duration, kernels int, err error) {
	times, err := timedKernels(b.device, func() error {
		_, err := detect.Detect(background, b, pic, processing.DefaultParams(), o)
		return err
	})
	for _, ms := range times {
		sum += time.Duration(ms * float64(time.Millisecond))
	}
	return sum, len(times), err
}

// timedKernels returns the times in ms of the kernels that work queues, in the order of their launch. Each lies between
// two events of the stream, for which nothing waits before the end.
func timedKernels(d *device, work func() error) (ms []float64, err error) {
	var marks []cu.Event
	mark := func() {
		e, fault := d.event()
		if fault == nil {
			marks = append(marks, e)
			fault = d.fault(e.Record(d.stream), "record an event")
		}
		err = cmp.Or(err, fault)
	}
	timed := func(mark func()) error { return d.do(func() error { d.mark = mark; return nil }) }
	if err := timed(mark); err != nil {
		return nil, err
	}
	failed := work()
	if err := cmp.Or(failed, err, timed(nil)); err != nil {
		return nil, err
	}
	err = d.do(func() error {
		if err := d.synchronize(); err != nil {
			return err
		}
		for i := 0; i < len(marks); i += 2 {
			v, err := marks[i].Elapsed(marks[i+1])
			if err != nil {
				return d.fault(err, "read an event")
			}
			ms = append(ms, v)
		}
		for i := range marks {
			if err := cu.DestroyEvent(&marks[i]); err != nil {
				return d.fault(err, "destroy an event")
			}
		}
		return nil
	})
	return ms, err
}

// The time of the kernels is a part of the whole.
func TestKernelTime(t *testing.T) {
	b := gpu(t)
	pic := small(t, 641, 479, 8, 3)
	start := time.Now()
	sum, kernels, err := kernelTime(b, pic, detect.Options{Network: testpic.Network()})
	if total := time.Since(start); err != nil || kernels < 10 || sum <= 0 || sum > total {
		t.Errorf("%d kernels take %v of %v: %v", kernels, sum, total, err)
	}
	if b.device.mark != nil {
		t.Error("kernels are still timed")
	}
	t.Logf("%d kernels take %v", kernels, sum)
}

func round(v float64) float64 { return float64(int64(v*1e4+0.5)) / 1e4 }

// TestDetectTimes prints where the time of a whole detection with the program's network on 18.7 megapixels goes: each run,
// and the medians of those after the fourth one.
func TestDetectTimes(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	for _, depth := range []int{8, 16} {
		t.Run(fmt.Sprint(depth, " bits"), func(t *testing.T) {
			pic := glaring(t, 5300, 3533, depth, 11, 1)
			took, names := map[string][]float64{}, []string{"total"}
			for i := range 24 {
				start := time.Now()
				res, err := detect.Detect(background, b, pic, processing.DefaultParams(), detect.Options{})
				if err != nil {
					t.Fatal(err)
				}
				times := append(res.Timings, processing.StageTime{Name: "total", Time: time.Since(start)})
				mask := fnv.New64a()
				_, _ = mask.Write(res.Mask.Pix)
				line := ""
				for _, s := range times {
					ms := s.Time.Seconds() * 1e3
					line += fmt.Sprintf("  %s %.2f", s.Name, ms)
					if i < 4 {
						continue
					}
					if !slices.Contains(names, s.Name) {
						names = append(names, s.Name)
					}
					took[s.Name] = append(took[s.Name], ms)
				}
				t.Logf("run %d: %d findings, mask %x;%s", i, len(res.Findings), mask.Sum64(), line)
			}
			for _, name := range names {
				list := slices.Sorted(slices.Values(took[name]))
				t.Logf("%-16s median %7.3f ms, least %7.3f, quartiles %.3f to %.3f", name, list[len(list)/2], list[0],
					list[len(list)/4], list[len(list)*3/4])
			}
		})
	}
}

// TestNetworkStageTimes prints how long the steps of the network's stage take on the host, for 18.7 megapixels. A step
// without a result only queues its work.
func TestNetworkStageTimes(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	pic := glaring(t, 5300, 3533, 8, 11, 1)
	model, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	took := map[string][]float64{}
	var start time.Time
	step := func(name string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if took[name] == nil {
			names = append(names, name)
		}
		took[name] = append(took[name], time.Since(start).Seconds()*1e3)
		start = time.Now()
	}
	plane := func(kind processing.Kind) processing.Plane {
		p, err := b.Alloc(kind, pic.Width, pic.Height)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for range 12 {
		start = time.Now()
		y, v, logits := plane(processing.U16), plane(processing.U8), plane(processing.U8)
		red, green, blue := plane(processing.U8), plane(processing.U8), plane(processing.U8)
		step("planes", nil)
		tables := pic.Tables()
		step("tables", nil)
		step("luminance", b.Do(background, processing.Luminance{
			Y: y, V: v, Red: red, Green: green, Blue: blue, Picture: pic, Tables: tables,
		}))
		step("wait", b.device.do(b.device.synchronize))
		step("glints", b.Do(background, processing.Glints{
			Dst: logits, Red: red, Green: green, Blue: blue, Model: model, Offset: 16,
		}))
		step("wait for glints", b.device.do(b.device.synchronize))
		found, err := processing.Evaluate(background, b, processing.Label{Class: logits, Bits: 255})
		step("label", err)
		_, err = processing.Evaluate(background, b, processing.Spans{Components: found})
		step("spans", err)
		_, err = b.Host(background, logits)
		step("host", err)
		found.Release()
		for _, p := range []processing.Plane{y, v, logits, red, green, blue} {
			p.Release()
		}
		step("release", nil)
	}
	for _, name := range names {
		list := took[name][2:]
		slices.Sort(list)
		t.Logf("%-16s %7.3f ms, least %7.3f", name, list[len(list)/2], list[0])
	}
}

// The first use after the program's start: a context, and the kernels compiled for the GPU.
func TestOpenTime(t *testing.T) {
	gpu(t)
	start := time.Now()
	b, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened in %v", time.Since(start))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFigures prints the figures of the record.
func TestFigures(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	m, err := measure(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.figures {
		t.Logf("%-65s %8.4f ms %8.1f GB/s", f.Name, f.Milliseconds, f.GigabytesPerSecond)
	}
	for _, r := range m.ratios {
		t.Logf("%-75s %10.4g %s", r.Name, r.Value, r.Unit)
	}
}
