// Package driver starts NVIDIA's driver library for gorgonia.org/cu where there is one, and says why not where there is
// none. The program is not linked with that library, libcuda or nvcuda: the entries that it and gorgonia.org/cu call
// are defined here and jump into the library once that is loaded, so that one program runs on machines with and without
// a driver.
//
// It is compiled in by the build tag cuda, on Linux and Windows for x86-64; without it only the words for what is
// missing are here.
package driver
