//go:build cuda && linux && amd64

package cuda

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"gorgonia.org/cu"

	"blik/kernels"
	"blik/processing"
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
	figures, err := figures(b)
	if err != nil {
		return err
	}
	sort.Strings(passed.names)
	i := b.Info()
	r := kernels.Record{
		Device: i.Name, Driver: "CUDA " + i.Driver, Date: time.Now().UTC().Format(time.DateOnly), Hash: kernels.Hash(),
		Tests: passed.names, Figures: figures,
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// milliseconds is the median over repetitions of the device's time for an operation with everything warm.
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

// figures are times on 18.7 megapixels, whose planes lie on the device.
func figures(b *Backend) ([]kernels.Figure, error) {
	const w, h = 5300, 3533
	var list []kernels.Figure
	var failed error
	add := func(name string, bytes int, f func() error) {
		if failed != nil {
			return
		}
		ms, err := milliseconds(b, f)
		if err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
			return
		}
		list = append(list, kernels.Figure{Name: name, Milliseconds: round(ms), GigabytesPerSecond: round(float64(bytes) / ms / 1e6)})
	}
	var live []processing.Plane
	fresh := func(kind processing.Kind, w, h int, fill bool) processing.Plane {
		p, err := b.Alloc(kind, w, h)
		if err != nil {
			failed = err
			return nil
		}
		live = append(live, p)
		if fill {
			r := rand.New(rand.NewPCG(1, uint64(kind)))
			s := processing.Samples{}
			n := w * h
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
			if err := b.Upload(background, p, s); err != nil {
				failed = err
			}
		}
		return p
	}
	defer func() {
		for _, p := range live {
			p.Release()
		}
	}()
	const n = w * h
	u8, u16, f32 := fresh(processing.U8, w, h, true), fresh(processing.U16, w, h, true), fresh(processing.F32, w, h, true)
	d8, d16 := fresh(processing.U8, w, h, false), fresh(processing.U16, w, h, false)
	f, g := fresh(processing.F32, w, h, false), fresh(processing.F32, w, h, false)
	few := fresh(processing.U8, w, h, false)
	if failed != nil {
		return nil, failed
	}
	if err := b.Threshold(background, few, u16, 65000); err != nil {
		return nil, err
	}
	add("copy of a U32 plane", 8*n, func() error {
		return b.run(background, func(q *queue) error {
			s, d := f32.(*plane), f.(*plane)
			return q.d.fault(cu.MemcpyDtoDAsync(d.memory.ptr, s.memory.ptr, s.pitch*int64(s.h), q.d.stream), "copy")
		})
	})
	for _, m := range []int{5, 15, 51, 101} {
		add(fmt.Sprintf("mean and variance, U8, window %d", m), 9*n, func() error { return b.MeanVariance(background, f, g, u8, m/2) })
	}
	for _, m := range []int{5, 51} {
		add(fmt.Sprintf("mean and variance, U16, window %d", m), 10*n, func() error { return b.MeanVariance(background, f, g, u16, m/2) })
	}
	for _, m := range []int{5, 15, 51, 101} {
		add(fmt.Sprintf("mean, U8, window %d", m), 2*n, func() error { return b.BoxMean(background, d8, u8, m/2) })
	}
	for _, m := range []int{3, 11, 25, 51, 101} {
		add(fmt.Sprintf("dilation, U8, %d × %d", m, m), 2*n, func() error {
			return b.Morph(background, d8, u8, processing.Dilate, processing.Square(m/2))
		})
	}
	for _, m := range []int{3, 51, 101} {
		add(fmt.Sprintf("dilation, U16, %d × %d", m, m), 4*n, func() error {
			return b.Morph(background, d16, u16, processing.Dilate, processing.Square(m/2))
		})
	}
	for _, m := range []int{3, 51, 101} {
		for _, dir := range []processing.Direction{processing.Horizontal, processing.Vertical, processing.Rising, processing.Falling} {
			add(fmt.Sprintf("dilation, U8, %s line of %d", [...]string{"", "horizontal", "vertical", "rising", "falling"}[dir], m), 2*n, func() error {
				return b.Morph(background, d8, u8, processing.Dilate, processing.Element{Direction: dir, Size: m})
			})
		}
	}
	add("Gaussian, U8, radius 5", 2*n, func() error { return b.Gaussian(background, d8, u8, 5./3) })
	add("Gaussian, U16, radius 5", 4*n, func() error { return b.Gaussian(background, d16, u16, 5./3) })
	add("Daubechies-4, one level, F32", 8*n, func() error { return b.Wavelet(background, f, f32, processing.Daubechies4) })
	add("starlet band 2", 3*n, func() error { return b.StarletBand(background, d16, u8, 2) })
	add("background, radii 12 to 79, 1 % excluded", 5*n, func() error {
		return b.Background(background, d16, u16, few, []int{12, 22, 41, 79})
	})
	add("deviation, radius 9", 5*n, func() error { return b.Deviation(background, d16, u16, few, 9) })
	add("count, radius 32", 3*n, func() error { return b.BoxCount(background, d16, few, 255, 32) })
	add("histogram, U16", 3*n, func() error { _, err := b.Histogram(background, u16, few); return err })
	add("noise tiles of 64", n, func() error { _, err := b.NoiseTiles(background, u8, 64); return err })
	for _, p := range live {
		p.Release()
	}
	live = nil
	sum := fresh(processing.F32, 4096, 4096, true)
	if failed == nil {
		add("moments of 16 Mi floats", 4<<24, func() error { _, err := b.Moments(background, sum); return err })
		add("moments of 16 Mi floats, kernel alone", 4<<24, func() error { return b.sumUp(sum.(*plane)) })
	}
	return list, failed
}

func round(v float64) float64 { return float64(int64(v*1e4+0.5)) / 1e4 }

// sumUp is the kernel of Moments without the way to the host.
func (b *Backend) sumUp(s *plane) error {
	return b.run(background, func(q *queue) error {
		out, err := q.bytes(8 * 6)
		if err != nil {
			return err
		}
		return q.launchSum(s, out)
	})
}

// TestDetectTimes prints where the time of a whole detection on 18.7 megapixels goes.
func TestDetectTimes(t *testing.T) {
	b := gpu(t)
	if testing.Short() {
		t.Skip("a large picture")
	}
	pic := glaring(t, 5300, 3533, 8, 11, 1)
	for i := range 6 {
		start := time.Now()
		res, err := processing.Detect(background, b, pic, processing.DefaultParams(), processing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		total := time.Since(start)
		line := ""
		for _, s := range res.Timings {
			line += fmt.Sprintf("  %s %.2f", s.Name, s.Time.Seconds()*1e3)
		}
		t.Logf("run %d: %.2f ms, %d findings;%s", i, total.Seconds()*1e3, len(res.Findings), line)
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
	if testing.Short() {
		t.Skip("large planes")
	}
	list, err := figures(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		t.Logf("%-45s %8.4f ms %8.1f GB/s", f.Name, f.Milliseconds, f.GigabytesPerSecond)
	}
}
