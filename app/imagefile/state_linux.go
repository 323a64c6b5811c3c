package imagefile

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stateOf identifies the file and its change time, which cannot be set. Equal states mean equal contents; renaming or
// changing permissions also changes the state.
func stateOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
}
