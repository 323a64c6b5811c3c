//go:build !goexperiment.simd || !amd64

package tones

import "blik/internal/simd"

// kernelsOf returns the plain kernels: the program was built without others.
func kernelsOf(simd.Level) (reading, counting) {
	return readPlain[uint8], countPlain
}
