package imagefile

import (
	"encoding/binary"
	"slices"
)

// sameEXIF says whether every tag of EXIF block a that tells of the picture is in b, with the same value. In another
// container a block may lie otherwise, lack its thumbnail, and have its numbers in the other byte order.
func sameEXIF(a, b []byte) bool {
	have := exifTags(b)
	for tag, value := range exifTags(a) {
		if other, ok := have[tag]; !ok || !slices.Equal(value, other) {
			return false
		}
	}
	return true
}

// exifTag is a tag of one of the directories of an EXIF block: that of the picture (0), or the one under a pointer.
type exifTag struct{ directory, tag uint16 }

// The pointers to the directories of EXIF, GPS and interoperability.
const (
	tagEXIF    = 34665
	tagGPS     = 34853
	tagInterop = 40965
)

// exifTags reads the tags of an EXIF block (Exif 2.32, 4.5 and 4.6) with their types and values, numbers as big-endian.
// What is damaged counts as missing. Of the picture's own directory only those tags are taken that do not tell how
// its samples are stored.
func exifTags(block []byte) map[exifTag][]byte {
	found := map[exifTag][]byte{}
	if len(block) < 8 {
		return found
	}
	var order binary.ByteOrder = binary.LittleEndian
	if block[0] == 'M' {
		order = binary.BigEndian
	}
	var read func(directory uint16, at uint32)
	read = func(directory uint16, at uint32) {
		if uint64(at)+2 > uint64(len(block)) {
			return
		}
		entries := block[at+2:]
		for n := order.Uint16(block[at:]); n > 0 && len(entries) >= 12; n, entries = n-1, entries[12:] {
			tag, kind, count := order.Uint16(entries), order.Uint16(entries[2:]), order.Uint32(entries[4:])
			value := order.Uint32(entries[8:])
			switch {
			case directory == 0 && (tag == tagEXIF || tag == tagGPS), directory == tagEXIF && tag == tagInterop:
				read(tag, value)
				continue
			case directory == 0 && !describesPicture(tag):
				continue
			}
			unit := map[uint16]int{1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 1, 7: 1, 8: 2, 9: 4, 10: 4, 11: 4, 12: 8, 13: 4}[kind]
			length := uint64(count) * uint64(unit)
			if kind == 5 || kind == 10 { // fractions are two numbers
				length *= 2
			}
			data := entries[8:12]
			if length > 4 {
				if uint64(value)+length > uint64(len(block)) {
					continue
				}
				data = block[value:]
			}
			found[exifTag{directory, tag}] = append(binary.BigEndian.AppendUint16(nil, kind), bigEndian(data[:length], unit, order)...)
		}
	}
	read(0, order.Uint32(block[4:]))
	return found
}

// bigEndian returns numbers of unit bytes each as big-endian.
func bigEndian(data []byte, unit int, order binary.ByteOrder) []byte {
	out := slices.Clone(data)
	if order == binary.ByteOrder(binary.LittleEndian) && unit > 1 {
		for at := 0; at+unit <= len(out); at += unit {
			slices.Reverse(out[at : at+unit])
		}
	}
	return out
}

// describesPicture says whether a tag of the first directory tells of the picture and not of its storage: those of Exif
// 2.32, table 4, but resolution, orientation and what only JPEG needs, and those that Windows adds.
func describesPicture(tag uint16) bool {
	switch {
	case tag >= 270 && tag <= 272, tag == 305, tag == 306, tag == 315, tag == 33432, tag == 18246, tag == 18249, tag >= 40091 && tag <= 40095:
		return true
	}
	return false
}
