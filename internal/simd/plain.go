//go:build !goexperiment.simd || !amd64

package simd

// built says whether vector kernels are part of the program.
const built = false

func processor() Level { return Plain }

func clearUpper() {}
