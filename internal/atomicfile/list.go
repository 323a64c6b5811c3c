package atomicfile

import (
	"os"
	"path/filepath"
)

func (Disk) List(dir, pattern string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if ok, _ := filepath.Match(pattern, name); ok {
			found = append(found, name)
		}
	}
	return found, nil
}
