//go:build nogtk

package filedialog

// Native returns the fallback: the system's dialogs are not built in.
func Native(fallback Dialogs, _ Confirm, _ func() (remove func())) Dialogs { return fallback }
