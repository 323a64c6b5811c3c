// Package processing is the core that detection (package detect) and correction (package correct) share: pictures,
// masks, regions, parameters, and the operations.
//
// Both are written once, over Backend, the set of primitive operations that a device offers. Package processing/cpu
// implements it with goroutines, package cuda on an NVIDIA GPU, and both give the same mask bit for bit. This package
// knows no window, no file format and no device: it imports neither ui nor cuda.
package processing
