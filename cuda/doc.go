// Package cuda is the Backend of package processing on an NVIDIA GPU through gorgonia.org/cu, compiled in by the build
// tag cuda on Linux and Windows for x86-64. It may import processing and kernels; nothing that detection needs may live
// only here.
//
// Planes are in device memory, with rows at multiples of 256 bytes. Operations take turns on the device and its one
// stream: every method queues its launches and returns, without waiting for the device unless the result goes to the
// host. Results are those of processing/cpu, bit for bit: integers are exact, and where floats are needed the order of
// operations is the same and no product is fused with a sum.
package cuda
