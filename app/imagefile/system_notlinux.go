//go:build !linux

package imagefile

import (
	"errors"
	"os"
)

// clone is not supported on this system.
func clone(*os.File, *os.File) error { return errors.ErrUnsupported }
