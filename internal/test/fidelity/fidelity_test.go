package fidelity_test

import (
	"math"
	"strings"
	"testing"

	"blik/internal/test/fidelity"
	"blik/processing"
)

func grey(rows ...[]uint8) *processing.Picture {
	p := &processing.Picture{Width: len(rows[0]), Height: len(rows), Channels: 1}
	for _, r := range rows {
		p.U8 = append(p.U8, r...)
	}
	return p
}

// mask returns the mask that rows draw: '#' is glare.
func mask(rows ...string) *processing.Mask {
	m := processing.NewMask(len(rows[0]), len(rows))
	for i, c := range strings.Join(rows, "") {
		if c == '#' {
			m.Pix[i] = 255
		}
	}
	return m
}

func TestEqualPictures(t *testing.T) {
	t.Parallel()
	p := grey([]uint8{1, 2, 3}, []uint8{4, 5, 6})
	f, err := fidelity.Measure(p, p, mask("..#", "..."), 1)
	if err != nil || f.PSNR != 99 || math.Abs(f.SSIM-1) > 1e-9 {
		t.Errorf("%+v, %v", f, err)
	}
	// The disc of radius 1 holds the pixel and its neighbours in rows and columns.
	if f.Pixels != 3 {
		t.Errorf("%d pixels in the region, want 3", f.Pixels)
	}
}

func TestWithoutGlare(t *testing.T) {
	t.Parallel()
	p := grey([]uint8{1, 2}, []uint8{4, 5})
	f, err := fidelity.Measure(p, grey([]uint8{9, 9}, []uint8{9, 9}), mask("..", ".."), 3)
	if err != nil || f != (fidelity.Fidelity{PSNR: 99, SSIM: 1}) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestOutsideIsIgnored(t *testing.T) {
	t.Parallel()
	a, b := grey(make([]uint8, 9)), grey(make([]uint8, 9))
	a.U8[0], b.U8[8] = 16, 200
	f, err := fidelity.Measure(a, b, mask("#........"), 1)
	if err != nil || f.Pixels != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	if want := 10 * math.Log10(255*255/128.0); math.Abs(f.PSNR-want) > 1e-9 {
		t.Errorf("PSNR %g, want %g", f.PSNR, want)
	}
}

// On flat pictures, similarity depends on the means only.
func TestSimilarityOfFlatPictures(t *testing.T) {
	t.Parallel()
	flat := func(v uint8) *processing.Picture {
		p := &processing.Picture{Width: 4, Height: 3, Channels: 3, U8: make([]uint8, 36)}
		for i := range p.U8 {
			p.U8[i] = v
		}
		return p
	}
	f, err := fidelity.Measure(flat(100), flat(50), mask("....", ".#..", "...."), 1)
	c := 0.01 * 255 * 0.01 * 255
	if want := (2*100*50 + c) / (100*100 + 50*50 + c); err != nil || math.Abs(f.SSIM-want) > 1e-9 {
		t.Errorf("SSIM %g, want %g (%v)", f.SSIM, want, err)
	}
}

func TestDepthsAgree(t *testing.T) {
	t.Parallel()
	m := mask(".#.")
	a8, b8 := grey([]uint8{10, 20, 30}), grey([]uint8{12, 25, 30})
	wide := func(p *processing.Picture) (q, r *processing.Picture) {
		q = &processing.Picture{Width: 3, Height: 1, Channels: 1}
		r = &processing.Picture{Width: 3, Height: 1, Channels: 1}
		for _, v := range p.U8 {
			q.U16 = append(q.U16, uint16(v)*257)
			r.F32 = append(r.F32, float32(v)/255)
		}
		return q, r
	}
	a16, a32 := wide(a8)
	b16, b32 := wide(b8)
	want, _ := fidelity.Measure(a8, b8, m, 3)
	for _, p := range [][2]*processing.Picture{{a16, b16}, {a32, b32}} {
		got, err := fidelity.Measure(p[0], p[1], m, 3)
		if err != nil || math.Abs(got.PSNR-want.PSNR) > 1e-4 || math.Abs(got.SSIM-want.SSIM) > 1e-4 {
			t.Errorf("%+v, want %+v (%v)", got, want, err)
		}
	}
}

func TestInvalidInput(t *testing.T) {
	t.Parallel()
	a := grey([]uint8{1, 2, 3})
	for name, f := range map[string]func() (fidelity.Fidelity, error){
		"picture": func() (fidelity.Fidelity, error) { return fidelity.Measure(grey([]uint8{1, 2}), a, mask("..."), 3) },
		"mask":    func() (fidelity.Fidelity, error) { return fidelity.Measure(a, a, mask(".."), 3) },
		"invalid": func() (fidelity.Fidelity, error) { return fidelity.Measure(&processing.Picture{}, a, mask("..."), 3) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("another %s was accepted", name)
		}
	}
}
