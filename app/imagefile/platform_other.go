//go:build !windows

package imagefile

import (
	"errors"
	"io/fs"
)

// physicalMemory adds nothing to the sources of machineMemory.
func physicalMemory() (m memory, known bool) { return memory{}, false }

// IsNotExist reports whether an error of opening says that there is no such file.
func IsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// portable returns the error: its number is what writeError looks for.
func portable(err error) error { return err }
