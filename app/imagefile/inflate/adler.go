package inflate

import "encoding/binary"

const (
	// adlerPrime is the modulus of the checksum (RFC 1950, 8).
	adlerPrime = 65521
	// adlerWords is the number of words after which sums of sums, up to 255·22·23/2, would no longer fit into 16 bits.
	adlerWords = 22
	// evenBytes is a mask of every other byte.
	evenBytes = 0x00ff00ff00ff00ff
)

// adler is a running checksum of RFC 1950.
type adler struct{ a, b uint32 }

// Adler32 returns the checksum of p.
func Adler32(p []byte) uint32 {
	s := newAdler()
	s.add(p)
	return s.sum()
}

func newAdler() adler { return adler{a: 1} }

func (s *adler) sum() uint32 { return s.b<<16 | s.a }

// add processes p eight bytes at a time: each of the eight positions has a lane of 16 bits for the sum of its bytes and
// one for the sum of these sums.
func (s *adler) add(p []byte) {
	a, b := uint64(s.a), uint64(s.b)
	for len(p) >= 8 {
		words := min(len(p)/8, adlerWords)
		var even, odd, evens, odds uint64
		for i := range words {
			v := binary.LittleEndian.Uint64(p[8*i:])
			even += v & evenBytes
			odd += v >> 8 & evenBytes
			evens += even
			odds += odd
		}
		p = p[8*words:]
		// The byte j of the word w counts 8·(words − w) − j times in b.
		b += uint64(8*words) * a
		for k := range uint64(4) {
			at := 16 * k
			x, y := even>>at&0xffff, odd>>at&0xffff
			a += x + y
			b += 8*(evens>>at&0xffff+odds>>at&0xffff) - 2*k*x - (2*k+1)*y
		}
		a, b = a%adlerPrime, b%adlerPrime
	}
	for _, v := range p {
		a += uint64(v)
		b += a
	}
	s.a, s.b = uint32(a%adlerPrime), uint32(b%adlerPrime)
}
