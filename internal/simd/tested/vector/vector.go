//go:build goexperiment.simd && amd64

// Package vector is tested in place of package plain if the tests are built with vector kernels, so that the list of
// packages that go test prints says which kernels were tested.
package vector
