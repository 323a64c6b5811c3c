// Package kernels holds the CUDA sources (*.cu), the PTX compiled from them and the machine code made of that, which
// the program embeds, and the record of their last verification on a GPU. "make kernels" remakes PTX and machine code.
// The package imports nothing of the program, so that a machine without a GPU still checks that source, PTX, machine
// code and record belong together.
package kernels
