package view

import (
	"context"
	"fmt"
	"image"
	"math/rand/v2"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

const benchW, benchH = 5300, 3533

func BenchmarkRender(b *testing.B) {
	for _, depth := range []int{8, 16} {
		pic := testpic.Noise(benchW, benchH, 3, depth)
		p, err := NewPyramid(context.Background(), pic)
		if err != nil {
			b.Fatal(err)
		}
		m := NewMaskPyramid(testpic.Specks(benchW, benchH))
		full := processing.NewMask(benchW, benchH)
		for i := range full.Pix {
			full.Pix[i] = 255
		}
		f := NewMaskPyramid(full)
		dst := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
		viewport := dst.Rect.Max
		r := NewRenderer()
		for _, zoom := range []float64{0, 0.4, 0.63, 0.7, 1, 1.2, 4, 16} {
			t := Transform{}.Fit(image.Pt(benchW, benchH), viewport)
			name := "fit"
			if zoom > 0 {
				t = Transform{Zoom: zoom}.CentreOn(processing.Point{X: 2000.3, Y: 1500.7}, viewport)
				name = fmt.Sprintf("%g%%", zoom*100)
			}
			for _, c := range []struct {
				name string
				mask *MaskPyramid
				mode Mode
			}{{"mask", m, PictureAndMask}, {"plain", nil, PictureOnly}, {"outlines", m, Outlines}, {"full-mask", f,
				PictureAndMask}} {
				if depth == 16 && c.name != "mask" {
					continue
				}
				b.Run(fmt.Sprintf("%d-bit/%s/%s", depth, name, c.name), func(b *testing.B) {
					r.SetPicture(p, c.mask)
					o := DefaultOptions()
					o.Mode = c.mode
					b.ReportAllocs()
					b.SetBytes(int64(len(dst.Pix)))
					for b.Loop() {
						r.Render(dst, t, o)
					}
				})
			}
		}
	}
}

func BenchmarkPyramid(b *testing.B) {
	for _, depth := range []int{8, 16, 32} {
		pic := testpic.Noise(benchW, benchH, 3, depth)
		b.Run(fmt.Sprintf("%d-bit", depth), func(b *testing.B) {
			b.SetBytes(benchW * benchH)
			for b.Loop() {
				if _, err := NewPyramid(context.Background(), pic); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMaskPyramid(b *testing.B) {
	m := testpic.Specks(benchW, benchH)
	p := NewMaskPyramid(m)
	for _, r := range []image.Rectangle{image.Rect(0, 0, benchW, benchH), image.Rect(1000, 1000, 1600, 1600),
		image.Rect(1000, 1000, 1040, 1040)} {
		b.Run(fmt.Sprintf("%d×%d", r.Dx(), r.Dy()), func(b *testing.B) {
			b.SetBytes(int64(r.Dx() * r.Dy()))
			for b.Loop() {
				p.Update(r)
				p.refresh()
			}
		})
	}
}

// glints returns n patches of a few hundred pixels each, distributed over the picture.
func glints(pic *processing.Picture, n int) []processing.Patch {
	rnd := rand.New(rand.NewPCG(5, 6))
	patches := make([]processing.Patch, n)
	for i := range patches {
		p := &patches[i]
		p.Spot = i + 1
		x, y := rnd.IntN(pic.Width-12), rnd.IntN(pic.Height-12)
		for j := range 12 {
			p.Runs = append(p.Runs, processing.Run{Y: y + j, X0: x + j%3, X1: x + 9 + j%3})
		}
		if pic.U8 != nil {
			p.U8 = make([]uint8, 12*9*pic.Channels)
		} else {
			p.U16 = make([]uint16, 12*9*pic.Channels)
		}
	}
	return patches
}

func BenchmarkWith(b *testing.B) {
	for _, depth := range []int{8, 16} {
		pic := testpic.Noise(benchW, benchH, 3, depth)
		p, err := NewPyramid(context.Background(), pic)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 2000} {
			patches := glints(pic, n)
			b.Run(fmt.Sprintf("%d-bit/%d", depth, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.With(context.Background(), patches); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRenderTurned(b *testing.B) {
	pic := testpic.Noise(benchW, benchH, 3, 8)
	m := NewMaskPyramid(testpic.Specks(benchW, benchH))
	dst := image.NewRGBA(image.Rect(0, 0, 1600, 1000))
	for _, orientation := range []int{1, 3, 6} {
		p, err := NewPyramid(context.Background(), pic, WithOrientation(orientation))
		if err != nil {
			b.Fatal(err)
		}
		r := NewRenderer()
		r.SetPicture(p, m)
		t := Transform{Turn: p.Turn()}.Fit(image.Pt(benchW, benchH), dst.Rect.Max)
		b.Run(fmt.Sprint(orientation), func(b *testing.B) {
			for b.Loop() {
				r.Render(dst, t, DefaultOptions())
			}
		})
	}
}
