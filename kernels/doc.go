// Package kernels holds the CUDA sources (*.cu), the PTX compiled from them, which the program embeds, and the record of
// their last verification on a GPU. "make kernels" remakes the PTX. The package imports nothing of the program, so that
// a machine without a GPU still checks that source, PTX and record belong together.
package kernels
