// Package aids draws the aids for viewing the picture: histograms, the loupe, the overview, and the cards that hold
// them.
package aids
