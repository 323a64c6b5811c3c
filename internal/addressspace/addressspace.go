// Package addressspace ends the program with a sentence if the limit of its address space (ulimit -v) is so low that
// the Go runtime would end it with a stack trace. With cgo on Linux it runs before the runtime; elsewhere it does
// nothing.
package addressspace
