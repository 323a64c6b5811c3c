//go:build !goexperiment.simd || !amd64

package cpu

import "blik/internal/simd"

func kernelsFor(simd.Level) kernels { return plainKernels() }
