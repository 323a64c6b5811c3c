package xwidget

// Quiet is set while controls are being set to values that the user did not change.
type Quiet bool

// Show lets f set controls without calling their handlers.
func (q *Quiet) Show(f func()) {
	*q = true
	f()
	*q = false
}

// ByUser returns a handler that ignores changes not made by the user.
func ByUser[T any](q *Quiet, f func(T)) func(T) {
	return func(v T) {
		if !*q {
			f(v)
		}
	}
}
