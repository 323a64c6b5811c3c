package exif

import (
	"encoding/binary"
	"testing"

	"blik/app/imagefile/container"
)

// longs is a tag of whole numbers of four bytes.
type longs struct {
	tag    uint16
	values []uint32
}

// block lays out a header, a directory, and the values that do not fit in it.
func block(order binary.AppendByteOrder, entries ...longs) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint16(order.AppendUint32(b, 8), uint16(len(entries)))
	var values []byte
	for _, e := range entries {
		b = order.AppendUint16(order.AppendUint16(b, e.tag), uint16(Long))
		b = order.AppendUint32(b, uint32(len(e.values)))
		if len(e.values) == 1 {
			b = order.AppendUint32(b, e.values[0])
			continue
		}
		b = order.AppendUint32(b, uint32(8+2+12*len(entries)+4+len(values)))
		for _, v := range e.values {
			values = order.AppendUint32(values, v)
		}
	}
	return append(order.AppendUint32(b, 0), values...)
}

func TestFacts(t *testing.T) {
	whole := block(binary.BigEndian, longs{TagOrientation, []uint32{6}}, longs{TagResolutionUnit, []uint32{3}})
	for name, c := range map[string]struct {
		block       []byte
		orientation int
		unit        container.Unit
	}{
		"whole":             {whole, 6, container.UnitCentimetre},
		"cut amid":          {whole[:8+2+12+5], 6, container.UnitInch},
		"cut in the header": {whole[:6], 1, container.UnitInch},
		"nothing":           {nil, 1, container.UnitInch},
		"a wrong value":     {block(binary.LittleEndian, longs{TagOrientation, []uint32{9}}), 1, container.UnitInch},
	} {
		if f := FactsOf(c.block); f.Orientation != c.orientation || f.Unit != c.unit {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// EXIF blocks with another byte order or layout are equal; a missing tag or another value makes them differ.
func TestSame(t *testing.T) {
	maker, many := longs{271, []uint32{0x41424300}}, longs{272, []uint32{1, 2, 70000}}
	a := block(binary.LittleEndian, maker, many)
	for name, c := range map[string]struct {
		b    []byte
		same bool
	}{
		"itself":          {a, true},
		"the other order": {block(binary.BigEndian, maker, many), true},
		"one more":        {block(binary.BigEndian, maker, many, longs{305, []uint32{1}}), true},
		"of storage":      {block(binary.LittleEndian, longs{256, []uint32{7}}, maker, many), true},
		"one less":        {block(binary.BigEndian, maker), false},
		"another value":   {block(binary.LittleEndian, maker, longs{272, []uint32{1, 3, 70000}}), false},
		"nothing":         {nil, false},
		"cut":             {a[:len(a)-3], false},
	} {
		if got := Same(a, c.b); got != c.same {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !Same(nil, a) || !Same(block(binary.BigEndian, longs{256, []uint32{7}}), nil) {
		t.Error("what says nothing about a picture is in any other")
	}
	// Under the pointer to EXIF, which lies right behind the directory of one tag; one that points to itself ends.
	nested := func(order binary.AppendByteOrder, speed uint16) []byte {
		b := block(order, longs{TagEXIF, []uint32{26}})
		b = order.AppendUint16(b, 1)
		b = order.AppendUint16(order.AppendUint16(b, 34855), 3)
		b = order.AppendUint16(order.AppendUint32(b, 1), speed)
		return order.AppendUint32(b, 0)
	}
	if a := nested(binary.LittleEndian, 400); len(tagsOf(a)) != 1 ||
		!Same(a, nested(binary.BigEndian, 400)) || Same(a, nested(binary.BigEndian, 800)) {
		t.Errorf("nested: %v", tagsOf(a))
	}
	circle := block(binary.LittleEndian, longs{TagEXIF, []uint32{8}}, longs{TagGPS, []uint32{8}})
	if tags := tagsOf(circle); len(tags) > 4 {
		t.Errorf("a circle: %v", tags)
	}
}
