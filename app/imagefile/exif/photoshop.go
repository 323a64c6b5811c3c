package exif

import "encoding/binary"

// resourceIPTC is the image resource that holds the IIM record (Adobe Photoshop File Formats, image resource IDs).
const resourceIPTC = 0x0404

// IPTC returns the IIM record among Photoshop's image resources; nil if there is none.
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

// at returns n bytes of block, nil past its end.
func at(block []byte, offset, n uint64) []byte {
	if offset > uint64(len(block)) || n > uint64(len(block))-offset {
		return nil
	}
	return block[offset : offset+n]
}
