// Package cpu is the processing.Backend that runs on goroutines.
//
// An operation is a driver: it cuts the picture into tiles, hands them to the workers, and takes care of borders,
// running sums and scratch rows. What happens to the samples of a row is left to the row kernels, small functions held
// in one table (rows.go), so that a faster body for a processor takes the place of the plain one without a change
// to any driver.
//
// Results do not depend on the number of workers: integer sums are exact, and where floats are added the order is fixed
// by positions in the picture alone.
package cpu
