// Package assets holds the files that are compiled into the program: the sample painting with its truth, and the icon.
// README.md says where each comes from.
package assets

import (
	"bytes"
	_ "embed"
)

//go:embed sample.jpg
var picture []byte

//go:embed icon.png
var icon []byte

// Sample returns a JPEG file: a generated painting with glare.
func Sample() []byte { return bytes.Clone(picture) }

// Icon returns the program's icon, a PNG file of 512 × 512 pixels.
func Icon() []byte { return bytes.Clone(icon) }
