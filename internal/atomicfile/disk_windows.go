package atomicfile

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// renamesOpen: open files can be renamed if every open handle permits that, as those of Create do.
const renamesOpen = true

// Create implements FileSystem. While the file is open for writing, no other process can Claim it.
func (Disk) Create(path string) (File, error) {
	const all = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	f, err := openShared(path, all, syscall.CREATE_NEW)
	if err != nil {
		return nil, err
	}
	return &OSFile{File: f, temporary: path}, nil
}

func (f *OSFile) Link(path string) error { return Disk{}.Link(f.temporary, path) }

// Claim implements FileSystem: Windows refuses it while another process has the file open for writing: the process that
// made it, or another Claim.
func (Disk) Claim(path string) (io.Closer, error) {
	return openShared(path, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_DELETE, syscall.OPEN_EXISTING)
}

// Lock makes a file and keeps others from opening it until it is closed, so that they see that this process is running.
func Lock(path string) (io.Closer, error) { return openShared(path, 0, syscall.OPEN_ALWAYS) }

// openShared opens a file for reading and writing with the given sharing mode. Links are not followed.
func openShared(path string, share, creation uint32) (*os.File, error) {
	fail := func(err error) (*os.File, error) { return nil, &os.PathError{Op: "open", Path: path, Err: err} }
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return fail(err)
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil, creation,
		syscall.FILE_ATTRIBUTE_NORMAL|syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return fail(err)
	}
	return os.NewFile(uintptr(handle), path), nil
}

// Free returns the number of bytes that this user can still write in a directory; −1 if the system does not report it.
func (Disk) Free(dir string) int64 {
	name, err := syscall.UTF16PtrFromString(dir)
	if err != nil {
		return -1
	}
	free := int64(-1)
	ask := syscall.NewLazyDLL("kernel32.dll").NewProc("GetDiskFreeSpaceExW")
	if ok, _, _ := ask.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&free)), 0, 0); ok == 0 {
		return -1
	}
	return free
}

// SyncDir implements FileSystem: directories cannot be opened for syncing here.
func (Disk) SyncDir(string) error { return errors.ErrUnsupported }

// patience is how long a rename waits for other processes: virus scanners and search indexers briefly open new files
// without permitting renames.
const patience = 2 * time.Second

// patiently retries an operation that fails because another process has the file open.
func patiently(change func() error) error {
	const (
		sharingViolation = syscall.Errno(32)
		lockViolation    = syscall.Errno(33)
		userMappedFile   = syscall.Errno(1224)
	)
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := change()
		passing := errors.Is(err, sharingViolation) || errors.Is(err, lockViolation) ||
			errors.Is(err, userMappedFile) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
		if !passing || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}
