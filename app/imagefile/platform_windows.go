package imagefile

import (
	"errors"
	"io/fs"
	"syscall"
	"unsafe"
)

// physicalMemory asks Windows for the memory of the machine.
func physicalMemory() (m memory, known bool) {
	// MEMORYSTATUSEX
	var status struct {
		size, load                                                             uint32
		total, available, pageTotal, pageFree, virtual, virtualFree, extraFree uint64
	}
	status.size = uint32(unsafe.Sizeof(status))
	ask := syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ok, _, _ := ask.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return memory{}, false
	}
	return memory{total: int64(status.total), available: int64(status.available)}, true
}

// IsNotExist reports whether an error of opening says that there is no such file. Names that Windows does not allow,
// such as one with an asterisk, count as missing.
func IsNotExist(err error) bool {
	const invalidName = syscall.Errno(123)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, invalidName)
}

// portable maps Windows error numbers of failed writes to those of other systems.
func portable(err error) error {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return err
	}
	switch number {
	case 39, 112: // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
		return syscall.ENOSPC
	case 1295: // ERROR_DISK_QUOTA_EXCEEDED
		return syscall.EDQUOT
	case 223: // ERROR_FILE_TOO_LARGE
		return syscall.EFBIG
	case 19: // ERROR_WRITE_PROTECT
		return syscall.EROFS
	case 32, 33, 1224: // ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE
		return syscall.EBUSY
	}
	return err
}
