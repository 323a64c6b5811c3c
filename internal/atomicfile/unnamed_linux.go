package atomicfile

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// unnamed makes a locked, unnamed file in a directory (open(2), O_TMPFILE); it returns nil if that is not possible.
func unnamed(dir string) *os.File {
	const tmpfile = 0x400000 | syscall.O_DIRECTORY
	f, err := os.OpenFile(dir, os.O_RDWR|tmpfile, 0o666)
	if err != nil {
		return nil
	}
	// Link needs the path; the file keeps its lock when it gets a name.
	if _, err := os.Stat(descriptor(f)); err != nil || lock(f) != nil {
		f.Close()
		return nil
	}
	return f
}

// descriptor returns the /proc path of an open file.
func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

func (f *OSFile) Link(path string) error {
	if f.temporary != "" {
		return os.Link(f.temporary, path)
	}
	from, err := syscall.BytePtrFromString(descriptor(f.File))
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	const follow = 0x400 // AT_SYMLINK_FOLLOW
	here := -100         // AT_FDCWD
	_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(here), uintptr(unsafe.Pointer(from)), uintptr(here),
		uintptr(unsafe.Pointer(to)), follow, 0)
	if errno != 0 {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: errno}
	}
	return nil
}
