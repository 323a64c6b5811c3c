//go:build unix

package cli

import (
	"runtime"
	"syscall"
)

// peakMemory returns the most memory that the process has held so far, in bytes; 0 if the system does not report it.
func peakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
