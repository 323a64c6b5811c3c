//go:build unix

package server

import "syscall"

// descriptors returns the number of files and connections that this process may open.
func descriptors() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 1024
	}
	return int(min(uint64(l.Cur), 1<<20))
}
