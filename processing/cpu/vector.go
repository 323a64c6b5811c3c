//go:build goexperiment.simd && amd64

package cpu

import (
	"math"

	"blik/internal/simd"
)

// kernelsFor returns the table of kernels for a level of vector instructions and the result of simd.FourStreams.
func kernelsFor(level simd.Level, fourStreams bool) kernels {
	k := plainKernels()
	if level == simd.Plain {
		return k
	}
	k.floats8 = conversions[uint8]{toFloats8x256, down8x256, across8x256}
	k.floats16 = conversions[uint16]{toFloats16x256, down16x256, across16x256}
	k.floatsF.down, k.floatsF.across = symmetric256, symmetric256
	k.sums8.slide32, k.sums16.slide32, k.scan32 = slide32x8, slide32x16, scan32x256
	k.sums8.mean32, k.sums16.mean32 = mean32x8, mean32x16
	k.contrast, k.cores, k.differenceThreshold = contrast256, cores256, differenceThreshold256
	k.moments8, k.moments16 = moments8x256, moments16x256
	k.floatSums, k.floatSum = floatSums256, floatSum256
	k.floatMeans, k.floatVariances = floatMeans256, floatVariances256
	k.taps5, k.divideKnown = taps5x256, divideKnown256
	k.analyse, k.haarPair = analyse256, haarPair256
	switch level {
	case simd.AVX2:
		k.floatsF.down, k.floatsF.across = symmetricRows256, symmetricRows256
		k.tap2, k.tap4, k.both2, k.both4 = tap2x256, tap4x256, both2x256, both4x256
		k.pair4 = pair4x256
		k.keys, k.unkeyed, k.ordered = keys256, unkeyed256, ordered256
		k.sums8.squares, k.sums16.squares = squares8x256, squares16x256
		k.addRow, k.doubles, k.advanceSums = addRow256, doubles256, advanceSums256
		k.magnitudes, k.slideFloats, k.slideRounded = magnitudes256, slideFloats256, slideRounded256
		k.boxes8, k.boxes16, k.blockMeans = boxes8x256, boxes16x256, blockMeans256
		k.scan64, k.censor = scan64x256, censor256
		k.censoredMean, k.meanVariance = censoredMean256, meanVariance256
		k.variances8, k.slideBytes, k.slideSquares = variances8x256, slideBytes256, slideSquares256
		k.censor32, k.censoredMean32, k.narrowMeans = censor32x256, censoredMean32x256, narrowMeans256
		k.dilate8, k.erode8 = orderMax8x256(0), orderMin8x256(math.MaxUint8)
		k.dilate16, k.erode16 = orderMax16x256(0), orderMin16x256(math.MaxUint16)
		k.dilate32, k.erode32 = orderMax32x256(math.MinInt32), orderMin32x256(math.MaxInt32)
	case simd.AVX512, simd.VNNI:
		k.tap2, k.tap4, k.both2, k.both4 = tap2x512, tap4x512, both2x512, both4x512
		k.pair4 = pair4x512
		k.moments8, k.floatSums, k.floatSum = moments8x512, floatSums512, floatSum512
		if fourStreams {
			k.floatSum = floatSumFour512
		}
		k.floats8.down, k.floats8.across = down8x512, across8x512
		k.floats16.down, k.floats16.across = down16x512, across16x512
		k.floatsF.down, k.floatsF.across = symmetric512, symmetric512
		k.keys, k.unkeyed, k.ordered = keys512, unkeyed512, ordered512
		k.addRow, k.doubles, k.advanceSums, k.blockMeans = addRow512, doubles512, advanceSums512, blockMeans512
		k.magnitudes, k.slideFloats, k.slideRounded = magnitudes512, slideFloats512, slideRounded512
		k.floatMeans, k.floatVariances = floatMeans512, floatVariances512
		k.boxes8, k.boxes16, k.slideBytes = boxes8x512, boxes16x512, slideBytes512
		k.variances8, k.slideSquares = variances8x512, slideSquares512
		k.scan32, k.censor32, k.censoredMean32 = scan32x512, censor32x512, censoredMean32x512
		k.scan64, k.censor = scan64x512, censor512
		k.censoredMean, k.meanVariance = censoredMean512, meanVariance512
		k.sums8.squares, k.sums16.squares = squares8x512, squares16x512
		k.dilate8, k.erode8 = orderMax8x512(0), orderMin8x512(math.MaxUint8)
		k.dilate16, k.erode16 = orderMax16x512(0), orderMin16x512(math.MaxUint16)
		k.dilate32, k.erode32 = orderMax32x512(math.MinInt32), orderMin32x512(math.MaxInt32)
	}
	return k
}
