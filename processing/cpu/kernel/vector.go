//go:build goexperiment.simd && amd64

package kernel

import (
	"math"

	"blik/internal/simd"
)

// Of returns the table of kernels of this processor for a level of vector instructions.
func Of(level simd.Level) Table {
	k := plainTable()
	if level == simd.Plain {
		return k
	}
	k.Dilate8, k.Erode8 = orderMax8x256(0), orderMin8x256(math.MaxUint8)
	k.Dilate16, k.Erode16 = orderMax16x256(0), orderMin16x256(math.MaxUint16)
	k.Down, k.Across = down8x256, across8x256
	k.Boxes8, k.Boxes16, k.SlideBytes = boxes8x256, boxes16x256, slideBytes256
	k.Sums8.Slide32, k.Sums16.Slide32, k.Scan32, k.Scan64 = slide32x8, slide32x16, scan32x256, scan64x256
	k.Sums8.Mean32, k.Sums16.Mean32 = mean32x8, mean32x16
	k.Censor, k.CensoredMean, k.Censor32, k.NarrowMeans = censor256, censoredMean256, censor32x256, narrowMeans256
	k.Contrast, k.Cores, k.DifferenceThreshold = contrast256, cores256, differenceThreshold256
	k.Taps5, k.DivideKnown = taps5x256, divideKnown256
	return k
}
