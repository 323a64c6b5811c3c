//go:build !linux

package imagefile

// addressSpace is not known here.
func addressSpace() (limit, left int64) { return 0, 0 }
