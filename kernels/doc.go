// Package kernels will hold the CUDA sources (*.cu), the PTX compiled from them, and the Go file that embeds it.
// It imports nothing, so that a build without a GPU can still check that source and PTX belong together.
package kernels
