//go:build linux && cgo

package addressspace

import "C"

// Checked reports whether the limit is checked in this build.
const Checked = true
