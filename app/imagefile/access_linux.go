package imagefile

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"blik/internal/atomicfile"
)

// accessList is the extended attribute that holds the access control list of a file (acl(5)).
const accessList = "system.posix_acl_access"

// keepAccess copies the permissions and the access control list of a file to a new one. File systems without them
// refuse that; the new file then keeps its defaults.
func keepAccess(file atomicfile.File, like *File) {
	_ = file.Chmod(like.Mode)
	if f, ok := file.(*atomicfile.OSFile); ok {
		copyAttribute(descriptorOf(f), like.Path, accessList)
	}
}

// keepAttributes copies the user extended attributes of a file (xattr(7)): tags, comments, checksums.
func keepAttributes(file atomicfile.File, like *File) {
	f, ok := file.(*atomicfile.OSFile)
	if !ok {
		return
	}
	names := make([]byte, 64<<10)
	n, err := syscall.Listxattr(like.Path, names)
	if err != nil {
		return
	}
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		if name := string(name); strings.HasPrefix(name, "user.") {
			copyAttribute(descriptorOf(f), like.Path, name)
		}
	}
}

// descriptorOf returns the /proc path of an open file, which may have no name.
func descriptorOf(f *atomicfile.OSFile) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// copyAttribute copies an extended attribute if the file has it and the other file system can hold it.
func copyAttribute(to, from, name string) {
	value := make([]byte, 64<<10) // the maximum on Linux
	if n, err := syscall.Getxattr(from, name, value); err == nil {
		_ = syscall.Setxattr(to, name, value[:n], 0)
	}
}
