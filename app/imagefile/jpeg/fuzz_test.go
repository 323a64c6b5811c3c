package jpeg

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"blik/internal/test/containertest"
	"blik/processing"
)

// fuzzPixels limits the fuzzer to pictures that decode quickly; callers of this package reject larger ones.
const fuzzPixels = 1 << 18

// FuzzOpen uses all of the package on a file: it reads information and pixels and rewrites one pixel.
func FuzzOpen(f *testing.F) {
	for seed, list := range [][][][2]int{factors1, factors3, factors4} {
		for _, hv := range list {
			for _, progressive := range []bool{false, true} {
				s := synthetic{File: File{width: 19, height: 11, frame: markerSOF0, adobe: seed - 1}, interval: seed}
				s.extra = appendSegment(appendSegment(nil, markerAPP2, []byte(signatureICC+"\x01\x01profile")),
					markerAPPD, []byte(signaturePhotoshop+"8BIM\x04\x04\x00\x00\x00\x00\x00\x04iptc"))
				var all []int
				for i := range hv {
					s.components = append(s.components, component{id: uint8(i + 1), h: hv[i][0], v: hv[i][1], quant: uint8(i % 2)})
					all = append(all, i)
				}
				if progressive {
					s.frame = markerSOF2
					s.add(all, 0, 0, 0, 1)
					for i := range all {
						s.add([]int{i}, 1, 63, 0, 1)
						s.add([]int{i}, 1, 63, 1, 0)
					}
					s.add(all, 0, 0, 1, 0)
				} else {
					s.add(all, 0, 63, 0, 0)
				}
				f.Add(s.file(f, s.coefficients(rand.New(rand.NewPCG(uint64(seed), 1)))))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, pic, ok := containertest.Attempt(t, Open, data, fuzzPixels)
		if !ok {
			return
		}
		x, y := pic.Width/2, pic.Height/2
		colour := bytes.Clone(pic.U8[(y*pic.Width+x)*pic.Channels:][:pic.Channels])
		for c := range colour {
			colour[c] ^= 0x7f
		}
		var out bytes.Buffer
		if err := file.Rewrite(t.Context(), &out, []processing.Patch{blotch(x, y, 1, colour...)}); err != nil {
			containertest.Fault(t, err)
			return
		}
		after := mustDecode(t, out.Bytes())
		maxH, maxV := file.sampling()
		for k := range pic.Width * pic.Height {
			px, py := k%pic.Width, k/pic.Width
			outside := !besideMCU(px, py, x, y, 1, maxH, maxV)
			at := k * pic.Channels
			if outside && !bytes.Equal(pic.U8[at:at+pic.Channels], after.U8[at:at+pic.Channels]) {
				t.Fatalf("pixel %d, %d changed too", px, py)
			}
		}
	})
}
