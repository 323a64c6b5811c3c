package jpeg

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/containertest"
	"blik/processing"
)

// grey returns a small grey file with segments after SOI.
func grey(t *testing.T, extra ...[]byte) []byte {
	t.Helper()
	s := synthetic{File: File{width: 9, height: 7, frame: markerSOF0, adobe: -1, components: []component{{id: 1, h: 1, v: 1}}}}
	s.extra = slices.Concat(extra...)
	s.add([]int{0}, 0, 63, 0, 0)
	return s.file(t, s.coefficients(rand.New(rand.NewPCG(1, 1))))
}

func iccChunk(number, count byte, data string) []byte {
	return appendSegment(nil, markerAPP2, []byte(signatureICC+string([]byte{number, count})+data))
}

func TestProfileInPieces(t *testing.T) {
	f := open(t, grey(t, iccChunk(3, 3, "three"), iccChunk(1, 3, "one "), iccChunk(2, 3, "two ")))
	if got := string(f.Info().Meta.ICC); got != "one two three" {
		t.Errorf("the profile is %q", got)
	}
	for name, chunks := range map[string][]byte{
		"a piece is missing":  slices.Concat(iccChunk(1, 3, "one"), iccChunk(3, 3, "three")),
		"a piece comes twice": slices.Concat(iccChunk(1, 2, "one"), iccChunk(1, 2, "one")),
		"two counts":          slices.Concat(iccChunk(1, 2, "one"), iccChunk(2, 3, "two")),
		"number 0":            iccChunk(0, 1, "none"),
	} {
		i := open(t, grey(t, chunks)).Info()
		if i.Meta.ICC != nil || len(i.Warnings) != 1 || !i.Warnings[0].Equal(container.DamagedProfile()) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// Parts that a new file would not hold are named, and comments can be in any character set.
func TestDropped(t *testing.T) {
	mpf := append([]byte("MPF\x00MM\x00*\x00\x00\x00\x08\x00\x01\xb0\x02\x00\x07\x00\x00\x00\x30\x00\x00\x00\x1a\x00\x00\x00\x00"),
		make([]byte, 48)...)
	thumb := []byte(signatureEXIF + "II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00" +
		"\x01\x00\x03\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	i := open(t, grey(t, appendSegment(nil, markerAPP1, thumb), appendSegment(nil, markerAPP2, mpf),
		appendSegment(nil, 0xeb, []byte("x")), appendSegment(nil, markerCOM, []byte("r\xe9sum\xe9\x00")),
		appendSegment(nil, markerCOM, []byte("приве́т")))).Info()
	if want := []string{"résumé", "приве́т"}; !slices.Equal(i.Meta.Comments, want) {
		t.Errorf("comments %q, want %q", i.Meta.Comments, want)
	}
	var got []string
	for _, d := range i.Dropped {
		got = append(got, d.String())
	}
	if want := []string{"2 further pictures", "segments of other programs (FFEB)"}; !slices.Equal(got, want) || i.Others.Further != 2 ||
		!slices.Equal(i.Others.Previews, []container.Preview{container.PreviewEXIF}) {
		t.Errorf("%q, %+v, want %q and a thumbnail", got, i.Others, want)
	}
}

func TestResolution(t *testing.T) {
	jfif := func(unit, x, y byte) []byte {
		return appendSegment(nil, markerAPP0, []byte(signatureJFIF+string([]byte{1, 2, unit, 0, x, 0, y, 0, 0})))
	}
	// EXIF with 240 × 240 per centimetre and orientation 8.
	exif := []byte("MM\x00*\x00\x00\x00\x08\x00\x04" +
		"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x08\x00\x00" + "\x01\x1a\x00\x05\x00\x00\x00\x01\x00\x00\x00\x3e" +
		"\x01\x1b\x00\x05\x00\x00\x00\x01\x00\x00\x00\x3e" + "\x01\x28\x00\x03\x00\x00\x00\x01\x00\x03\x00\x00" +
		"\x00\x00\x00\x00" + "\x00\x00\x01\xe0\x00\x00\x00\x02")
	app1 := appendSegment(nil, markerAPP1, append([]byte(signatureEXIF), exif...))
	unit3, unit1 := []byte("\x01\x28\x00\x03\x00\x00\x00\x01\x00\x03"), []byte("\x01\x28\x00\x03\x00\x00\x00\x01\x00\x01")
	for _, c := range []struct {
		name        string
		segments    []byte
		x, y        float64
		unit        container.Unit
		orientation int
	}{
		{"inches", jfif(1, 72, 100), 72, 100, container.UnitInch, 1},
		{"centimetres", jfif(2, 30, 30), 30, 30, container.UnitCentimetre, 1},
		{"a ratio", jfif(0, 2, 1), 2, 1, container.UnitNone, 1},
		{"only EXIF", app1, 240, 240, container.UnitCentimetre, 8},
		{"both", slices.Concat(jfif(1, 72, 72), app1), 240, 240, container.UnitCentimetre, 8},
		{"JFIF has a ratio only", slices.Concat(jfif(0, 2, 1), app1), 240, 240, container.UnitCentimetre, 8},
		{"EXIF has a ratio only", slices.Concat(jfif(1, 72, 72), bytes.Replace(app1, unit3, unit1, 1)), 72, 72, container.UnitInch, 8},
		{"only a ratio in EXIF", bytes.Replace(app1, unit3, unit1, 1), 240, 240, container.UnitNone, 8},
		{"nothing in EXIF", slices.Concat(jfif(1, 72, 72), bytes.Replace(app1, []byte("\x01\x1b\x00\x05"), []byte("\x01\x1c\x00\x05"), 1)),
			72, 72, container.UnitInch, 8},
		{"JFIF says nothing", slices.Concat(jfif(0, 1, 1), app1), 240, 240, container.UnitCentimetre, 8},
	} {
		m := open(t, grey(t, c.segments)).Info().Meta
		if m.XResolution != c.x || m.YResolution != c.y || m.Unit != c.unit || m.Orientation != c.orientation {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
}

func TestExtendedXMP(t *testing.T) {
	extended := []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="r"><rdf:Description a="far"/></rdf:RDF></x:xmpmeta>`)
	guid := strings.ToUpper(fmt.Sprintf("%x", md5.Sum(extended)))
	packet := `<rdf:RDF><rdf:Description xmpNote:HasExtendedXMP="` + guid + `"/></rdf:RDF>`
	portion := func(from, to int) []byte {
		body := append([]byte(signatureExtendedXMP), guid...)
		body = binary.BigEndian.AppendUint32(body, uint32(len(extended)))
		body = binary.BigEndian.AppendUint32(body, uint32(from))
		return appendSegment(nil, markerAPP1, append(body, extended[from:to]...))
	}
	main := appendSegment(nil, markerAPP1, []byte(signatureXMP+packet))

	whole := open(t, grey(t, portion(40, len(extended)), main, portion(0, 40))).Info().Meta.XMP
	want := strings.Replace(packet, "</rdf:RDF>", `<rdf:Description a="far"/></rdf:RDF>`, 1)
	if string(whole) != want {
		t.Errorf("XMP is %s, want %s", whole, want)
	}
	if part := open(t, grey(t, main, portion(0, 40))).Info().Meta.XMP; string(part) != packet {
		t.Errorf("with a portion missing, XMP is %s, want the packet alone", part)
	}
}

func TestPhotoshop(t *testing.T) {
	first := []byte(signaturePhotoshop + "8BIM\x03\xed\x03abc\x00\x00\x00\x03xyz\x00")
	second := []byte(signaturePhotoshop + "8BIM\x04\x04\x00\x00\x00\x00\x00\x05words\x00")
	m := open(t, grey(t, appendSegment(nil, markerAPPD, first), appendSegment(nil, markerAPPD, second))).Info().Meta
	if string(m.IPTC) != "words" || len(m.Photoshop) != len(first)+len(second)-2*len(signaturePhotoshop) {
		t.Errorf("IPTC %q, resources %q", m.IPTC, m.Photoshop)
	}
}

// TestFurtherPicturesAreFound rewrites a file with a second picture after the first, as cameras store previews.
func TestFurtherPicturesAreFound(t *testing.T) {
	index := "MM\x00*\x00\x00\x00\x08" + "\x00\x01" + "\xb0\x02\x00\x07\x00\x00\x00\x20\x00\x00\x00\x1a" + "\x00\x00\x00\x00"
	entries := make([]byte, 32)
	data := grey(t, appendSegment(nil, markerAPP2, []byte("MPF\x00"+index+string(entries))))
	base := int64(bytes.Index(data, []byte("MPF\x00")) + 4)
	length := int64(len(data))
	at := base + 26
	binary.BigEndian.PutUint32(data[at+4:], uint32(length))
	binary.BigEndian.PutUint32(data[at+16+4:], 6)
	binary.BigEndian.PutUint32(data[at+16+8:], uint32(length-base))
	data = append(data, "second"...)

	out := mustRewrite(t, data, []processing.Patch{blotch(0, 0, 5, 99)})
	if len(out) == len(data) {
		t.Fatal("the length did not change, so this shows nothing")
	}
	if size := binary.BigEndian.Uint32(out[at+4:]); int(size) != len(out)-len("second") {
		t.Errorf("the first picture is said to have %d bytes of %d", size, len(out)-len("second"))
	}
	offset := base + int64(binary.BigEndian.Uint32(out[at+16+8:]))
	if size := binary.BigEndian.Uint32(out[at+16+4:]); size != 6 || offset > int64(len(out)) || string(out[offset:]) != "second" {
		t.Errorf("the second picture is said to have %d bytes at %d of %d", size, offset, len(out))
	}
}

func TestGarbageBetweenSegments(t *testing.T) {
	data := grey(t)
	data = slices.Concat(data[:2], []byte("garbage \xff\x00 \xff\xff"), data[3:])
	f := open(t, data)
	pic, err := f.Decode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := mustRewrite(t, data, []processing.Patch{blotch(0, 0, 1, pic.U8[0]^0x40)})
	if !bytes.HasPrefix(out, data[:20]) {
		t.Error("the garbage is gone, though it belongs to the file")
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	plain := grey(t)
	sof := bytes.Index(plain, []byte{0xff, markerSOF0})
	with := func(at int, b byte) []byte {
		data := bytes.Clone(plain)
		data[sof+at] = b
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		kind error
	}{
		"lossless":          {with(1, 0xc3), container.ErrUnsupported},
		"hierarchical":      {with(1, 0xc5), container.ErrUnsupported},
		"arithmetic":        {with(1, 0xc9), container.ErrUnsupported},
		"12 bits":           {with(4, 12), container.ErrUnsupported},
		"height afterwards": {with(6, 0), container.ErrUnsupported},
		"no width":          {with(8, 0), container.ErrDamaged},
		"no factors":        {with(11, 0), container.ErrDamaged},
		"nothing":           {nil, container.ErrDamaged},
		"another format":    {[]byte("II*\x00"), container.ErrDamaged},
		"no frame":          {slices.Concat(plain[:sof], plain[bytes.Index(plain, []byte{0xff, markerSOS}):]), container.ErrDamaged},
		"no pixels":         {slices.Concat(plain[:sof], []byte{0xff, markerEOI}), container.ErrDamaged},
		"a truncated table": {plain[:sof-3], container.ErrDamaged},
	} {
		_, err := Open(bytes.NewReader(c.data), int64(len(c.data)))
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		} else {
			containertest.Fault(t, err)
		}
	}
}

// TestManyScans opens a file that repeats all scans many times.
func TestManyScans(t *testing.T) {
	s := synthetic{File: File{width: 9, height: 7, frame: markerSOF0, adobe: -1, components: []component{{id: 1, h: 1, v: 1}}}}
	p := s.coefficients(rand.New(rand.NewPCG(1, 1)))
	for range maxScans {
		s.add([]int{0}, 0, 63, 0, 0)
	}
	if _, err := open(t, s.file(t, p)).Decode(t.Context()); err != nil {
		t.Errorf("%d scans: %v", maxScans, err)
	}
	s.add([]int{0}, 0, 63, 0, 0)
	if _, err := open(t, s.file(t, p)).Decode(t.Context()); !errors.Is(err, container.ErrDamaged) {
		t.Errorf("%d scans: %v", maxScans+1, err)
	}
}

// TestEveryTruncation truncates a file at every byte: each time an error, never a panic.
func TestEveryTruncation(t *testing.T) {
	data := grey(t, iccChunk(1, 1, "profile"))
	containertest.Truncations(t, Open, data)
}

func TestRewriteRefusesWhatDoesNotFit(t *testing.T) {
	containertest.Refuses(t, open(t, grey(t)), map[string]processing.Patch{
		"below":            blotch(0, 7, 1, 1),
		"beside":           blotch(9, 0, 1, 1),
		"backwards":        {Runs: []processing.Run{{Y: 0, X0: 3, X1: 1}}},
		"too few samples":  {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U8: make([]uint8, 1)},
		"too many samples": {Runs: []processing.Run{{Y: 0, X0: 0, X1: 2}}, U8: make([]uint8, 3)},
	})
}

func TestNoChangeIsTheSameFile(t *testing.T) {
	data := append(grey(t), "behind"...)
	pic := mustDecode(t, data)
	for _, patches := range [][]processing.Patch{nil, {blotch(3, 3, 1, pic.U8[3*9+3])}} {
		if !bytes.Equal(mustRewrite(t, data, patches), data) {
			t.Errorf("%d patches without a change changed the file", len(patches))
		}
	}
}
