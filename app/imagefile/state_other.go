//go:build !linux

package imagefile

import "io/fs"

// stateOf is not known here.
func stateOf(fs.FileInfo) string { return "" }
