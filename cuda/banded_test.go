//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"blik/cuda/driver"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/banded"
	"blik/processing/cpu"
	"blik/processing/detect"
)

func isShort(err error) bool {
	var p *driver.Problem
	return errors.As(err, &p) && (p.Reason == driver.NoMemory || p.Reason == driver.TooLarge)
}

// confine limits the pool to the given number of bytes until the test ends.
func confine(t testing.TB, dev *Backend, bytes int64) {
	t.Helper()
	set := func(limit int64) {
		if err := dev.run(background, func(*queue) error {
			dev.pool.mu.Lock()
			defer dev.pool.mu.Unlock()
			dev.pool.trim()
			dev.pool.limit = limit
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	set(bytes)
	t.Cleanup(func() { set(0) })
}

// inBands detects with at most the given number of bytes of device memory.
func inBands(t testing.TB, dev *Backend, pic *processing.Picture, p processing.Params,
	limit int64) (*detect.Result, error) {
	t.Helper()
	host := cpu.New()
	defer host.Close()
	b := banded.New(dev, host, limit, isShort)
	defer b.Close()
	res, err := detect.Detect(background, b, pic, p, detect.Options{Network: testpic.Network()})
	if n, _ := host.Live(); n != 0 {
		t.Fatalf("%d planes are not released", n)
	}
	released(t, dev)
	return res, err
}

// Detection in bands gives the same as the CPU, whether the bands fit at first or have to be halved.
func TestBanded(t *testing.T) {
	dev := gpu(t)
	host := cpu.New()
	defer host.Close()
	for _, depth := range []int{8, 16} {
		pic := glaring(t, 641, 1203, depth, 11, 4)
		want, err := detect.Detect(background, host, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		if err != nil || len(want.Findings) == 0 {
			t.Fatalf("%v, nothing is found on the CPU", err)
		}
		for _, c := range []struct{ limit, memory int64 }{{8 << 20, 0}, {1 << 30, 8 << 20}, {6 << 20, 6 << 20}} {
			confine(t, dev, c.memory)
			got, err := inBands(t, dev, pic, processing.DefaultParams(), c.limit)
			if err != nil {
				t.Fatalf("bands of %d bytes in a memory of %d: %v", c.limit, c.memory, err)
			}
			if got.Device != dev.Name() || !bytes.Equal(got.Mask.Pix, want.Mask.Pix) ||
				!reflect.DeepEqual(got.Findings, want.Findings) {
				t.Errorf("bands of %d bytes in a memory of %d: another result", c.limit, c.memory)
			}
		}
	}
}

// Memory into which no band fits is an error of the device.
func TestBandedNoMemory(t *testing.T) {
	dev := gpu(t)
	confine(t, dev, 1<<16)
	pic := glaring(t, 641, 479, 8, 3, 4)
	for _, limit := range []int64{8 << 20, 1 << 16, 1} {
		if _, err := inBands(t, dev, pic, processing.DefaultParams(), limit); !isShort(err) &&
			!errors.Is(err, banded.ErrMemory) {
			t.Errorf("bands of %d bytes: %v, want a lack of memory", limit, err)
		}
	}
}

// repeated is a picture of about the given number of megapixels, made of copies of one part.
func repeated(t testing.TB, megapixels, depth int) *processing.Picture {
	t.Helper()
	part := glaring(t, 4000, 2500, depth, 7, 1)
	across, down := 4, max(1, megapixels/40)
	pic := &processing.Picture{Width: across * part.Width, Height: down * part.Height, Channels: 3}
	row := 3 * part.Width
	for y := range pic.Height {
		i := y % part.Height * row
		for range across {
			if depth == 8 {
				pic.U8 = append(pic.U8, part.U8[i:i+row]...)
			} else {
				pic.U16 = append(pic.U16, part.U16[i:i+row]...)
			}
		}
	}
	return pic
}

// TestBandedTimes prints how long detection takes by bands, on the CPU and on the whole GPU. BLIK_BANDED names the
// pictures and the memory in MiB: "200x8:1024 400x8:2048".
func TestBandedTimes(t *testing.T) {
	cases := strings.Fields(os.Getenv("BLIK_BANDED"))
	testpic.Need(t, len(cases) > 0, "BLIK_BANDED, which names the pictures")
	dev := gpu(t)
	for _, c := range cases {
		size, mib, _ := strings.Cut(c, ":")
		mp, depth, _ := strings.Cut(size, "x")
		megapixels, err := strconv.Atoi(mp)
		if err != nil {
			t.Fatal(err)
		}
		bits, err := strconv.Atoi(depth)
		if err != nil {
			t.Fatal(err)
		}
		limit, err := strconv.ParseInt(mib, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		limit <<= 20
		pic := repeated(t, megapixels, bits)
		t.Logf("%d × %d pixels of %d bits", pic.Width, pic.Height, bits)
		var want *detect.Result
		measure := func(what string, detect func() (*detect.Result, error)) {
			for run := range 3 {
				start := time.Now()
				res, err := detect()
				if err != nil {
					t.Errorf("%s: %v", what, err)
					return
				}
				took := time.Since(start)
				if want == nil {
					want = res
				}
				if !bytes.Equal(res.Mask.Pix, want.Mask.Pix) || !reflect.DeepEqual(res.Findings, want.Findings) {
					t.Errorf("%s: another result", what)
				}
				t.Logf("%s, run %d: %v %v", what, run, took.Round(time.Millisecond), res.Timings)
			}
		}
		host := cpu.New()
		measure("cpu", func() (*detect.Result, error) {
			return detect.Detect(background, host, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		})
		_ = host.Close()
		measure("whole GPU", func() (*detect.Result, error) {
			return detect.Detect(background, dev, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
		})
		t.Run(c, func(t *testing.T) {
			confine(t, dev, limit)
			measure("bands", func() (*detect.Result, error) {
				return inBands(t, dev, pic, processing.DefaultParams(), limit)
			})
		})
	}
}
