//go:build nogtk

package filedialog

// System is a placeholder for dialogs that this build does not have.
type System struct{}

// NewSystem returns no dialogs.
func NewSystem() *System { return &System{} }

// Dialogs returns the given dialogs.
func (*System) Dialogs(fallback Dialogs, _ Confirm, _ func() (remove func())) Dialogs {
	return fallback
}
