package banded

import (
	"blik/internal/parallel"
	"blik/processing"
)

// samplesOf returns samples i to j−1.
func samplesOf(s processing.Samples, i, j int) processing.Samples {
	return processing.Samples{U8: piece(s.U8, i, j), U16: piece(s.U16, i, j), F32: piece(s.F32, i, j)}
}

func piece[T any](s []T, i, j int) []T {
	if s == nil {
		return nil
	}
	return s[i:j]
}

func copySamples(dst, src processing.Samples) {
	parallel.Copy(dst.U8, src.U8)
	parallel.Copy(dst.U16, src.U16)
	parallel.Copy(dst.F32, src.F32)
}
