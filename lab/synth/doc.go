// Package synth renders copyright-free synthetic paintings, and glare with exact ground truth on any picture, for
// trying the program out, for its tests and for its benchmarks.
//
// Paint makes a plausible oil painting from a seed, RenderGlare adds glare to any picture in linear light and returns
// the mask of what became visible, RenderRelief lights the relief of the paint instead of drawing glints, NewExample
// makes pictures to train a detector on, Generate paints and adds glare, and Vary makes the variants (half and double
// size, blur, depth, grey, JPEG) at which a detector has to hold its figures. Everything is deterministic: the same
// seed and options give the same bytes whatever the number of workers. The package does not import the detector.
package synth
