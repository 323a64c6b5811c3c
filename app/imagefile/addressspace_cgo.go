//go:build linux && cgo

package imagefile

// threadSpace is the address space of a thread: its stack, and its arena in the C library.
const threadSpace = 72 << 20
