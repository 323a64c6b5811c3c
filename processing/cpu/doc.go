// Package cpu is the processing.Backend that runs on goroutines.
//
// An operation is a driver: it divides the picture into tiles, hands them to the workers, and takes care of borders,
// running sums and scratch rows. The samples of a row are processed by row kernels, small functions in one table
// (package kernel), so that a faster body for a processor can replace the plain one without a change to any driver.
//
// Results do not depend on the number of workers: integer sums are exact, and the order of float additions depends only
// on positions in the picture.
package cpu
