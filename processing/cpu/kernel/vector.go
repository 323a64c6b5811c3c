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
	k.Boxes8, k.Boxes16, k.SlideBytes, k.SlideWords = boxes8x256, boxes16x256, slideBytes256, slideWords256
	k.Censor, k.Censor32, k.NarrowMeans = censor256, censor32x256, narrowMeans256
	k.Contrast, k.DifferenceThreshold = contrast256, differenceThreshold256
	k.Taps5, k.DivideKnown = taps5x256, divideKnown256
	return k
}
