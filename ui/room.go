package ui

import "runtime"

// makeRoom lets the window's goroutine work beside jobs, however busy these keep the processors. It is called on the
// main goroutine, before anything else of the window.
//
// Jobs run on a goroutine for each processor (parallel.Processors). One more may run in Go, so that the window's need
// not wait until the scheduler takes one of theirs off its processor, which it does after 10 ms. Where the system
// allows, the threads of all others have a lower priority than the window's and those of its OpenGL driver.
func makeRoom() {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	yield()
}
