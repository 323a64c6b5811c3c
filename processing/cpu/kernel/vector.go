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
	k.Down, k.Across = down8x256, across8x256
	k.Sums8.Slide32, k.Sums16.Slide32, k.Scan32 = slide32x8, slide32x16, scan32x256
	k.Sums8.Mean32, k.Sums16.Mean32 = mean32x8, mean32x16
	k.Contrast, k.Cores, k.DifferenceThreshold = contrast256, cores256, differenceThreshold256
	k.Taps5, k.DivideKnown = taps5x256, divideKnown256
	switch level {
	case simd.AVX2, simd.AVXVNNI:
		k.Boxes8, k.Boxes16 = boxes8x256, boxes16x256
		k.Scan64, k.Censor = scan64x256, censor256
		k.CensoredMean = censoredMean256
		k.SlideBytes = slideBytes256
		k.Censor32, k.CensoredMean32, k.NarrowMeans = censor32x256, censoredMean32x256, narrowMeans256
		k.Dilate8, k.Erode8 = orderMax8x256(0), orderMin8x256(math.MaxUint8)
		k.Dilate16, k.Erode16 = orderMax16x256(0), orderMin16x256(math.MaxUint16)
	case simd.AVX512, simd.VNNI:
		k.Down, k.Across = down8x512, across8x512
		k.Boxes8, k.Boxes16, k.SlideBytes = boxes8x512, boxes16x512, slideBytes512
		k.Censor32, k.CensoredMean32 = censor32x512, censoredMean32x512
		k.Scan64, k.Censor = scan64x512, censor512
		k.CensoredMean = censoredMean512
		k.Dilate8, k.Erode8 = orderMax8x512(0), orderMin8x512(math.MaxUint8)
		k.Dilate16, k.Erode16 = orderMax16x512(0), orderMin16x512(math.MaxUint16)
	}
	return k
}
