//go:build !linux

package kernel

// UseHugePages does nothing where programs do not choose the size of pages.
func UseHugePages[T Sample]([]T) {}
