package correct

import "unsafe"

// scratch is an arena for the buffers of one task, reused by the next. The zero value is ready for use.
type scratch struct {
	words []uint64
	used  int
}

// mostScratch is how much memory a scratch keeps between tasks, in words: 8 MiB.
const mostScratch = 1 << 20

// reset makes all buffers available again.
func (s *scratch) reset() {
	s.used = 0
	if len(s.words) > mostScratch {
		s.words = nil
	}
}

// alloc returns n values with undefined content, valid until the next reset. With a nil scratch it allocates them.
func alloc[T uint8 | int16 | int32 | int64 | float32 | float64](s *scratch, n int) []T {
	if s == nil {
		return make([]T, n)
	}
	var zero T
	const line = 8
	words := (n*int(unsafe.Sizeof(zero))+7)/8 + line
	words -= words % line
	if s.used+words > len(s.words) {
		// Earlier buffers stay valid: they keep the old array.
		s.words, s.used = make([]uint64, max(words, 2*len(s.words), 1<<13)), 0
	}
	part := s.words[s.used : s.used+words]
	s.used += words
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(part))), words*8/int(unsafe.Sizeof(zero)))[:n:n]
}

// allocZero is alloc with all values 0.
func allocZero[T uint8 | int32 | int64 | float32 | float64](s *scratch, n int) []T {
	p := alloc[T](s, n)
	clear(p)
	return p
}

// allocPlanes allocates several planes of n values.
func allocPlanes(s *scratch, count, n int) [][]float32 {
	planes := make([][]float32, count)
	for k := range planes {
		planes[k] = alloc[float32](s, n)
	}
	return planes
}
