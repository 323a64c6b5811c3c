package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blik/internal/test/testpic"
	"blik/processing"
)

// space is a colour space by its published primaries, white and curve.
type space struct {
	name  string
	xy    [3][2]float64
	white [2]float64
	// curve is a tag's bytes.
	curve []byte
	// gamma decodes as the tag should.
	gamma func(x float64) float64
}

func d50() [2]float64 { return [2]float64{0.34567, 0.35850} }
func d65() [2]float64 { return [2]float64{0.3127, 0.3290} }

func be(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		case float64:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
		case uint8:
			b = append(b, v)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, v)
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return b
}

func gammaTag(g float64) []byte { return be("curv", 0, 1, uint16(math.Round(g*256))) }

func tableTag(n int, f func(float64) float64) []byte {
	b := be("curv", 0, n)
	for i := range n {
		b = be(b, uint16(math.Round(f(float64(i)/float64(n-1))*65535)))
	}
	return b
}

// lightness is the inverse of CIE L*, the curve of eciRGB v2.
func lightness(x float64) float64 {
	if x <= 0.08 {
		return x * 100 / 903.2963
	}
	return math.Pow((x+0.16)/1.16, 3)
}

func spaces() []space {
	pow := func(g float64) func(float64) float64 { return func(x float64) float64 { return math.Pow(x, g) } }
	srgb := processing.TransferSRGB.Linear
	primaries := [3][2]float64{{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}}
	return []space{
		{"sRGB with a table", primaries, d65(), tableTag(1024, srgb), srgb},
		{"sRGB with a formula", primaries, d65(), be("para", 0, uint16(3), uint16(0), 2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045), srgb},
		{"Adobe RGB (1998)", [3][2]float64{{0.64, 0.33}, {0.21, 0.71}, {0.15, 0.06}}, d65(), be("curv", 0, 1, uint16(0x0233)), pow(563. / 256)},
		{"ProPhoto RGB", [3][2]float64{{0.734699, 0.265301}, {0.159597, 0.840403}, {0.036598, 0.000105}}, d50(),
			be("para", 0, uint16(3), uint16(0), 1.8, 1., 0., 1./16, 1./32), func(x float64) float64 {
				if x < 1./32 {
					return x / 16
				}
				return math.Pow(x, 1.8)
			}},
		{"eciRGB v2", [3][2]float64{{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}}, d50(), tableTag(4096, lightness), lightness},
		{"Display P3", [3][2]float64{{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}}, d65(), be("para", 0, uint16(4), uint16(0), 2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045, 0., 0.), srgb},
		{"linear sRGB", primaries, d65(), be("curv", 0, 0), pow(1)},
		{"P3 with gamma 1.8", [3][2]float64{{0.68, 0.32}, {0.265, 0.69}, {0.15, 0.06}}, d65(), be("para", 0, uint16(0), uint16(0), 1.8), pow(1.8)},
	}
}

// invert returns the inverse of a matrix by Cramer's rule.
func invert(m matrix) (r matrix) {
	cofactor := func(i, k int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (k+1)%3, (k+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	det := m[0][0]*cofactor(0, 0) + m[0][1]*cofactor(0, 1) + m[0][2]*cofactor(0, 2)
	for i := range r {
		for k := range r {
			r[k][i] = cofactor(i, k) / det
		}
	}
	return r
}

// colourants returns the columns of primaries in XYZ, adapted to D50 by Bradford's method.
func (s space) colourants() matrix {
	xyz := func(xy [2]float64) [3]float64 { return [3]float64{xy[0] / xy[1], 1, (1 - xy[0] - xy[1]) / xy[1]} }
	var p matrix
	for k, xy := range s.xy {
		for i, v := range xyz(xy) {
			p[i][k] = v
		}
	}
	w := xyz(s.white)
	scale := invert(p).apply(w)
	for i := range p {
		for k := range p {
			p[i][k] *= scale[k]
		}
	}
	bradford := matrix{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	from, to := bradford.apply(w), bradford.apply(white())
	var d matrix
	for i := range d {
		d[i][i] = to[i] / from[i]
	}
	return invert(bradford).times(d).times(bradford).times(p)
}

// profile is a display profile of the given version.
func (s space) profile(version int) []byte {
	m := s.colourants()
	tags := map[string][]byte{"wtpt": be("XYZ ", 0, 0.9642, 1., 0.8249), "cprt": describe(version, "none"), "desc": describe(version, s.name)}
	for k, c := range []string{"r", "g", "b"} {
		tags[c+"TRC"] = s.curve
		tags[c+"XYZ"] = be("XYZ ", 0, m[0][k], m[1][k], m[2][k])
	}
	return assemble(version, "mntr", "RGB ", "XYZ ", tags)
}

func describe(version int, text string) []byte {
	if version < 4 {
		b := be("desc", 0, len(text)+1, text, uint8(0), 0, 0, uint16(0), uint8(0))
		return append(b, make([]byte, 67)...)
	}
	b := be("mluc", 0, 2, 12, "deDE", 4, 40, "enUS", 2*len(text), 44, uint16('x'), uint16('y'))
	for _, r := range text {
		b = be(b, uint16(r))
	}
	return b
}

// assemble makes a profile of tags.
func assemble(version int, class, space, pcs string, tags map[string][]byte) []byte {
	directory, data := be(len(tags)), []byte{}
	for name, tag := range tags {
		directory = be(directory, name, headerSize+4+12*len(tags)+len(data), len(tag))
		data = append(data, tag...)
		for len(data)%4 != 0 {
			data = append(data, 0)
		}
	}
	size := headerSize + len(directory) + len(data)
	header := be(size, "test", version<<24, class, space, pcs, make([]byte, 12), "acsp", make([]byte, 28), 0.9642, 1., 0.8249)
	header = append(header, make([]byte, headerSize-len(header))...)
	return be(header, directory, data)
}

func greyProfile(curve []byte, pcs string) []byte {
	return assemble(2, "mntr", "GRAY", pcs, map[string][]byte{
		"kTRC": curve, "wtpt": be("XYZ ", 0, 0.9642, 1., 0.8249), "desc": describe(2, "grey"), "cprt": describe(2, "none"),
	})
}

func mustProfile(t testing.TB, b []byte) *Profile {
	t.Helper()
	p, err := FromICC(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// samples are colours of all kinds: a grid, a fine grey wedge, and the dark ones where curves differ most.
func samples(channels int) []uint8 {
	var s []uint8
	switch channels {
	case 1:
		for i := range 256 {
			s = append(s, uint8(i))
		}
	case 3:
		for i := range 18 * 18 * 18 {
			s = append(s, uint8(i%18*15), uint8(i/18%18*15), uint8(i/18/18*15))
		}
		for i := range 256 {
			s = append(s, uint8(i), uint8(i), uint8(i))
		}
		for i := range 16 * 16 * 16 {
			s = append(s, uint8(i%16), uint8(i/16%16), uint8(i/256))
		}
	default:
		for i := range 10 * 10 * 10 * 10 {
			s = append(s, uint8(i%10*28), uint8(i/10%10*28), uint8(i/100%10*28), uint8(i/1000*28))
		}
	}
	return s
}

// script converts raw samples by littleCMS: argv holds mode, profile, source and result.
const script = `
import sys
from PIL import Image, ImageCms
mode, profile, source, result = sys.argv[1:]
data = open(source, 'rb').read()
n = len(data) // len(mode)
img = Image.frombytes(mode, (n, 1), data)
# Relative colorimetric, without the shortcuts that round.
t = ImageCms.buildTransform(profile, ImageCms.createProfile('sRGB'), mode, 'RGB', 1, 0x100)
open(result, 'wb').write(ImageCms.applyTransform(img, t).tobytes())
`

// littleCMS returns what the independent implementation makes of samples; it skips where there is none.
func littleCMS(t *testing.T, profile []byte, channels int, samples []uint8) []uint8 {
	t.Helper()
	testpic.Long(t)
	python := testpic.Python(t, "PIL.ImageCms")
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	for n, b := range map[string][]byte{"profile.icc": profile, "source": samples} {
		if err := os.WriteFile(name(n), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mode := map[int]string{1: "L", 3: "RGB", 4: "CMYK"}[channels]
	if out, err := exec.Command(python, "-c", script, mode, name("profile.icc"), name("source"), name("result")).CombinedOutput(); err != nil {
		t.Fatalf("littleCMS: %v\n%s", err, out)
	}
	b, err := os.ReadFile(name("result"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shown converts samples with Screen, 8 or 16 bits deep or as floats.
func shown(p *Profile, depth int, samples []uint8) []uint8 {
	pic := asPicture(p.Channels, depth, samples)
	line := make([]uint32, pic.Width)
	p.Screen(depth).Row(line, pic, 0, 0)
	out := make([]uint8, 0, 3*len(line))
	for _, v := range line {
		out = append(out, uint8(v), uint8(v>>8), uint8(v>>16))
	}
	return out
}

func asPicture(channels, depth int, samples []uint8) *processing.Picture {
	pic := &processing.Picture{Width: len(samples) / channels, Height: 1, Channels: channels}
	switch depth {
	case 8:
		pic.U8 = samples
	case 16:
		for _, v := range samples {
			pic.U16 = append(pic.U16, uint16(v)*257)
		}
	default:
		for _, v := range samples {
			pic.F32 = append(pic.F32, float32(v)/255)
		}
	}
	return pic
}

// compare fails where two rows of RGB differ by more than most.
func compare(t *testing.T, what string, channels int, source, got, want []uint8, most int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	worst, at, sum := 0, 0, 0
	for i := range got {
		d := int(got[i]) - int(want[i])
		d = max(d, -d)
		sum += d
		if d > worst {
			worst, at = d, i/3
		}
	}
	mean := float64(sum) / float64(len(got))
	t.Logf("%s: at most %d, mean %.3f of 255", what, worst, mean)
	if mean > 0.4 {
		t.Errorf("%s: the mean difference is %.3f of 255", what, mean)
	}
	if worst > most {
		t.Errorf("%s: %v is shown as %v, expected %v", what, source[channels*at:][:channels], got[3*at:][:3], want[3*at:][:3])
	}
}

func TestMatrixProfilesAgainstLittleCMS(t *testing.T) {
	for _, s := range spaces() {
		for _, version := range []int{2, 4} {
			// What the versions write differently does not depend on the primaries.
			if (version == 4) != (s.name == "Display P3") {
				continue
			}
			t.Run(fmt.Sprintf("%s, version %d", s.name, version), func(t *testing.T) {
				b := s.profile(version)
				p := mustProfile(t, b)
				if !p.Exact || p.Channels != 3 || p.Name != s.name {
					t.Errorf("profile %q with %d channels, exact %v", p.Name, p.Channels, p.Exact)
				}
				src := samples(3)
				want := littleCMS(t, b, 3, src)
				for _, depth := range []int{8, 16, 32} {
					compare(t, fmt.Sprint(depth, " bits"), 3, src, shown(p, depth, src), want, 1)
				}
			})
		}
	}
}

func TestGreyProfilesAgainstLittleCMS(t *testing.T) {
	for name, b := range map[string][]byte{
		"gamma 2.2":  greyProfile(gammaTag(2.2), "XYZ "),
		"gamma 1.8":  greyProfile(gammaTag(1.8), "XYZ "),
		"linear":     greyProfile(be("curv", 0, 0), "XYZ "),
		"dot gain":   greyProfile(tableTag(256, func(x float64) float64 { return math.Pow(x, 1.75)*0.96 + 0.04*x }), "XYZ "),
		"L*":         greyProfile(be("curv", 0, 0), "Lab "),
		"like sRGB":  greyProfile(tableTag(1024, processing.TransferSRGB.Linear), "XYZ "),
		"a formula":  greyProfile(be("para", 0, uint16(1), uint16(0), 2., 1.1, -0.1), "XYZ "),
		"an offset":  greyProfile(be("para", 0, uint16(2), uint16(0), 2., 0.9, 0.05, 0.08), "XYZ "),
		"not rising": greyProfile(tableTag(3, func(x float64) float64 { return 4 * x * (1 - x) }), "XYZ "),
	} {
		t.Run(name, func(t *testing.T) {
			p := mustProfile(t, b)
			src := samples(1)
			want := littleCMS(t, b, 1, src)
			for _, depth := range []int{8, 16, 32} {
				compare(t, fmt.Sprint(depth, " bits"), 1, src, shown(p, depth, src), want, 1)
			}
		})
	}
}

// Pictures of sRGB are shown as they are stored, whoever wrote the profile.
func TestSRGBIsTheIdentity(t *testing.T) {
	profiles := map[string]*Profile{"none": FromPicture(&processing.Picture{Channels: 3}), "sRGB": SRGB()}
	for _, s := range spaces()[:2] {
		for _, version := range []int{2, 4} {
			profiles[fmt.Sprint(s.name, version)] = mustProfile(t, s.profile(version))
		}
	}
	src := samples(3)
	for name, p := range profiles {
		if p.Curve() != nil {
			t.Errorf("%s: a curve", name)
		}
		s := p.Screen(8)
		if !s.asIs {
			t.Errorf("%s: 8-bit samples go through tables", name)
		}
		compare(t, name, 3, src, shown(p, 8, src), src, 0)
		compare(t, name+", 16 bits", 3, src, shown(p, 16, src), src, 0)
	}
	grey := samples(1)
	rgb := shown(mustProfile(t, greyProfile(tableTag(1024, processing.TransferSRGB.Linear), "XYZ ")), 8, grey)
	for i, v := range rgb {
		if int(v) != i/3 {
			t.Fatalf("grey %d is shown as %d", i/3, v)
		}
	}
}

// TestToSRGB: matrices of wide gamuts take colours to what the exact conversion says, those of sRGB are none.
func TestToSRGB(t *testing.T) {
	for _, s := range spaces() {
		p := mustProfile(t, s.profile(2))
		m := p.ToSRGB()
		if strings.Contains(s.name, "sRGB") {
			if m != nil {
				t.Errorf("%s: primaries %v", s.name, m)
			}
			continue
		}
		if m == nil {
			t.Errorf("%s: no primaries", s.name)
			continue
		}
		pic := &processing.Picture{Width: 1, Height: 1, Channels: 3, U8: make([]uint8, 3), ToSRGB: m}
		if err := pic.Validate(); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		v := [3]float64{0.5, 0.4, 0.45}
		want := p.encoded(v)
		for c := range 3 {
			light := m[3*c]*s.gamma(v[0]) + m[3*c+1]*s.gamma(v[1]) + m[3*c+2]*s.gamma(v[2])
			if got := processing.TransferSRGB.Encode(light); math.Abs(got-want[c]) > 1e-4 {
				t.Errorf("%s: channel %d is %g, want %g", s.name, c, got, want[c])
			}
		}
	}
	if mustProfile(t, greyProfile(tableTag(2, func(x float64) float64 { return x }), "XYZ ")).ToSRGB() != nil {
		t.Error("a grey profile has primaries")
	}
}

func TestCurve(t *testing.T) {
	for _, s := range spaces() {
		c := mustProfile(t, s.profile(2)).Curve()
		if likeSRGB(s.gamma) {
			if c != nil {
				t.Errorf("%s: a curve, though it is that of sRGB", s.name)
			}
			continue
		}
		pic := &processing.Picture{Width: 1, Height: 1, Channels: 3, U8: make([]uint8, 3), Curve: c}
		if err := pic.Validate(); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		for i := range 65536 {
			x := float64(i) / 65535
			if got, want := pic.Linear(x), s.gamma(x); math.Abs(got-want) > 2./65535 {
				t.Fatalf("%s: light of %g is %g, want %g", s.name, x, got, want)
			}
		}
	}
	falling := mustProfile(t, greyProfile(tableTag(2, func(x float64) float64 { return 1 - x }), "XYZ "))
	if falling.Curve() != nil {
		t.Error("a falling curve was taken")
	}
}

func TestFor(t *testing.T) {
	adobe := mustProfile(t, spaces()[2].profile(2))
	for channels, exact := range map[int]bool{1: true, 3: true, 4: false} {
		p := adobe.For(channels)
		if p.Channels != channels || p.Exact != exact || p.Reason.IsZero() != exact || p.Name != adobe.Name {
			t.Errorf("RGB for %d channels: %+v", channels, p)
		}
		p.Screen(8)
	}
	// Grey through an RGB profile is what its equal samples are.
	grey := samples(1)
	var equal []uint8
	for _, v := range grey {
		equal = append(equal, v, v, v)
	}
	compare(t, "grey", 1, grey, shown(adobe.For(1), 8, grey), shown(adobe, 8, equal), 0)

	gamma := mustProfile(t, greyProfile(gammaTag(1.8), "XYZ "))
	p := gamma.For(3)
	compare(t, "RGB through grey", 3, equal, shown(p, 8, equal), shown(gamma, 8, grey), 0)
	if p.Exact || gamma.For(4).Exact || mustProfile(t, encodings()[1].profile(4, 3)).For(3).Exact {
		t.Error("a profile of other channels is said to be exact")
	}
	if p := FromPicture(&processing.Picture{Channels: 4}); p.Exact || p.Reason.IsZero() {
		t.Errorf("CMYK without a profile: %+v", p)
	}
}

func TestFromGamma(t *testing.T) {
	p, err := FromGamma(3, 2.2)
	if err != nil || p.Curve() == nil || !p.Exact {
		t.Fatalf("gamma 2.2: %+v, %v", p, err)
	}
	src := samples(1)
	for i, got := range shown(p.For(1), 16, src) {
		if want := processing.TransferSRGB.Encode(math.Pow(float64(i/3)/255, 2.2)) * 255; math.Abs(float64(got)-want) > 0.6 {
			t.Fatalf("grey %d is shown as %d, want %.2f", i/3, got, want)
		}
	}
	for _, g := range []float64{0, -1, 0.01, 100, math.NaN(), math.Inf(1)} {
		if _, err := FromGamma(3, g); err == nil {
			t.Errorf("a gamma of %g was taken", g)
		}
	}
	if _, err := FromGamma(4, 2.2); err == nil {
		t.Error("a gamma for CMYK was taken")
	}
}

// Descriptions of any length and language give a name, or none.
func TestDescription(t *testing.T) {
	mluc := func(records ...any) []byte { return be(append([]any{"mluc", 0}, records...)...) }
	for _, c := range []struct {
		tag  []byte
		want string
	}{
		{describe(2, "A name"), "A name"},
		{describe(4, "A name"), "A name"},
		{be("desc", 0, 1000, "short"), ""},
		{be("desc", 0, 6, "a\nb\x00cd"), "ab"},
		{mluc(1, 12, "deDE", 4, 28, uint16('ä'), uint16('ö')), "äö"},
		{mluc(1, 12, "deDE", 400, 28, uint16('x')), ""},
		{mluc(1<<30, 12, "enUS", 4, 28), ""},
		{be("text", 0, 0, "x"), ""},
		{nil, ""},
	} {
		tags := map[string][]byte{"kTRC": gammaTag(2)}
		if c.tag != nil {
			tags["desc"] = c.tag
		}
		if got := mustProfile(t, assemble(2, "mntr", "GRAY", "XYZ ", tags)).Name; got != c.want {
			t.Errorf("%q: name %q, want %q", c.tag, got, c.want)
		}
	}
}

func TestDamagedProfiles(t *testing.T) {
	good := spaces()[0].profile(2)
	change := func(at int, with ...byte) []byte {
		b := append([]byte(nil), good...)
		copy(b[at:], with)
		return b
	}
	for name, b := range map[string][]byte{
		"empty":                   nil,
		"a header alone":          good[:headerSize],
		"no signature":            change(36, 'x'),
		"version 9":               change(8, 9),
		"a link":                  change(12, 'l', 'i', 'n', 'k'),
		"another colour space":    change(16, 'H', 'S', 'V', ' '),
		"another connection":      change(20, 'L', 'u', 'v', ' '),
		"too many tags":           change(headerSize, 0xff, 0xff, 0xff, 0xff),
		"a tag past the end":      change(headerSize+8, 0xff, 0xff),
		"truncated":               good[:len(good)-3000],
		"RGB of nothing":          assemble(2, "mntr", "RGB ", "XYZ ", nil),
		"grey of nothing":         assemble(2, "mntr", "GRAY", "XYZ ", nil),
		"no primaries":            assemble(2, "mntr", "RGB ", "XYZ ", map[string][]byte{"rTRC": gammaTag(2), "gTRC": gammaTag(2), "bTRC": gammaTag(2)}),
		"a long curve":            greyProfile(be("curv", 0, 1<<31-1, uint16(3)), "XYZ "),
		"a curve of another kind": greyProfile(be("sf32", 0, 1, 3), "XYZ "),
		"a formula of kind 9":     greyProfile(be("para", 0, uint16(9), uint16(0), 1.), "XYZ "),
		"a short formula":         greyProfile(be("para", 0, uint16(4), uint16(0), 1.), "XYZ "),
		"a formula divided by 0":  greyProfile(be("para", 0, uint16(1), uint16(0), 2., 0., 1.), "XYZ "),
		"a short table":           assemble(2, "prtr", "CMYK", "Lab ", map[string][]byte{"A2B0": encodings()[1].element(4, 4)[:700]}),
		"a table for RGB":         assemble(2, "prtr", "CMYK", "Lab ", map[string][]byte{"A2B0": encodings()[1].element(3, 3)}),
		"a table without nodes":   assemble(2, "prtr", "CMYK", "Lab ", map[string][]byte{"A2B0": be("mft2", 0, uint8(4), uint8(3), uint8(0), uint8(0), make([]byte, 36), uint16(2), uint16(2), make([]byte, 100))}),
		"a table of a lying size": assemble(2, "prtr", "CMYK", "Lab ", map[string][]byte{"A2B0": be("mft2", 0, uint8(4), uint8(3), uint8(255), uint8(0), make([]byte, 36), uint16(2), uint16(2), make([]byte, 100))}),
	} {
		if p, err := FromICC(b); err == nil {
			t.Errorf("%s: no error, %+v", name, p)
		} else if !errors.Is(err, ErrProfile) {
			t.Errorf("%s: %v does not wrap ErrProfile", name, err)
		}
	}
}

// A profile of another kind is not damaged, and the reason says what it is.
func TestUnsuitableProfiles(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"it is for Lab, not for grey, RGB or CMYK":                  func(b []byte) { copy(b[12:], "spacLab Lab ") },
		"it is for YCbr, not for grey, RGB or CMYK":                 func(b []byte) { copy(b[16:], "YCbr") },
		"it is for 6CLR, not for grey, RGB or CMYK":                 func(b []byte) { copy(b[16:], "6CLR") },
		"it has version 5, and only versions 2 and 4 can be read":   func(b []byte) { b[8] = 5 },
		"it does not describe the colours of pictures (class link)": func(b []byte) { copy(b[12:], "link") },
	} {
		b := spaces()[0].profile(2)
		change(b)
		_, err := FromICC(b)
		if u, ok := errors.AsType[*Unsuitable](err); !ok || u.Reason.String() != name {
			t.Errorf("%v, want %q", err, name)
		}
	}
	odd := spaces()[0].profile(2)
	copy(odd[16:], "\x01\x02\x03\x04")
	if _, err := FromICC(odd); !errors.Is(err, ErrProfile) || errors.As(err, new(*Unsuitable)) {
		t.Errorf("no colour space: %v", err)
	}
}

// FuzzFromICC: no input may panic, and what is read must be usable.
func FuzzFromICC(f *testing.F) {
	for _, s := range spaces() {
		f.Add(s.profile(2))
	}
	f.Add(spaces()[4].profile(4))
	f.Add(greyProfile(gammaTag(2.2), "Lab "))
	for _, e := range encodings() {
		f.Add(e.profile(3, 3))
		f.Add(e.profile(4, 2))
		f.Add(e.profile(1, 3))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := FromICC(b)
		if err != nil {
			if !errors.Is(err, ErrProfile) {
				t.Fatalf("%v does not wrap ErrProfile", err)
			}
			return
		}
		if p.Exact != p.Reason.IsZero() {
			t.Fatalf("exact %v, reason %q", p.Exact, p.Reason.String())
		}
		pic := &processing.Picture{Width: 1, Height: 1, Channels: p.Channels, U8: make([]uint8, p.Channels), Curve: p.Curve()}
		if err := pic.Validate(); err != nil {
			t.Fatal(err)
		}
		if p.tables == nil {
			line := make([]uint32, 1)
			p.Screen(8).Row(line, pic, 0, 0)
			return
		}
		for _, v := range [][4]float64{{}, {1, 1, 1, 1}, {0.3, 0.9, 0.5, 0.1}} {
			for _, s := range encode(toScreen().apply(p.tables.xyz(v))) {
				if !(s >= 0 && s <= 1) {
					t.Fatalf("%v is shown as %v", v, s)
				}
			}
		}
	})
}

// SRGB returns the profile of IEC 61966-2-1, the assumed profile of the screen.
func SRGB() *Profile { return plain(3, processing.TransferSRGB.Linear) }
