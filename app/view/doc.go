// Package view renders a picture and its mask into the pixels of a viewport.
//
// A Transform says which part of the picture is shown, at which zoom and orientation. A Pyramid holds reduced copies of
// the picture, converted from its colour profile to sRGB, a MaskPyramid those of the mask. A Renderer composites them
// into an *image.RGBA. The package has no widgets: it works in device pixels and is used from one goroutine.
package view
