//go:build !goexperiment.simd || !amd64

package relax

// vectorKernels returns the kernels with vector instructions; there are none.
func vectorKernels() kernels { return plainKernels() }
