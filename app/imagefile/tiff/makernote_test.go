package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"blik/app/imagefile/container"
	"blik/app/imagefile/exif"
	"blik/internal/test/containertest"
	"blik/internal/test/testpic"
)

// cameraBlock returns an EXIF block of a camera: description, camera directory with a maker note of a form like Canon's,
// GPS, and a preview. The note's values lie behind it, by their offset in the block; tail is one of them.
func cameraBlock(order binary.ByteOrder) (block []byte, tail int) {
	d := dialect{order: order}
	app := order.(binary.AppendByteOrder)
	note := app.AppendUint16(nil, 1)
	note = app.AppendUint16(app.AppendUint16(note, 6), uint16(exif.ASCII))
	note = app.AppendUint32(note, 13)
	noteAt := len(note)
	note = append(app.AppendUint32(note, 0), "\x00\x00\x00\x00Test picture\x00 and more"...)
	block = d.header(8)
	block = append(block, d.directory([]field{
		textField(271, "Canon"), textField(272, "Studio camera"), textField(315, "A. Restorer"),
		{tag: exif.TagEXIF, sub: []field{
			d.shorts(34855, 100), {tag: tagMakerNote, kind: exif.Undefined, count: uint64(len(note)), data: note},
			{tag: exif.TagInterop, sub: []field{textField(1, "R98")}},
		}},
		{tag: exif.TagGPS, sub: []field{d.longs(6, 7, 8)}},
	}, 8, 0)...)
	at := bytes.Index(block, []byte("Test picture"))
	// The note points past its end, to what other programs would not move with it.
	tail = len(block)
	order.PutUint32(block[bytes.Index(block, note[:noteAt])+noteAt:], uint32(tail))
	block = append(block, block[at:at+13]...)
	block = append(block, 0)
	preview := len(block)
	order.PutUint32(block[8+2+12*int(order.Uint16(block[8:])):], uint32(preview))
	fields := func(at int64) []field { return []field{d.longs(tagJPEGOffset, at), d.longs(tagJPEGLength, 30)} }
	n := len(d.directory(fields(0), int64(preview), 0))
	block = append(block, d.directory(fields(int64(preview+n)), int64(preview), 0)...)
	return append(block, "\xff\xd8 the preview of 30 bytes, \xff\xd9"...), tail
}

func textField(tag uint16, s string) field { return block(tag, exif.ASCII, []byte(s+"\x00")) }

// TestMakerNotesKeepTheirPlace: every byte of an EXIF block with maker notes stays at its offset, except the pointer to
// the first directory and the preview, and exiftool reads what it read before.
func TestMakerNotesKeepTheirPlace(t *testing.T) {
	pic := randomPicture(rand.New(rand.NewPCG(1, 2)), 30, 20, 3, 8)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b, tail := cameraBlock(order)
		m := container.Metadata{EXIF: b, XMP: []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"), ICC: make([]byte, 200), Orientation: 6,
			XResolution: 300, YResolution: 300, Unit: container.UnitInch}
		var out bytes.Buffer
		if err := Encode(context.Background(), &out, pic, m); err != nil {
			t.Fatal(err)
		}
		if !HoldsMakerNote(pic, m) {
			t.Errorf("%s: the note is not held", order)
		}
		preview := bytes.Index(b, []byte("\xff\xd8 the"))
		for i, v := range out.Bytes()[:len(b)] {
			switch {
			case i >= 4 && i < 8:
			case i >= preview && v != 0:
				t.Fatalf("%s: the preview is there", order)
			case i < preview && v != b[i]:
				t.Fatalf("%s: byte %d of the block is %d, not %d", order, i, v, b[i])
			}
		}
		if string(out.Bytes()[tail:tail+12]) != "Test picture" {
			t.Errorf("%s: what the note points to is not there", order)
		}
		if got := decode(t, out.Bytes()); !bytes.Equal(got.U8, pic.U8) {
			t.Errorf("%s: other pixels", order)
		}
		tags := containertest.ExifTool(t, testpic.WriteFile(t, "a.tif", out.Bytes()))[0]
		for tag, want := range map[string]string{"Canon:CanonImageType": `"Test picture"`, "IFD0:Make": `"Canon"`, "IFD0:Artist": `"A. Restorer"`,
			"ExifIFD:ISO": "100", "InteropIFD:InteropIndex": `"R98 - DCF basic file (sRGB)"`, "IFD0:XResolution": "300", "IFD0:Orientation": `"Rotate 90 CW"`} {
			if tags[tag] != want {
				t.Errorf("%s: exiftool reads %s as %s, want %s", order, tag, tags[tag], want)
			}
		}
	}
}

// TestMakerNotesThatMove: where a block cannot be kept whole, HoldsMakerNote says so, and the file is right otherwise.
func TestMakerNotesThatMove(t *testing.T) {
	pic := randomPicture(rand.New(rand.NewPCG(1, 2)), 30, 20, 3, 8)
	whole, _ := cameraBlock(binary.LittleEndian)
	plain := dialect{order: binary.LittleEndian}
	spoiled := func(change func(b []byte)) []byte {
		b := bytes.Clone(whole)
		change(b)
		return b
	}
	first := func(b []byte, n int) []byte { return b[10+12*n:][:12] }
	for name, c := range map[string]struct {
		block []byte
		holds bool
	}{
		"whole":                 {whole, true},
		"no block":              {nil, true},
		"no maker note":         {append(plain.header(8), plain.directory([]field{textField(271, "Canon")}, 8, 0)...), true},
		"not a block":           {[]byte("nothing"), true},
		"a value past the end":  {spoiled(func(b []byte) { binary.LittleEndian.PutUint32(first(b, 0)[8:], 1<<20) }), false},
		"an unknown kind":       {spoiled(func(b []byte) { first(b, 0)[2] = 77 }), false},
		"a tag twice":           {spoiled(func(b []byte) { first(b, 1)[0] = first(b, 0)[0] }), false},
		"GPS in the camera's":   {spoiled(func(b []byte) { copy(first(b, 4)[8:], first(b, 3)[8:12]) }), false},
		"GPS in the first":      {spoiled(func(b []byte) { binary.LittleEndian.PutUint32(first(b, 4)[8:], 8) }), false},
		"GPS past the end":      {spoiled(func(b []byte) { binary.LittleEndian.PutUint32(first(b, 4)[8:], 1<<30) }), false},
		"a preview in the note": {spoiled(func(b []byte) { binary.LittleEndian.PutUint32(b[bytes.Index(b, []byte{1, 2, 4, 0})+8:], 20) }), true},
	} {
		m := container.Metadata{EXIF: c.block}
		if got := HoldsMakerNote(pic, m); got != c.holds {
			t.Errorf("%s: %t", name, got)
		}
		var out bytes.Buffer
		if err := Encode(context.Background(), &out, pic, m); err != nil {
			t.Fatal(err)
		}
		if got := decode(t, out.Bytes()); !bytes.Equal(got.U8, pic.U8) {
			t.Errorf("%s: other pixels", name)
		}
		v, err := open(t, out.Bytes()).Inventory(t.Context(), false)
		if err != nil || len(v.Unlisted) > 0 {
			t.Errorf("%s: %v, %v", name, v.Unlisted, err)
		}
	}
	e := newEncoder(pic, container.Metadata{EXIF: whole})
	e.counts[0] = math.MaxUint32
	if e.head(); e.lead != nil || !e.big {
		t.Error("a BigTIFF begins with a block of small offsets")
	}
}

// TestMakerNoteOfTIFF: a note that is elsewhere in the EXIF block of a picture is named as moved.
func TestMakerNoteOfTIFF(t *testing.T) {
	f := form{order: binary.LittleEndian, depth: 8, compression: compNone, photometric: blackIsZero, width: 20, height: 10, segH: 10}
	moved := func(data []byte) bool {
		for _, m := range open(t, data).Info().Dropped {
			if m.String() == "the places that the camera's maker note points to" {
				return true
			}
		}
		return false
	}
	if moved(f.write(t, make([]uint32, 200))) {
		t.Error("without a note")
	}
	f.more = []field{{tag: exif.TagEXIF, sub: []field{block(tagMakerNote, exif.Undefined, make([]byte, 30))}}}
	if !moved(f.write(t, make([]uint32, 200))) {
		t.Error("the note is not named")
	}
}
