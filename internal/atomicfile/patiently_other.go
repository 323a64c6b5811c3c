//go:build !windows

package atomicfile

// patiently does what it is given once: a file that another process has open can be renamed here.
func patiently(change func() error) error { return change() }
