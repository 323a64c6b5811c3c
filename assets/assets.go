// Package assets holds the files that are compiled into the program: the sample painting with its truth, and the icon.
// README.md says where each comes from.
package assets

import (
	"bytes"
	_ "embed"
)

//go:embed sample.jpg
var picture []byte

//go:embed sample_mask.png
var truth []byte

//go:embed icon.png
var icon []byte

// Sample returns a JPEG file: a generated painting with glare.
func Sample() []byte { return bytes.Clone(picture) }

// SampleMask returns a PNG file of the same size: the exact truth of Sample, 255 where glare is visible and 0
// elsewhere.
func SampleMask() []byte { return bytes.Clone(truth) }

// Icon returns the program's icon, a PNG file of 512 × 512 pixels.
func Icon() []byte { return bytes.Clone(icon) }
