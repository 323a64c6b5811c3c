//go:build !goexperiment.simd || !amd64

package kernel

import "blik/internal/simd"

// Of returns the table of kernels; there are only plain ones.
func Of(simd.Level) Table { return plainTable() }
