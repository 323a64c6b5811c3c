// Package job runs one long piece of work at a time on its own goroutine, with progress and cancel, so that a
// window never waits for pixels.
package job
