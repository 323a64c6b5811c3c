package work

import (
	"errors"
	"io/fs"
	"os"

	"blik/internal/atomicfile"
	"blik/internal/message"
)

// EnterFolder creates a folder with its parents, completes or removes outputs of killed processes in it, and returns
// what those that it has completed are about, by their names.
func EnterFolder(dir string) (map[string]string, error) {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		// Folders that cannot be read or written are skipped.
		completed, _ := atomicfile.Complete(atomicfile.Disk{}, dir)
		return completed, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, message.Errorf("%s: no permission to create this folder", dir)
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return nil, message.Errorf("%s: this is a file, not a folder", dir)
	}
	if info, e := os.Lstat(dir); e == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, message.Errorf("%s: this is a link to a folder that does not exist", dir)
	}
	return nil, message.Errorf("%s: the folder cannot be created (%w)", dir, message.Plain(err))
}
