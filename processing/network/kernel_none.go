//go:build !goexperiment.simd || !amd64

package network

import "blik/internal/simd"

// kernelsOf returns the plain kernels: the program was built without others.
func kernelsOf(simd.Level) *kernels { return plainKernels() }
