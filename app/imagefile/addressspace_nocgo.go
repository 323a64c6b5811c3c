//go:build linux && !cgo

package imagefile

// threadSpace is the address space of a thread, whose stack is part of the heap.
const threadSpace = 0
