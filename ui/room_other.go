//go:build !linux

package ui

// yield leaves the priorities of threads to the system.
func yield() {}
