// Package experiment repeats the measurements of the papers that the program stands on.
//
// An Experiment is described once: its question, what the paper saw, the variants that answer it, their parameters and
// sizes, and what is concluded from the times. All lists them, Run measures one. Every variant computes the same result
// from the same Input and is compared with a slow and obvious reference before it is timed.
//
// The variants for processors are here. Those for a GPU are described here as well, so that the list is the same on
// every machine, but a Provider brings their methods; without one their rows say what they need.
//
// The package prints nothing and draws nothing, and holds no state: app/bench makes tables and plots of a Result.
package experiment
