package png

import (
	"encoding/binary"
	"hash/crc32"
)

// appendChunk appends a chunk (5.3): length, name, data and checksum.
func appendChunk(dst []byte, name string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	at := len(dst)
	dst = append(append(dst, name...), data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[at:]))
}

// data returns the data of IHDR.
func (h header) data() []byte {
	d := binary.BigEndian.AppendUint32(nil, uint32(h.width))
	d = binary.BigEndian.AppendUint32(d, uint32(h.height))
	d = append(d, h.depth, h.kind, 0, 0, 0)
	if h.interlaced {
		d[12] = 1
	}
	return d
}
