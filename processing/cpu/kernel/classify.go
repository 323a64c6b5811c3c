package kernel

import (
	"blik/processing"
)

func contrast(cls []uint8, seed, y, bg []uint16, v []uint8, rule processing.ContrastRule) {
	n := len(cls)
	seed, y, bg, v = seed[:n], y[:n], bg[:n], v[:n]
	absolute := int32(rule.Absolute)
	for i := range cls {
		d := int32(y[i]) - int32(bg[i])
		cls[i], seed[i] = 0, 0
		if d <= absolute {
			continue
		}
		scaled := uint64(d) << 16
		if scaled <= uint64(rule.Relative)*uint64(bg[i]) {
			continue
		}
		cls[i] = processing.ClassWide
		if d > int32(rule.SeedAbsolute) && v[i] >= rule.SeedLevel &&
			(rule.SeedRelative == 0 || scaled > uint64(rule.SeedRelative)*uint64(65535-bg[i])) {
			cls[i] = processing.ClassWide | processing.ClassSeed
			seed[i] = uint16(d)
		}
	}
}

// Cores adds the class bits of cores and growth.
func Cores(cls []uint8, y, bg, m []uint16, rule processing.CoreRule) {
	n := len(cls)
	y, bg, m = y[:n], bg[:n], m[:n]
	for i := 0; i < n; i++ {
		if cls[i] == 0 {
			// Most pixels have no class: skip them by words.
			for _, v := range words(cls[i+1:]) {
				if v != 0 {
					break
				}
				i += 8
			}
			continue
		}
		c := cls[i]
		if c&processing.ClassWide == 0 && c&processing.ClassSeed == 0 {
			continue
		}
		d := uint64(max(int32(y[i])-int32(bg[i]), 0)) << 16
		if c&processing.ClassSeed != 0 && d >= uint64(rule.Core)*uint64(m[i]) {
			c |= processing.ClassCore
		}
		if c&processing.ClassWide != 0 && d > uint64(rule.Grow)*uint64(m[i]) {
			c |= processing.ClassGrow
		}
		cls[i] = c
	}
}

func differenceThreshold(dst []uint8, y, bg []uint16, v []uint8, over, level int32) {
	n := len(dst)
	y, bg, v = y[:n], bg[:n], v[:n]
	for i := range dst {
		high := over - (int32(y[i]) - int32(bg[i]))
		bright := level - 1 - int32(v[i])
		dst[i] = uint8((high & bright) >> 31)
	}
}
