package tiff

import "math"

func floatBits(v float32) uint32 { return math.Float32bits(v) }
