//go:build !goexperiment.simd || !amd64

package view

// vectorBlender returns nil: the program was built without vector instructions.
func vectorBlender() *blender { return nil }
