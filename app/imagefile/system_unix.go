//go:build linux || darwin || freebsd

package imagefile

import (
	"os"
	"syscall"
)

// freeSpace returns the bytes that this user may still write in a folder, −1 where that is not told.
func freeSpace(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}

// syncFolder brings a folder's names to the disk. Where it cannot, the new file is complete and in its place all the
// same; only a power cut in the next seconds could bring the old name back.
func syncFolder(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
