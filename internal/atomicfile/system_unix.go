//go:build linux || darwin || freebsd

package atomicfile

import (
	"os"
	"syscall"
)

// Free returns the bytes that this user may still write in a directory, −1 where the system does not report it.
func (Disk) Free(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// SyncDir fsyncs the directory. Where that fails, the new file is complete and in place all the same; only a power
// failure in the next seconds could bring the old one back.
func (Disk) SyncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
