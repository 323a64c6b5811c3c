//go:build !unix

package cli

// peakMemory returns the most memory that the process has held so far, in bytes; 0 if the system does not report it.
func peakMemory() int64 { return 0 }
