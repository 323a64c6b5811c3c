// Package network is the small convolutional network that finds glints: its model file, and its inference in integers.
//
// The input is 16 planes of 0…127 for each pixel, computed from the picture's display-coded samples (Planes). A layer
// is y = clamp((Σ q·a + b + 2^(s−1)) >> s, 0, 127) with weights q and biases b of its output channels and one shift s
// for each of them, or the mean of 2 × 2; the last layer is not clamped and gives logits in sixteenths. All sums are
// exact, so every implementation gives the same bits. docs/network.md has the method, training/integer.py is the
// reference.
//
// The package does not depend on pictures, planes or backends; package processing has the operation.
package network
