//go:build unix

package imagefile

import (
	"syscall"
	"time"
)

// cpuTime is the processor time of this process: what a busy machine cannot lengthen.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
