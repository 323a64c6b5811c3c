package imagefile

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stateOf identifies the file and the time of its last change, which nobody can set back. Equal states are equal
// contents; a change of names or permissions makes another state too.
func stateOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}
