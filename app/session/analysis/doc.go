// Package analysis computes what is only looked at: layers of detection, histograms, close-ups, and the comparison of
// the mask with another one.
package analysis
