//go:build !linux

package cpu

// useHugePages does nothing where programs do not choose the size of pages.
func useHugePages[T sample]([]T) {}
