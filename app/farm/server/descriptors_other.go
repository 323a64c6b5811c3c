//go:build !unix

package server

// descriptors returns a number of connections that this system permits.
func descriptors() int { return 8192 }
