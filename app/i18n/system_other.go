//go:build !windows

package i18n

// preferred returns nothing: on this system the environment holds the language.
func preferred() string { return "" }
