package kernel

import "unsafe"

// Arena is scratch memory of one goroutine, whose slices are valid until it is reset or rewound.
type Arena struct {
	words []uint64
	used  int
}

// Reset makes all of the memory free.
func (a *Arena) Reset() { a.used = 0 }

// Mark returns the place from which rewind frees what is taken after it.
func (a *Arena) Mark() int { return a.used }

// Rewind frees what was taken since mark.
func (a *Arena) Rewind(mark int) { a.used = mark }

// Drop gives the memory up if it is more than most words.
func (a *Arena) Drop(most int) {
	if len(a.words) > most {
		a.words = nil
	}
}

// Take returns n values of scratch with undefined content. They begin on a cache line, so that row kernels get
// aligned rows.
func Take[T Sample | uint64 | float64](a *Arena, n int) []T {
	size := SizeOf[T]()
	const line = 8
	words := (n*size+7)/8 + line
	words -= words % line
	if a.used+words > len(a.words) {
		a.words = make([]uint64, max(words, 2*len(a.words), 1<<13))
		a.used = 0
	}
	s := a.words[a.used : a.used+words]
	a.used += words
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), words*8/size)[:n:n]
}

// SizeOf returns the number of bytes of a sample.
func SizeOf[T Sample | uint64 | float64]() int { return int(unsafe.Sizeof(*new(T))) }
