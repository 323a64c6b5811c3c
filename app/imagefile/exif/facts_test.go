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
