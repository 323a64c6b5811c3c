//go:build !windows

package i18n

// preferred returns nothing: the language is in the environment here.
func preferred() string { return "" }
