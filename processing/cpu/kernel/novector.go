//go:build !goexperiment.simd || !amd64

package kernel

import "blik/internal/simd"

// tableFor returns the table of kernels; there are only plain ones.
func tableFor(simd.Level, bool) Table { return plainTable() }
