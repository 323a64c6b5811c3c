//go:build goexperiment.simd && amd64

package tones

import (
	"math/bits"
	"simd/archsimd"
	"unsafe"

	"blik/internal/simd"
)

// kernelsOf returns the kernels of a level.
func kernelsOf(level simd.Level) (reading, counting) {
	if level < simd.AVX512 {
		return readPlain[uint8], countPlain
	}
	return read512, count512
}

// The positions of one channel's samples in three vectors of 32 samples, which hold 32 pixels: in the first two
// vectors, and in the result of these and the third.
const (
	firstRed = "\x00\x00\x03\x00\x06\x00\x09\x00\x0c\x00\x0f\x00\x12\x00\x15\x00" +
		"\x18\x00\x1b\x00\x1e\x00\x21\x00\x24\x00\x27\x00\x2a\x00\x2d\x00" +
		"\x30\x00\x33\x00\x36\x00\x39\x00\x3c\x00\x3f\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	thenRed = "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00" +
		"\x08\x00\x09\x00\x0a\x00\x0b\x00\x0c\x00\x0d\x00\x0e\x00\x0f\x00" +
		"\x10\x00\x11\x00\x12\x00\x13\x00\x14\x00\x15\x00\x22\x00\x25\x00" +
		"\x28\x00\x2b\x00\x2e\x00\x31\x00\x34\x00\x37\x00\x3a\x00\x3d\x00"
	firstGreen = "\x01\x00\x04\x00\x07\x00\x0a\x00\x0d\x00\x10\x00\x13\x00\x16\x00" +
		"\x19\x00\x1c\x00\x1f\x00\x22\x00\x25\x00\x28\x00\x2b\x00\x2e\x00" +
		"\x31\x00\x34\x00\x37\x00\x3a\x00\x3d\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	thenGreen = "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00" +
		"\x08\x00\x09\x00\x0a\x00\x0b\x00\x0c\x00\x0d\x00\x0e\x00\x0f\x00" +
		"\x10\x00\x11\x00\x12\x00\x13\x00\x14\x00\x20\x00\x23\x00\x26\x00" +
		"\x29\x00\x2c\x00\x2f\x00\x32\x00\x35\x00\x38\x00\x3b\x00\x3e\x00"
	firstBlue = "\x02\x00\x05\x00\x08\x00\x0b\x00\x0e\x00\x11\x00\x14\x00\x17\x00" +
		"\x1a\x00\x1d\x00\x20\x00\x23\x00\x26\x00\x29\x00\x2c\x00\x2f\x00" +
		"\x32\x00\x35\x00\x38\x00\x3b\x00\x3e\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	thenBlue = "\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00" +
		"\x08\x00\x09\x00\x0a\x00\x0b\x00\x0c\x00\x0d\x00\x0e\x00\x0f\x00" +
		"\x10\x00\x11\x00\x12\x00\x13\x00\x14\x00\x21\x00\x24\x00\x27\x00" +
		"\x2a\x00\x2d\x00\x30\x00\x33\x00\x36\x00\x39\x00\x3c\x00\x3f\x00"
)

func load(p unsafe.Pointer, i int) archsimd.Uint16x32 {
	return archsimd.LoadUint16x32((*[32]uint16)(unsafe.Add(p, 64*i)))
}

// Constant vectors. They are never written. Broadcasting a number inside a loop would use a legacy SSE register.
var (
	sampleLimits = [2][32]uint16{
		{
			127, 127, 127, 127, 127, 127, 127, 127,
			127, 127, 127, 127, 127, 127, 127, 127,
			127, 127, 127, 127, 127, 127, 127, 127,
			127, 127, 127, 127, 127, 127, 127, 127,
		},
		{
			63, 63, 63, 63, 63, 63, 63, 63,
			63, 63, 63, 63, 63, 63, 63, 63,
			63, 63, 63, 63, 63, 63, 63, 63,
			63, 63, 63, 63, 63, 63, 63, 63,
		},
	}
	numbers = [6][16]uint32{
		{
			Red, Red, Red, Red, Red, Red, Red, Red,
			Red, Red, Red, Red, Red, Red, Red, Red,
		},
		{
			Green, Green, Green, Green, Green, Green, Green, Green,
			Green, Green, Green, Green, Green, Green, Green, Green,
		},
		{
			Blue, Blue, Blue, Blue, Blue, Blue, Blue, Blue,
			Blue, Blue, Blue, Blue, Blue, Blue, Blue, Blue,
		},
		{
			1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15,
			1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15, 1 << 15,
		},
		{
			16, 16, 16, 16, 16, 16, 16, 16,
			16, 16, 16, 16, 16, 16, 16, 16,
		},
		{
			0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
			0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
		},
	}
)

func number(i int) archsimd.Uint32x16 { return archsimd.LoadUint32x16(&numbers[i]) }

func places(table string) archsimd.Uint16x32 {
	return archsimd.LoadUint16x32((*[32]uint16)(unsafe.Pointer(unsafe.StringData(table))))
}

// chosen selects, from four vectors, the lanes whose sample is in their quarter of the range.
func chosen(p, q, r, s archsimd.Uint16x32, half, quarter archsimd.Mask16x32) archsimd.Uint16x32 {
	return s.Merge(r, quarter).Merge(q.Merge(p, quarter), half)
}

// steps is the number of times that 32 pixels can be added before a 32-bit lane may overflow.
const steps = 1 << 14

func read512(l *lanes, dst []Tone, v *Window[uint8], sum *Sum) {
	across := (v.W + 31) / 32
	// The last vector of a picture may extend beyond its end.
	whole := 0
	if n := len(v.Pix) - 96*across; n >= 0 {
		whole = min(n/v.Stride+1, v.H)
	}
	rows := max(1, steps/across)
	for y := 0; y < whole; y += rows {
		n := min(rows, whole-y)
		sum.N += uint64(read512Rows(l, dst[y*v.W:(y+n)*v.W], v.rows(y, n)))
		l.join(sum)
	}
	if whole < v.H {
		readPlain(l, dst[whole*v.W:], v.rows(whole, v.H-whole), sum)
	}
}

// rows returns the part of the window with n rows from row y on.
func (v *Window[S]) rows(y, n int) *Window[S] {
	part := *v
	part.H, part.Pix, part.Free = n, v.Pix[y*v.Stride:], v.Free[y*v.words():]
	return &part
}

// join adds the lanes to sum.
func (l *lanes) join(sum *Sum) {
	var s [len(l)]uint64
	for i := range l {
		for _, v := range l[i] {
			s[i] += uint64(v)
		}
	}
	sum.Join(&Sum{R: s[0], G: s[1], B: s[2], Y: s[3], Dark: s[4], Squares: s[5] + s[6]<<16})
}

// read512Rows leaves the sums in the lanes and returns the number of free pixels.
func read512Rows(l *lanes, dst []Tone, v *Window[uint8]) int {
	words, all := v.words(), 0
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(v.Pix))
	samples := unsafe.Pointer(unsafe.SliceData(v.Linear))
	// The linear light of all sample values; 64 of them are looked up in two vectors.
	l0, l1, l2, l3 := load(samples, 0), load(samples, 1), load(samples, 2), load(samples, 3)
	l4, l5, l6, l7 := load(samples, 4), load(samples, 5), load(samples, 6), load(samples, 7)
	low, lowest := load(unsafe.Pointer(&sampleLimits), 0), load(unsafe.Pointer(&sampleLimits), 1)
	r0, g0, b0 := places(firstRed), places(firstGreen), places(firstBlue)
	r1, g1, b1 := places(thenRed), places(thenGreen), places(thenBlue)
	red, green, blue := number(0), number(1), number(2)
	round, word, lower := number(3), number(4), number(5)
	zero := red.Xor(red)
	sr, sg, sb, sy, sd, s2, more2 := zero, zero, zero, zero, zero, zero, zero
	for y := range v.H {
		for x := 0; x < v.W; x += 32 {
			free := uint32(v.Free[y*words+x/64] >> (x & 63))
			if n := v.W - x; n < 32 {
				free &= 1<<(n&31) - 1
			}
			all += bits.OnesCount32(free)
			p := unsafe.Add(from, y*v.Stride+3*x)
			i := archsimd.LoadUint8x32((*[32]uint8)(p)).ExtendToUint16()
			i = chosen(l0.ConcatPermute(l1, i), l2.ConcatPermute(l3, i), l4.ConcatPermute(l5, i),
				l6.ConcatPermute(l7, i), i.Greater(low), i.And(low).Greater(lowest))
			j := archsimd.LoadUint8x32((*[32]uint8)(unsafe.Add(p, 32))).ExtendToUint16()
			j = chosen(l0.ConcatPermute(l1, j), l2.ConcatPermute(l3, j), l4.ConcatPermute(l5, j),
				l6.ConcatPermute(l7, j), j.Greater(low), j.And(low).Greater(lowest))
			k := archsimd.LoadUint8x32((*[32]uint8)(unsafe.Add(p, 64))).ExtendToUint16()
			k = chosen(l0.ConcatPermute(l1, k), l2.ConcatPermute(l3, k), l4.ConcatPermute(l5, k),
				l6.ConcatPermute(l7, k), k.Greater(low), k.And(low).Greater(lowest))
			r := i.ConcatPermute(j, r0).ConcatPermute(k, r1)
			g := i.ConcatPermute(j, g0).ConcatPermute(k, g1)
			b := i.ConcatPermute(j, b0).ConcatPermute(k, b1)
			d := r.Min(g).Min(b)
			o := unsafe.Add(to, 4*(y*v.W+x))
			w0 := archsimd.Mask32x16FromBits(uint16(free))
			ra, ga, ba := r.GetLo().ExtendToUint32(), g.GetLo().ExtendToUint32(), b.GetLo().ExtendToUint32()
			ya := ra.Mul(red).Add(ga.Mul(green)).Add(ba.Mul(blue)).Add(round).ShiftRight(word)
			da := d.GetLo().ExtendToUint32()
			ya.ShiftLeft(word).Or(da).Store((*[16]uint32)(o))
			ya = ya.Masked(w0)
			sr, sg, sb = sr.Add(ra.Masked(w0)), sg.Add(ga.Masked(w0)), sb.Add(ba.Masked(w0))
			sy, sd = sy.Add(ya), sd.Add(da.Masked(w0))
			ya = ya.Mul(ya)
			s2, more2 = s2.Add(ya.And(lower)), more2.Add(ya.ShiftRight(word))
			w1 := archsimd.Mask32x16FromBits(uint16(free >> 16))
			rb, gb, bb := r.GetHi().ExtendToUint32(), g.GetHi().ExtendToUint32(), b.GetHi().ExtendToUint32()
			yb := rb.Mul(red).Add(gb.Mul(green)).Add(bb.Mul(blue)).Add(round).ShiftRight(word)
			db := d.GetHi().ExtendToUint32()
			yb.ShiftLeft(word).Or(db).Store((*[16]uint32)(unsafe.Add(o, 64)))
			yb = yb.Masked(w1)
			sr, sg, sb = sr.Add(rb.Masked(w1)), sg.Add(gb.Masked(w1)), sb.Add(bb.Masked(w1))
			sy, sd = sy.Add(yb), sd.Add(db.Masked(w1))
			yb = yb.Mul(yb)
			s2, more2 = s2.Add(yb.And(lower)), more2.Add(yb.ShiftRight(word))
		}
	}
	sr.Store(&l[0])
	sg.Store(&l[1])
	sb.Store(&l[2])
	sy.Store(&l[3])
	sd.Store(&l[4])
	s2.Store(&l[5])
	more2.Store(&l[6])
	archsimd.ClearAVXUpperBits()
	return all
}

func count512(own []uint8, tones []Tone, half, from int) (crowd, around int) {
	whole := len(own) &^ 63
	if whole == 0 {
		return countPlain(own, tones, half, from)
	}
	o, t := unsafe.Pointer(unsafe.SliceData(own)), unsafe.Pointer(unsafe.SliceData(tones[:len(own)]))
	zero, lower := archsimd.BroadcastUint8x64(0), archsimd.BroadcastUint32x16(0xffff)
	shift, least := archsimd.BroadcastUint32x16(uint32(half)), archsimd.BroadcastUint32x16(uint32(from))
	for i := 0; i < whole; i += 64 {
		free := archsimd.LoadUint8x64((*[64]uint8)(unsafe.Add(o, i))).Equal(zero).ToBits()
		p := unsafe.Add(t, 4*i)
		high := uint64(levelAt(p, 0, shift, lower).GreaterEqual(least).ToBits()) |
			uint64(levelAt(p, 1, shift, lower).GreaterEqual(least).ToBits())<<16 |
			uint64(levelAt(p, 2, shift, lower).GreaterEqual(least).ToBits())<<32 |
			uint64(levelAt(p, 3, shift, lower).GreaterEqual(least).ToBits())<<48
		around += bits.OnesCount64(free)
		crowd += bits.OnesCount64(free & high)
	}
	archsimd.ClearAVXUpperBits()
	c, a := countPlain(own[whole:], tones[whole:], half, from)
	return crowd + c, around + a
}

func levelAt(p unsafe.Pointer, i int, shift, lower archsimd.Uint32x16) archsimd.Uint32x16 {
	return archsimd.LoadUint32x16((*[16]uint32)(unsafe.Add(p, 64*i))).ShiftRight(shift).And(lower)
}
