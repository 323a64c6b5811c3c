// Package job runs one long piece of work at a time on a goroutine of its own, with progress and cancel, so that a
// window never waits for pixels.
package job
