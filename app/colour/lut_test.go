package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"blik/processing"
)

// toLab is the inverse of fromLab.
func toLab(xyz [3]float64) [3]float64 {
	w := white()
	x, y, z := labF(xyz[0]/w[0]), labF(xyz[1]/w[1]), labF(xyz[2]/w[2])
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// device is a made-up scanner or press: XYZ of samples in 0…1.
func device(channels int) func(v []float64) [3]float64 {
	space := spaces()[2]
	colourants := space.colourants()
	return func(v []float64) [3]float64 {
		light := [3]float64{}
		for k := range light {
			switch channels {
			case 1:
				light[k] = v[0]
			case 3:
				light[k] = 0.004 + 0.99*v[k]
			default:
				// Inks that absorb a little of each other's light, and a black that is not quite.
				light[k] = (1 - 0.93*v[k]) * (1 - 0.06*v[(k+1)%3]) * (1 - 0.96*v[3])
			}
		}
		return colourants.apply(light)
	}
}

// encoding is how a table stores its results.
type encoding struct {
	kind string
	lab  bool
	// bytes of a value.
	bytes int
}

func (e encoding) values(xyz [3]float64) (v [3]float64) {
	if !e.lab {
		for i := range v {
			v[i] = xyz[i] * 32768 / 65535
		}
		return v
	}
	lab := toLab(xyz)
	v = [3]float64{lab[0] / 100, (lab[1] + 128) / 255, (lab[2] + 128) / 255}
	if e.kind == "mft2" {
		for i := range v {
			v[i] *= 65280. / 65535
		}
	}
	return v
}

func (e encoding) write(b []byte, v float64) []byte {
	if e.bytes == 1 {
		return append(b, uint8(math.Round(unit(v)*255)))
	}
	return binary.BigEndian.AppendUint16(b, uint16(math.Round(unit(v)*65535)))
}

// grid is the nodes of a device, with the shaper undone.
func (e encoding) grid(channels, side int) []byte {
	f := device(channels)
	n := int(math.Pow(float64(side), float64(channels)))
	var b []byte
	for i := range n {
		v := make([]float64, channels)
		for k, rest := channels-1, i; k >= 0; k-- {
			v[k] = float64(rest%side) / float64(side-1)
			rest /= side
		}
		for _, x := range e.values(f(v)) {
			b = e.write(b, x)
		}
	}
	return b
}

// element is the table of the made-up device behind a gamma of 1.8 for RGB and none for CMYK.
func (e encoding) element(channels, side int) []byte {
	gamma := 1.8
	if channels == 4 {
		gamma = 1
	}
	shape := func(x float64) float64 { return math.Pow(x, gamma) }
	if e.kind == "mAB " {
		var curvesA, curvesB []byte
		for range channels {
			curvesA = append(curvesA, be("para", 0, uint16(0), uint16(0), gamma)...)
		}
		for range 3 {
			curvesB = append(curvesB, be("curv", 0, 0)...)
		}
		grid := make([]byte, 16)
		for i := range channels {
			grid[i] = uint8(side)
		}
		grid = be(grid, uint8(e.bytes), uint8(0), uint16(0), e.grid(channels, side))
		for len(grid)%4 != 0 {
			grid = append(grid, 0)
		}
		// A matrix and M curves that change nothing, to see that they are found.
		middle := be(1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.)
		const head = 32
		at := head + len(curvesB)
		b := be("mAB ", 0, uint8(channels), uint8(3), uint16(0), head, at, at+48, at+48+len(curvesB), at+48+len(curvesB)+len(grid))
		return be(b, curvesB, middle, curvesB, grid, curvesA)
	}
	b := be(e.kind, 0, uint8(channels), uint8(3), uint8(side), uint8(0), 1., 0., 0., 0., 1., 0., 0., 0., 1.)
	const entries = 256
	if e.bytes == 2 {
		b = be(b, uint16(entries), uint16(2))
	}
	for range channels {
		for i := range entries {
			b = e.write(b, shape(float64(i)/(entries-1)))
		}
	}
	b = append(b, e.grid(channels, side)...)
	for range 3 {
		if e.bytes == 1 {
			for i := range 256 {
				b = append(b, uint8(i))
			}
		} else {
			b = be(b, uint16(0), uint16(65535))
		}
	}
	return b
}

func (e encoding) profile(channels, side int) []byte {
	pcs := "XYZ "
	if e.lab {
		pcs = "Lab "
	}
	version := 2
	if e.kind == "mAB " {
		version = 4
	}
	return assemble(version, "scnr", map[int]string{1: "GRAY", 3: "RGB ", 4: "CMYK"}[channels], pcs, map[string][]byte{
		"A2B0": e.element(channels, side), "wtpt": be("XYZ ", 0, 0.9642, 1., 0.8249), "desc": describe(version, "device"), "cprt": describe(version, "none"),
	})
}

func encodings() []encoding {
	return []encoding{
		{"mft1", true, 1}, {"mft2", true, 2}, {"mft2", false, 2}, {"mAB ", true, 2}, {"mAB ", true, 1}, {"mAB ", false, 2},
	}
}

// TestTablesAgainstLittleCMS compares profiles of tables. Between the nodes both interpolate, not quite alike; a dark
// channel of a saturated colour shows it most.
func TestTablesAgainstLittleCMS(t *testing.T) {
	for _, e := range encodings() {
		for _, c := range []struct{ channels, side int }{{3, 17}, {3, 33}, {4, 9}} {
			if c.channels == 4 && !e.lab || c.side == 33 && e.bytes == 1 {
				continue
			}
			most := 4
			if !e.lab {
				most = 7
			}
			t.Run(fmt.Sprintf("%s lab %v, %d channels, %d nodes of %d bytes", e.kind, e.lab, c.channels, c.side, e.bytes), func(t *testing.T) {
				b := e.profile(c.channels, c.side)
				p := mustProfile(t, b)
				if p.tables == nil || !p.Exact || p.Channels != c.channels {
					t.Fatalf("the tables are not followed: %+v", p)
				}
				src := samples(c.channels)
				want := littleCMS(t, b, c.channels, src)
				compare(t, "8 bits", c.channels, src, shown(p, 8, src), want, most)
				if c.side == 17 {
					for _, depth := range []int{16, 32} {
						compare(t, fmt.Sprint(depth, " bits"), c.channels, src, shown(p, depth, src), want, most)
					}
				}
			})
		}
	}
}

// TestCubeAgainstTheTables compares the fast conversion with the slow one, which knows neither lanes nor a finer grid,
// for grids that fit the finer one well and badly.
func TestCubeAgainstTheTables(t *testing.T) {
	lab, xyz := encodings()[1], encodings()[2]
	for _, c := range []struct {
		e              encoding
		channels, side int
	}{{lab, 3, 2}, {lab, 3, 9}, {lab, 3, 33}, {lab, 3, 40}, {lab, 3, 70}, {xyz, 3, 21}, {lab, 4, 2}, {lab, 4, 5}, {lab, 4, 12}, {lab, 4, 17}} {
		p := mustProfile(t, c.e.profile(c.channels, c.side))
		src := samples(c.channels)
		want := make([]uint8, 0, len(src))
		for i := 0; i < len(src); i += c.channels {
			var v [4]float64
			for k := range c.channels {
				v[k] = float64(src[i+k]) / 255
			}
			for _, s := range encode(toScreen().apply(p.tables.xyz(v))) {
				want = append(want, uint8(s*255+0.5))
			}
		}
		compare(t, fmt.Sprintf("lab %v, %d channels, %d nodes", c.e.lab, c.channels, c.side), c.channels, src, shown(p, 8, src), want, 7)
	}
}

// TestCurveOfTables: equal samples of an RGB scanner have a curve, CMYK has none.
func TestCurveOfTables(t *testing.T) {
	e := encodings()[1]
	c := mustProfile(t, e.profile(3, 33)).Curve()
	if len(c) < 2 {
		t.Fatal("no curve")
	}
	for i, v := range c {
		x := math.Pow(float64(i)/float64(len(c)-1), 1.8)
		// Between nodes the darks of L*a*b* bend.
		if want := (0.004 + 0.99*x) / 0.994; math.Abs(float64(v)-want) > 0.006 {
			t.Fatalf("light of sample %d is %v, want %v", i, v, want)
		}
	}
	if c := mustProfile(t, e.profile(4, 5)).Curve(); c != nil {
		t.Error("CMYK has a curve")
	}
	if p := mustProfile(t, encodings()[2].profile(4, 5)); p.Exact || p.Reason.IsZero() {
		t.Error("tables from CMYK to XYZ are said to be followed exactly")
	}
}

// A grey profile may have a table alone.
func TestGreyTable(t *testing.T) {
	p := mustProfile(t, encodings()[1].profile(1, 33))
	for i, got := range shown(p, 8, samples(1)) {
		x := math.Pow(float64(i/3)/255, 1.8)
		want := processing.TransferSRGB.Encode(x) * 255
		// Steps of 1/32 of the shaped sample cut the corner of the darks.
		if x > 0.1 && math.Abs(float64(got)-want) > 1.5 {
			t.Fatalf("grey %d is shown as %d, want %.1f", i/3, got, want)
		}
	}
}

// A table of a kind that is not read leaves the rest of a profile usable, and says so.
func TestTablesThatAreNotRead(t *testing.T) {
	other := append([]byte("mpet"), make([]byte, 100)...)
	p := mustProfile(t, assemble(4, "prtr", "CMYK", "Lab ", map[string][]byte{"A2B0": other}))
	if p.Exact || p.Reason.IsZero() {
		t.Errorf("CMYK without its table: %+v", p)
	}
	if got := shown(p, 8, []uint8{0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 128}); got[0] != 255 || got[3] != 0 || got[4] != 255 || got[6] != 127 {
		t.Errorf("inks are shown as %v", got)
	}
	m := spaces()[2].colourants()
	tags := map[string][]byte{"A2B0": other}
	for k, c := range []string{"r", "g", "b"} {
		tags[c+"TRC"], tags[c+"XYZ"] = gammaTag(2.2), be("XYZ ", 0, m[0][k], m[1][k], m[2][k])
	}
	p = mustProfile(t, assemble(4, "mntr", "RGB ", "XYZ ", tags))
	if p.Exact || p.tables != nil || p.Channels != 3 {
		t.Errorf("RGB without its table: %+v", p)
	}
	if _, err := FromICC(assemble(4, "scnr", "RGB ", "Lab ", map[string][]byte{"A2B0": other})); !errors.Is(err, ErrProfile) {
		t.Errorf("RGB with nothing but a table that is not read: %v", err)
	}
}
