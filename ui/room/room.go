// Package room keeps a window responsive while jobs use all processors.
package room

import "runtime"

// Make keeps the window's goroutine responsive while jobs use all processors. It must be called on the main
// goroutine, before anything else of the window.
//
// Jobs run one goroutine for each processor (parallel.Processors). Go may run three more: the window's, one that hands
// it results, and one that collects garbage. Otherwise they would wait until the scheduler preempts a job's goroutine,
// which takes up to 10 ms; the window's returns from the OpenGL driver many times a frame and could wait each time. If
// the system allows it, all other threads get a lower priority than those of the window and its OpenGL driver.
func Make() {
	const more = 3
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + more)
	yield()
}
