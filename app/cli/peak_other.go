//go:build !unix

package cli

// peakMemory returns the most memory that the process has held so far, in bytes; 0 where the system does not tell.
func peakMemory() int64 { return 0 }
