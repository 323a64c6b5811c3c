//go:build !windows

package atomicfile

// patiently runs the operation once: a file that another process has open can be renamed here.
func patiently(change func() error) error { return change() }
