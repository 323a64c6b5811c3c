// Package experiment repeats the measurements of the papers on which the program is based.
//
// An Experiment is described once: its question, the paper's results, the variants that answer it, their parameters and
// sizes, and the conclusions from the times. All lists them, Run measures one. Every variant computes the same result
// from the same Input and is compared with a slow and obvious reference before it is timed.
//
// The variants for processors are here. Those for a GPU are also described here, so that the list is the same on every
// machine, but a Provider supplies their methods; without one their rows state what they need.
//
// The package has no output and no state: lab/bench makes tables and plots of a Result.
package experiment
