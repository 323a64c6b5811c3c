// Package cuda will hold the Backend of package processing on an NVIDIA GPU through gorgonia.org/cu, compiled in by
// the build tag cuda. It may import processing and kernels; nothing that detection needs may live only here.
package cuda
