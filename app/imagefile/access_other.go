//go:build !linux

package imagefile

import "blik/internal/atomicfile"

// keepAccess gives a new file the permissions of a file. File systems without permissions refuse that.
func keepAccess(file atomicfile.File, like *File) { _ = file.Chmod(like.Mode) }

// keepAttributes does nothing: extended attributes are not supported on this system.
func keepAttributes(atomicfile.File, *File) {}
