//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"bytes"
	"context"
	"errors"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"blik/cuda/driver"
	"blik/internal/test/testpic"
	"blik/lab/synth"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// glaring is a generated painting with glare, `density` times as dense as usual.
func glaring(t testing.TB, w, h, depth int, seed uint64, density float64) *processing.Picture {
	t.Helper()
	clean, err := synth.Paint(background, w, h, depth, synth.PaintOptions{Seed: seed, Scene: "coast"})
	if err != nil {
		t.Fatal(err)
	}
	glare, err := synth.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= density
	glare.Seed = seed
	pic, _, _, err := synth.RenderGlare(background, clean, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

// small is a picture full of glare, smaller still in the short tests, which also run in emulation.
func small(t testing.TB, w, h, depth int, seed uint64) *processing.Picture {
	if testing.Short() {
		w, h = w/2, h/2
	}
	return glaring(t, w, h, depth, seed, 4)
}

// glareDev is the folder of the development set: BLIK_GLARE_DEV, or where the project's shared data lie.
func glareDev() string {
	if p := os.Getenv("BLIK_GLARE_DEV"); p != "" {
		return p
	}
	return "../../shared/data/glare-dev"
}

// sameDetection runs detection on both backends and compares everything except the times.
func sameDetection(t *testing.T, dev *Backend, pic *processing.Picture, p processing.Params) *detect.Result {
	t.Helper()
	host := cpu.New()
	defer host.Close()
	want, err := detect.Detect(background, host, pic, p, detect.Options{Network: testpic.Network()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := detect.Detect(background, dev, pic, p, detect.Options{Network: testpic.Network()})
	if err != nil {
		t.Fatal(err)
	}
	if got.Device != dev.Name() {
		t.Errorf("the device is %q, want %q", got.Device, dev.Name())
	}
	if !bytes.Equal(got.Mask.Pix, want.Mask.Pix) {
		t.Fatalf("the masks differ: %d pixels on the GPU, %d on the CPU", got.Mask.Area(), want.Mask.Area())
	}
	if !reflect.DeepEqual(got.Findings, want.Findings) || !reflect.DeepEqual(got.Chosen, want.Chosen) {
		t.Fatal("the findings differ")
	}
	released(t, dev)
	return want
}

func TestDetect(t *testing.T) {
	dev := gpu(t)
	sizes := [][2]int{{1, 1}, {1, 97}, {131, 1}, {63, 65}, {321, 239}, {1203, 801}}
	if testing.Short() {
		sizes = sizes[:5]
	}
	for _, size := range sizes {
		for _, depth := range []int{8, 16} {
			res := sameDetection(t, dev, glaring(t, size[0], size[1], depth, uint64(size[0]*depth), 4),
				processing.DefaultParams())
			if size[0] > 300 && len(res.Findings) == 0 {
				t.Error("no glare on a painting with glare: the comparison says nothing")
			}
		}
	}
}

// A picture of the greatest height or width passes through detection and through elements of every kind.
func TestLongestSides(t *testing.T) {
	testpic.Long(t)
	dev := gpu(t)
	for _, size := range [][2]int{{3, MaxSide}, {MaxSide, 3}} {
		sameDetection(t, dev, glaring(t, size[0], size[1], 16, 3, 4), processing.DefaultParams())
		for _, kind := range []processing.Kind{processing.U8, processing.U16} {
			p, err := dev.Alloc(kind, size[0], size[1])
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{3, 101, 20001} {
				if err := dev.Do(background, processing.Morph{
					Dst: p, Src: p, Op: processing.Open, Element: processing.Element{Width: k, Height: k},
				}); err != nil {
					t.Errorf("%v, size %d: %v", size, k, err)
				}
			}
			p.Release()
		}
	}
}

// Every parameter at its minimum and maximum.
func TestDetectParameters(t *testing.T) {
	dev := gpu(t)
	pic := small(t, 301, 233, 8, 5)
	testpic.Extremes(t, func(t *testing.T, p processing.Params) { sameDetection(t, dev, pic, p) })
}

func TestDetectGlareDev(t *testing.T) {
	dev := gpu(t)
	files, _ := filepath.Glob(filepath.Join(glareDev(), "*_glare.*"))
	testpic.Require(t, len(files) > 0, testpic.RequireShared, glareDev())
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { sameDetection(t, dev, testpic.RGB(t, f), processing.DefaultParams()) })
	}
}

// Many detections in a row use neither more device memory nor more host memory than a few. BLIK_LEAK_RUNS sets how
// many.
func TestNoLeak(t *testing.T) {
	dev := gpu(t)
	runs := 200
	if n, err := strconv.Atoi(os.Getenv("BLIK_LEAK_RUNS")); err == nil {
		runs = n
	}
	pic := glaring(t, 301, 233, 8, 5, 4)
	held := func() (device, host int64) {
		dev.pool.mu.Lock()
		defer dev.pool.mu.Unlock()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return dev.pool.held, int64(m.HeapInuse)
	}
	var device, host int64
	for i := range runs {
		if _, err := detect.Detect(background, dev, pic, processing.DefaultParams(),
			detect.Options{Network: testpic.Network()}); err != nil {
			t.Fatal(err)
		}
		if i == 50 {
			device, host = held()
		}
	}
	after, heap := held()
	if after != device {
		t.Errorf("after %d detections %d bytes of device memory are held, after 50 it was %d", runs, after, device)
	}
	if heap > host+8<<20 {
		t.Errorf("after %d detections the heap is %d bytes, after 50 it was %d", runs, heap, host)
	}
	t.Logf("%d detections hold %d bytes of device memory, %d of heap", runs, after, heap)
}

// The same correction on both backends.
func TestCorrect(t *testing.T) {
	dev := gpu(t)
	host := cpu.New()
	defer host.Close()
	for _, depth := range []int{8, 16} {
		pic := small(t, 641, 479, depth, 9)
		found := sameDetection(t, dev, pic, processing.DefaultParams())
		want, err := correct.Correct(background, host, pic, found.Mask, processing.DefaultParams(),
			correct.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := correct.Correct(background, dev, pic, found.Mask, processing.DefaultParams(),
			correct.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Patches) == 0 || !reflect.DeepEqual(got.Patches, want.Patches) {
			t.Fatalf("%d bits: the corrections differ, %d patches", depth, len(want.Patches))
		}
		released(t, dev)
	}
}

// A GPU with too little memory reports that, holds nothing, and continues to work.
func TestTooLittleMemory(t *testing.T) {
	dev := gpu(t)
	pic := small(t, 641, 479, 8, 3)
	defer func() { dev.pool.limit = 0 }()
	failed := 0
	for limit := int64(1 << 16); limit < 16<<20; limit += limit / 3 {
		dev.pool.mu.Lock()
		dev.pool.trim()
		dev.pool.limit = limit
		dev.pool.mu.Unlock()
		_, err := detect.Detect(background, dev, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		var p *driver.Problem
		if err != nil {
			failed++
			if !errors.As(err, &p) || p.Reason != driver.NoMemory {
				t.Fatalf("with %d bytes: %v", limit, err)
			}
		}
		if n, size := dev.Live(); n != 0 || size != 0 {
			t.Fatalf("with %d bytes: %d planes, %d bytes are left", limit, n, size)
		}
	}
	if failed == 0 {
		t.Error("there was always enough memory: the test says nothing")
	}
	dev.pool.limit = 0
	sameDetection(t, dev, pic, processing.DefaultParams())
}

// A closed backend refuses work, but still reports its times.
func TestClosed(t *testing.T) {
	gpu(t)
	b := opened(t)
	left, err := b.Alloc(processing.U8, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	end := b.Stage("open")
	if err := b.Close(); err == nil {
		t.Error("a plane that was not released is no error")
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	end()
	left.Release()
	if got := b.Timings(); len(got) != 0 {
		t.Errorf("times of a closed backend: %v", got)
	}
	if _, err := b.Alloc(processing.U8, 4, 4); err == nil {
		t.Error("a closed backend gave a plane")
	}
	if _, err := detect.Detect(background, b, glaring(t, 31, 31, 8, 1, 1), processing.DefaultParams(),
		detect.Options{Network: testpic.Network()}); err == nil {
		t.Error("a closed backend detects")
	}
}

func TestCancel(t *testing.T) {
	dev := gpu(t)
	pic := small(t, 641, 479, 8, 3)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := detect.Detect(ctx, dev, pic, processing.DefaultParams(),
		detect.Options{Network: testpic.Network()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	for after := time.Duration(0); after < 20*time.Millisecond; after += time.Millisecond {
		ctx, cancel := context.WithTimeout(background, after)
		_, err := detect.Detect(ctx, dev, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled after %v: %v", after, err)
		}
	}
	released(t, dev)
	sameDetection(t, dev, pic, processing.DefaultParams())
}
