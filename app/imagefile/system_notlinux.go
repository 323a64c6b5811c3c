//go:build !linux

package imagefile

import (
	"errors"
	"os"
)

// clone is not known to work here.
func clone(*os.File, *os.File) error { return errors.ErrUnsupported }
