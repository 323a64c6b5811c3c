//go:build !goexperiment.simd || !amd64

package simd

// built reports whether vector kernels are part of the program.
const built = false

func processor() []Level { return []Level{Plain} }

func clearUpper() {}
