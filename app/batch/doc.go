// Package batch processes many files, on this computer or on a farm, for the command line and the window. Package farm
// provides the queue and its guarantees.
package batch
