//go:build !goexperiment.simd || !amd64

// Package plain is tested in place of package vector if the tests are built without vector kernels, so that the list of
// packages that go test prints says which kernels were tested. No file of a module can set GOEXPERIMENT, so here on
// amd64 a second go test covers what the first cannot.
package plain
