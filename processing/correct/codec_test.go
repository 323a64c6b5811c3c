package correct

import (
	"sort"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// The code with the nearest root is the one that a search in all roots finds, on curves with steps, too.
func TestNearestRootIsThatOfASearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 4}).Draw(t, "channels")
		pic := &processing.Picture{Width: 1, Height: 1, Channels: channels, U8: make([]uint8, channels)}
		if rapid.Bool().Draw(t, "16 bits") {
			pic.U8, pic.U16 = nil, make([]uint16, channels)
		}
		pic.Transfer = rapid.SampledFrom([]processing.Transfer{processing.TransferSRGB, processing.TransferLinear}).Draw(t, "transfer")
		if rapid.Bool().Draw(t, "curve") {
			v := float32(0)
			for _, step := range rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 0.01, 0.3}), 2, 9).Draw(t, "steps") {
				v += step
				pic.Curve = append(pic.Curve, v)
			}
		}
		d := newCodec(pic)
		last := len(d.roots) - 1
		for range 20 {
			r := rapid.SampledFrom([]float32{-1, 0, 1, 1.5, d.roots[last]}).Draw(t, "end")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				r = rapid.Float32Range(0, 1.2).Draw(t, "root")
			case 1:
				r = d.roots[rapid.IntRange(0, last).Draw(t, "code")]
			}
			want := sort.Search(last, func(i int) bool { return d.roots[i] >= r })
			if want > 0 && r-d.roots[want-1] < d.roots[want]-r {
				want--
			}
			if got := d.nearest(r); got != want {
				t.Fatalf("the code of %g is %d, not %d", r, got, want)
			}
		}
	})
}

// The level of every code, which blending works on, gives the code back, as does its root.
func TestCodesOfLevels(t *testing.T) {
	t.Parallel()
	for _, channels := range []int{3, 4} {
		d := newCodec(&processing.Picture{Width: 1, Height: 1, Channels: channels, U16: make([]uint16, channels)})
		p := processing.Patch{U16: []uint16{}}
		for code := range 1 << 16 {
			round(&p, float32(code)/float32(len(d.roots)-1), channels == 4)
			want := uint16(code)
			if channels == 4 {
				want = 65535 - want
			}
			if p.U16[code] != want {
				t.Fatalf("level %d of %d channels becomes %d", code, channels, p.U16[code])
			}
		}
	}
}
