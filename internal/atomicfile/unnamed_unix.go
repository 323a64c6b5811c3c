//go:build darwin || freebsd

package atomicfile

import "os"

// unnamed returns nil: this system has no unnamed files.
func unnamed(string) *os.File { return nil }

func (f *OSFile) Link(path string) error { return os.Link(f.temporary, path) }
