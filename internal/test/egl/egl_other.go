//go:build !linux || !cgo

// Package egl makes OpenGL contexts without a window or a screen, on Linux.
package egl

import "errors"

// MakeCurrent returns an error: EGL is looked for on Linux only.
func MakeCurrent() error { return errors.New("no OpenGL context: EGL is looked for on Linux only") }
