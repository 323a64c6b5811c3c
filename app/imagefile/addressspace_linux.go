package imagefile

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// runtimeSpace returns the address space that the runtime needs in addition to the pixels: the heap arenas of 64 MiB,
// and the stacks of threads not yet started, each with an arena of the C library.
func runtimeSpace() int64 { return 128<<20 + threadSpace*int64(runtime.GOMAXPROCS(0)+4) }

// addressSpace returns the limit of the process's address space (ulimit -v), 0 for none, and the unused part of it.
func addressSpace() (limit, left int64) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &l); err != nil || l.Cur > 1<<62 {
		return 0, 0
	}
	used := int64(0)
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(data)); len(fields) > 0 {
			if pages, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
				used = pages * int64(os.Getpagesize())
			}
		}
	}
	return int64(l.Cur), int64(l.Cur) - used - runtimeSpace()
}
