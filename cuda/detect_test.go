//go:build cuda && linux && amd64

package cuda

import (
	"bytes"
	"context"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/sample"
)

// glaring is a generated painting with glare.
func glaring(t testing.TB, w, h, depth int, seed uint64) *processing.Picture {
	t.Helper()
	clean, err := sample.Paint(background, w, h, depth, sample.PaintOptions{Seed: seed, Scene: "coast"})
	if err != nil {
		t.Fatal(err)
	}
	glare, err := sample.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	glare.Density *= 4
	glare.Seed = seed
	pic, _, _, err := sample.RenderGlare(background, clean, glare)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

// glareDev is the folder of the development set: BLIK_GLARE_DEV, or where the project's shared data lie.
func glareDev() string {
	if p := os.Getenv("BLIK_GLARE_DEV"); p != "" {
		return p
	}
	return "../../shared/data/glare-dev"
}

// decoded reads a PNG or JPEG file as 8-bit RGB.
func decoded(t testing.TB, path string) *processing.Picture {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	r := img.Bounds()
	pic := &processing.Picture{Width: r.Dx(), Height: r.Dy(), Channels: 3, U8: make([]uint8, 0, 3*r.Dx()*r.Dy())}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			pic.U8 = append(pic.U8, uint8(r>>8), uint8(g>>8), uint8(b>>8))
		}
	}
	return pic
}

// sameDetection runs detection on both backends and compares everything but the times.
func sameDetection(t *testing.T, dev *Backend, pic *processing.Picture, p processing.Params) *processing.Result {
	t.Helper()
	host := cpu.New()
	defer host.Close()
	want, err := processing.Detect(background, host, pic, p, processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := processing.Detect(background, dev, pic, p, processing.Options{})
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
	if n, size := dev.Live(); n != 0 || size != 0 {
		t.Fatalf("%d planes, %d bytes are left on the device", n, size)
	}
	return want
}

func TestDetect(t *testing.T) {
	dev := gpu(t)
	for _, size := range [][2]int{{1, 1}, {1, 97}, {131, 1}, {63, 65}, {641, 479}, {1203, 801}} {
		for _, depth := range []int{8, 16} {
			res := sameDetection(t, dev, glaring(t, size[0], size[1], depth, uint64(size[0]*depth)), processing.DefaultParams())
			if size[0] > 1000 && len(res.Findings) == 0 {
				t.Error("no glare on a painting with glare: the comparison says nothing")
			}
		}
	}
}

// Every parameter at both ends.
func TestDetectParameters(t *testing.T) {
	dev := gpu(t)
	pic := glaring(t, 301, 233, 8, 5)
	for _, s := range processing.Specs() {
		for _, v := range []float64{s.Min, s.Max} {
			p := processing.DefaultParams()
			if s.Manual {
				p.Mode = processing.Manual
			}
			if err := s.Set(&p, v); err != nil || p.Validate() != nil {
				continue
			}
			t.Run(s.ID, func(t *testing.T) { sameDetection(t, dev, pic, p) })
		}
	}
}

func TestDetectGlareDev(t *testing.T) {
	dev := gpu(t)
	files, _ := filepath.Glob(filepath.Join(glareDev(), "*_glare.*"))
	if len(files) == 0 {
		t.Skip("the development set is absent: ", glareDev())
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { sameDetection(t, dev, decoded(t, f), processing.DefaultParams()) })
	}
}

func TestCancel(t *testing.T) {
	dev := gpu(t)
	pic := glaring(t, 641, 479, 8, 3)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := processing.Detect(ctx, dev, pic, processing.DefaultParams(), processing.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	for after := time.Duration(0); after < 20*time.Millisecond; after += time.Millisecond {
		ctx, cancel := context.WithTimeout(background, after)
		_, err := processing.Detect(ctx, dev, pic, processing.DefaultParams(), processing.Options{})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled after %v: %v", after, err)
		}
	}
	if n, size := dev.Live(); n != 0 || size != 0 {
		t.Errorf("%d planes, %d bytes are left on the device", n, size)
	}
	sameDetection(t, dev, pic, processing.DefaultParams())
}
