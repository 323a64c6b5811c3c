package exif

import (
	"encoding/binary"
	"iter"
)

// The image resources that hold the IIM record and previews (Adobe Photoshop File Formats, image resource IDs).
const (
	resourceIPTC       = 0x0404
	resourcePreview4   = 0x0409
	resourcePreview    = 0x040c
	leastPreviewLength = 28
)

// IPTC returns the IIM record among Photoshop's image resources; nil if there is none.
func IPTC(resources []byte) []byte {
	for id, data := range eachResource(resources) {
		if id == resourceIPTC {
			return data
		}
	}
	return nil
}

// hasPreview reports whether there is a preview among Photoshop's image resources.
func hasPreview(resources []byte) bool {
	for id, data := range eachResource(resources) {
		if (id == resourcePreview || id == resourcePreview4) && len(data) > leastPreviewLength {
			return true
		}
	}
	return false
}

// eachResource returns the numbers and the data of Photoshop's image resources.
func eachResource(resources []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(id uint16, data []byte) bool) {
		for len(resources) >= 12 && string(resources[:4]) == "8BIM" {
			id := binary.BigEndian.Uint16(resources[4:])
			// A Pascal string and the data are each padded to an even length.
			rest := uint64(6 + (1+int(resources[6])+1)&^1)
			length := bytesAt(resources, rest, 4)
			if length == nil {
				return
			}
			n := uint64(binary.BigEndian.Uint32(length))
			data := bytesAt(resources, rest+4, n)
			if data == nil || !yield(id, data) {
				return
			}
			resources = resources[min(rest+4+(n+1)&^1, uint64(len(resources))):]
		}
	}
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

// bytesAt returns n bytes of block, nil past its end.
func bytesAt(block []byte, offset, n uint64) []byte {
	if offset > uint64(len(block)) || n > uint64(len(block))-offset {
		return nil
	}
	return block[offset : offset+n]
}
