//go:build !windows

package imagefile

// physicalMemory knows nothing besides what machineMemory reads.
func physicalMemory() (m memory, known bool) { return memory{}, false }

// portable returns the error: its number is what writeError looks for.
func portable(err error) error { return err }
