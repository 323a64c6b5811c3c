//go:build !goexperiment.simd || !amd64

package kriging

// Without vector instructions, the level is always simd.Plain.

func correlateVectors([]int64, []int32, int, int, int, int32, []int16) {}

func addProductsVectors(*[2]square, []float64, []float64, []float64, int) {}

func finishVectors(*square, []float64, []float64, int) {}

func rowProductsVectors(*[side][side]float64, []float64, []float64) {}

func dotVectors(*[side]float64, []float64, []float64) {}
