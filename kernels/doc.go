// Package kernels holds the CUDA sources (*.cu), the PTX compiled from them and the machine code made of that, which
// the program embeds, and the record of their last verification on a GPU, which only tests read. The compiled code is
// stored compressed, one file for each architecture, in the folder code; "make kernels" remakes it, "go run
// ./kernels/pack -x kernels FOLDER" unpacks it. The package imports nothing else of the program, so that a machine
// without a GPU still checks that source, PTX, machine code and record belong together.
package kernels
