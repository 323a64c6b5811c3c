//go:build linux && !cgo

package imagefile

// threadSpace is the address space of a thread, whose stack lies in the heap.
const threadSpace = 0
