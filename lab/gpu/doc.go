// Package gpu computes the experiments' variants on NVIDIA GPUs. Without the build tag cuda it says that there is none.
package gpu
