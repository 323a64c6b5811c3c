//go:build !goexperiment.simd || !amd64

package tones

import "blik/internal/simd"

// kernelsOf returns the plain kernels: the program was built without others.
func kernelsOf(simd.Level) (read func(*lanes, []Tone, *Window, *Sum), count func([]uint8, []Tone, int, int) (int, int)) {
	return readPlain, countPlain
}
