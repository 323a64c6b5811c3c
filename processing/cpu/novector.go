//go:build !goexperiment.simd || !amd64

package cpu

import "blik/internal/simd"

// kernelsOf returns the table of kernels; there are only plain ones.
func kernelsOf(simd.Level) kernels { return plainKernels() }
