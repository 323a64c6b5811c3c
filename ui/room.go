package ui

import "runtime"

// makeRoom keeps the window's goroutine responsive while jobs use all processors. It must be called on the main
// goroutine, before anything else of the window.
//
// Jobs run one goroutine for each processor (parallel.Processors). Go may run one more, so that the window does not
// wait until the scheduler preempts a job's goroutine, which takes up to 10 ms. If the system allows it, all other
// threads get a lower priority than those of the window and its OpenGL driver.
func makeRoom() {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	yield()
}
