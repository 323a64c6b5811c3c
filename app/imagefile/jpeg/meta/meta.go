// Package meta reads the few facts that the containers need out of the blocks of metadata that travel in them: EXIF, which
// is a TIFF structure wherever it is stored, and Photoshop's image resources. Blocks that contradict themselves tell
// nothing; they are no error, because they are carried over as they are.
package meta

import (
	"bytes"
	"encoding/binary"

	"blik/app/imagefile/codec"
)

// Facts are what EXIF tells of the picture.
type Facts struct {
	// Orientation is 1…8; 1 where EXIF says nothing.
	Orientation int
	// XResolution and YResolution are in pixels per unit; 0: not told.
	XResolution, YResolution float64
	Unit                     codec.Unit
}

// The tags and types of TIFF 6.0 that are looked for.
const (
	tagOrientation    = 274
	tagXResolution    = 282
	tagYResolution    = 283
	tagResolutionUnit = 296

	typeShort    = 3
	typeLong     = 4
	typeRational = 5
)

// EXIF reads the first directory of a TIFF structure that begins with its byte order.
func EXIF(block []byte) Facts {
	facts := Facts{Orientation: 1, Unit: codec.UnitInch}
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(block, []byte("II*\x00")):
	case bytes.HasPrefix(block, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return facts
	}
	entries := at(block, 4, 4)
	if entries == nil {
		return facts
	}
	dir := uint64(order.Uint32(entries))
	count := at(block, dir, 2)
	if count == nil {
		return facts
	}
	for i := range uint64(order.Uint16(count)) {
		entry := at(block, dir+2+12*i, 12)
		if entry == nil {
			break
		}
		kind := order.Uint16(entry[2:])
		if order.Uint32(entry[4:]) != 1 {
			continue
		}
		whole := uint32(0)
		switch kind {
		case typeShort:
			whole = uint32(order.Uint16(entry[8:]))
		case typeLong:
			whole = order.Uint32(entry[8:])
		}
		switch order.Uint16(entry) {
		case tagOrientation:
			if whole >= 1 && whole <= 8 {
				facts.Orientation = int(whole)
			}
		case tagResolutionUnit:
			switch whole {
			case 1:
				facts.Unit = codec.UnitNone
			case 3:
				facts.Unit = codec.UnitCentimetre
			}
		case tagXResolution:
			facts.XResolution = rational(block, entry, order)
		case tagYResolution:
			facts.YResolution = rational(block, entry, order)
		}
	}
	return facts
}

// rational returns the value of an entry, 0 where it is none.
func rational(block, entry []byte, order binary.ByteOrder) float64 {
	if order.Uint16(entry[2:]) != typeRational {
		return 0
	}
	v := at(block, uint64(order.Uint32(entry[8:])), 8)
	if v == nil || order.Uint32(v[4:]) == 0 {
		return 0
	}
	return float64(order.Uint32(v)) / float64(order.Uint32(v[4:]))
}

// at returns n bytes of block, nil past its end.
func at(block []byte, offset, n uint64) []byte {
	if offset > uint64(len(block)) || n > uint64(len(block))-offset {
		return nil
	}
	return block[offset : offset+n]
}

// resourceIPTC is the image resource that holds the IIM record (Adobe Photoshop File Formats, image resource IDs).
const resourceIPTC = 0x0404

// IPTC returns the IIM record among Photoshop's image resources, nil where there is none.
func IPTC(resources []byte) []byte {
	for len(resources) >= 12 && string(resources[:4]) == "8BIM" {
		id := binary.BigEndian.Uint16(resources[4:])
		// A Pascal string and the data are each padded to an even length.
		rest := uint64(6 + (1+int(resources[6])+1)&^1)
		length := at(resources, rest, 4)
		if length == nil {
			return nil
		}
		n := uint64(binary.BigEndian.Uint32(length))
		data := at(resources, rest+4, n)
		if data == nil {
			return nil
		}
		if id == resourceIPTC {
			return data
		}
		resources = resources[min(rest+4+(n+1)&^1, uint64(len(resources))):]
	}
	return nil
}

// Resources wraps an IIM record as an image resource.
func Resources(iptc []byte) []byte {
	block := append([]byte("8BIM"), resourceIPTC>>8, resourceIPTC&0xff, 0, 0)
	block = binary.BigEndian.AppendUint32(block, uint32(len(iptc)))
	block = append(block, iptc...)
	if len(iptc)%2 == 1 {
		block = append(block, 0)
	}
	return block
}
