//go:build !linux && !darwin && !freebsd

package atomicfile

// Free returns −1: a disk that is full says so when it is written.
func (Disk) Free(string) int64 { return -1 }

// SyncDir does nothing, because directories cannot be opened for syncing here.
func (Disk) SyncDir(string) {}
