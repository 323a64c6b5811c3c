// Package driver starts NVIDIA's driver library for gorgonia.org/cu if there is one, and otherwise reports why not. The
// program is not linked with that library, libcuda or nvcuda: the entries that this package and gorgonia.org/cu call
// are defined here and jump into the library once it is loaded, so that one program runs on machines with and without a
// driver.
//
// It is compiled in by the build tag cuda, on Linux and Windows for x86-64; without it, the package only has the
// messages for what is missing.
package driver
