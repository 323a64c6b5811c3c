// Package processing is the science of Blik: what glare is, how it is found and what is known of each finding.
//
// The pipeline is written once, here, over Backend, the set of primitive operations that a processor offers;
// package processing/cpu implements it with goroutines, package cuda on an NVIDIA GPU, and both give the same mask
// bit for bit. The package knows no window, no file format and no device: it imports neither ui nor cuda.
package processing
