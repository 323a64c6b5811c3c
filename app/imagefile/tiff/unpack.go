package tiff

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The three functions below copy lanes samples of each of n pixels from a row of the file to a row of the picture;
// pixels begin fromStep and toStep samples apart. Contiguous rows are the common case and do not need the steps.

func unpack8(dst []uint8, row []byte, lanes, toStep, fromStep, n int) {
	if lanes == toStep && lanes == fromStep {
		copy(dst, row)
		return
	}
	for x := range n {
		d, s := dst[x*toStep:], row[x*fromStep:]
		for c := range lanes {
			d[c] = s[c]
		}
	}
}

func unpack16(dst []uint16, row []byte, bigEndian bool, lanes, toStep, fromStep, n int) {
	if lanes == toStep && lanes == fromStep {
		// Four at a time: otherwise the time would be limited by the loads and stores of single samples rather than by
		// the memory.
		for len(dst) >= 4 && len(row) >= 8 {
			v := binary.LittleEndian.Uint64(row)
			if bigEndian {
				v = bits.ReverseBytes64(v)
				dst[0], dst[1], dst[2], dst[3] = uint16(v>>48), uint16(v>>32), uint16(v>>16), uint16(v)
			} else {
				dst[0], dst[1], dst[2], dst[3] = uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
			}
			dst, row = dst[4:], row[8:]
		}
		lanes, toStep, fromStep, n = 1, 1, 1, len(dst)
	}
	low, high := 0, 1
	if bigEndian {
		low, high = 1, 0
	}
	for x := range n {
		d, s := dst[x*toStep:], row[2*x*fromStep:]
		for c := range lanes {
			d[c] = uint16(s[2*c+low]) | uint16(s[2*c+high])<<8
		}
	}
}

func unpack32(dst []float32, row []byte, bigEndian bool, lanes, toStep, fromStep, n int) {
	if lanes == toStep && lanes == fromStep {
		lanes, toStep, fromStep, n = 1, 1, 1, len(dst)
	}
	for x := range n {
		d, s := dst[x*toStep:], row[4*x*fromStep:]
		for c := range lanes {
			v := binary.LittleEndian.Uint32(s[4*c:])
			if bigEndian {
				v = bits.ReverseBytes32(v)
			}
			d[c] = math.Float32frombits(v)
		}
	}
}
