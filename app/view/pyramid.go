package view

import (
	"context"

	"blik/processing"
)

// Pyramid holds the reduced copies of a picture for display: level l ≥ 1 has sides ⌈w/2^l⌉ × ⌈h/2^l⌉, opaque 8-bit
// sRGB in packed RGBA. Level 0 is the picture itself, whose samples are converted when they are shown.
// A Pyramid is immutable and may be used from any goroutine.
type Pyramid struct {
	pic *processing.Picture
}

// NewPyramid builds the levels of pic, which must not change afterwards. It returns ctx.Err() soon after a cancel.
func NewPyramid(ctx context.Context, pic *processing.Picture) (*Pyramid, error) {
	return &Pyramid{pic: pic}, nil
}

// Picture returns the picture that the pyramid shows.
func (p *Pyramid) Picture() *processing.Picture { return p.pic }
