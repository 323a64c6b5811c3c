//go:build !goexperiment.simd || !amd64

package cpu

import "blik/internal/simd"

// kernelsFor returns the table of kernels; there are only plain ones.
func kernelsFor(simd.Level, bool) kernels { return plainKernels() }
