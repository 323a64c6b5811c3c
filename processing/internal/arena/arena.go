// Package arena provides scratch memory that tasks use one after the other.
package arena

import "unsafe"

// Arena is scratch memory of one goroutine, whose slices are valid until it is reset or rewound. The zero value is
// ready for use.
type Arena struct {
	words []uint64
	used  int
}

// Reset makes all of the memory free.
func (a *Arena) Reset() { a.used = 0 }

// Mark returns the place from which Rewind frees what is taken after it.
func (a *Arena) Mark() int { return a.used }

// Rewind frees what was taken since mark.
func (a *Arena) Rewind(mark int) { a.used = mark }

// Words returns the size of the memory, in words of 64 bits.
func (a *Arena) Words() int { return len(a.words) }

// Drop gives the memory up if it is more than most words.
func (a *Arena) Drop(most int) {
	if len(a.words) > most {
		a.words = nil
	}
}

// Number is the type of a value.
type Number interface {
	uint8 | uint16 | uint32 | uint64 | int16 | int32 | int64 | float32 | float64
}

// Take returns n values with undefined content. They begin on a cache line, so that loops over vectors get aligned
// rows. With a nil Arena it allocates them.
func Take[T Number](a *Arena, n int) []T {
	if a == nil {
		return make([]T, n)
	}
	size := SizeOf[T]()
	const line = 8
	words := (n*size+7)/8 + line
	words -= words % line
	if a.used+words > len(a.words) {
		// Earlier slices stay valid: they keep the old array.
		a.words, a.used = make([]uint64, max(words, 2*len(a.words), 1<<13)), 0
	}
	s := a.words[a.used : a.used+words]
	a.used += words
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), words*8/size)[:n:n]
}

// Zero is Take with all values 0.
func Zero[T Number](a *Arena, n int) []T {
	s := Take[T](a, n)
	clear(s)
	return s
}

// SizeOf returns the number of bytes of a value.
func SizeOf[T Number]() int { return int(unsafe.Sizeof(*new(T))) }
