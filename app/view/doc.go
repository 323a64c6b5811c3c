// Package view turns a picture and its mask into the pixels of a viewport.
//
// A Transform says which part of the picture is shown, how large and which way up; a Pyramid, in the colours of the
// picture's profile, and a MaskPyramid hold reduced copies; a Renderer composites them into an *image.RGBA. The package
// knows no widget: it works in device pixels and is driven from one goroutine.
package view
