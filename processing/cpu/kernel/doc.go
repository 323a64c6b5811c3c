// Package kernel holds the loops of processing/cpu over the samples of a row: a table of row kernels, each with a plain
// body and perhaps one for vectors of 256 bits, and the memory that they need beside rows.
//
// All bodies of a kernel give the same bits. It is the only part of processing/cpu with unsafe pointers: a vector body
// first takes the address of the first sample of each row cut to the length that it reads, so that a short row panics,
// and then reads whole vectors inside.
package kernel

//go:generate go run ./generate
