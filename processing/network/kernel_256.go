//go:build goexperiment.simd && amd64

package network

import (
	"simd/archsimd"
	"unsafe"
)

// convolve256 computes a row of four channels with AVX2, as convolvePlain does, two vectors of cells at a time.
// Products of unsigned activations and signed weights are added in pairs in 16 bits (vpmaddubsw), then over a group of
// taps, still in 16 bits, and only then in 32 bits (vpmaddwd). The sums of a block stay in memory, because the compiler
// has only 15 vector registers and would spill loop-carried values.
func convolve256(j *job) {
	p := j.pack
	memory := unsafe.Pointer(unsafe.SliceData(j.memory))
	sums := j.aligned()
	taps, wide := unsafe.Pointer(unsafe.SliceData(j.taps)), unsafe.Pointer(unsafe.SliceData(j.wide))
	widen256(wide, p.weights)
	for block := range j.blocks {
		src := unsafe.Add(memory, 64*block)
		begin256(sums, &p.bias)
		fours256(sums, src, wide, taps, p.four)
		if p.two > 0 {
			twos256(sums, src, unsafe.Add(wide, 512*p.four), unsafe.Add(taps, 16*p.four), p.two)
		}
		finish256(unsafe.Add(src, j.dst), sums, j)
	}
	archsimd.ClearAVXUpperBits()
}

// widen256 broadcasts every four weights of an output to all cells of a vector. It is repeated for each row, because
// the expanded weights of all layers would not fit into the L2 cache.
func widen256(wide unsafe.Pointer, weights []int32) {
	for i, w := range weights {
		archsimd.BroadcastInt32x8(w).Store((*[8]int32)(unsafe.Add(wide, 32*i)))
	}
}

// begin256 initialises the sums of a block with the bias.
func begin256(sums unsafe.Pointer, bias *[4]int32) {
	for o := range bias {
		b := archsimd.BroadcastInt32x8(bias[o])
		b.Store((*[8]int32)(unsafe.Add(sums, 64*o)))
		b.Store((*[8]int32)(unsafe.Add(sums, 64*o+32)))
	}
}

// fours256 adds groups of four taps to the sums of a block.
func fours256(sums, src, wide, taps unsafe.Pointer, groups int) {
	one := archsimd.LoadInt16x16((*[16]int16)(unsafe.Pointer(&ones)))
	for g := range groups {
		wide, taps := unsafe.Add(wide, 512*g), unsafe.Add(taps, 16*g)
		a := unsafe.Add(src, int(*(*int32)(taps)))
		x, y := bytes256(a), bytes256(unsafe.Add(a, 32))
		w := weights256(wide)
		s0, t0 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 32))
		s1, t1 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 64))
		s2, t2 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 96))
		s3, t3 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 4))))
		x, y = bytes256(a), bytes256(unsafe.Add(a, 32))
		w = weights256(unsafe.Add(wide, 128))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 160))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 192))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 224))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 8))))
		x, y = bytes256(a), bytes256(unsafe.Add(a, 32))
		w = weights256(unsafe.Add(wide, 256))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 288))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 320))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 352))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 12))))
		x, y = bytes256(a), bytes256(unsafe.Add(a, 32))
		w = weights256(unsafe.Add(wide, 384))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 416))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 448))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 480))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		add256(unsafe.Add(sums, 0), s0.DotProductPairs(one))
		add256(unsafe.Add(sums, 32), t0.DotProductPairs(one))
		add256(unsafe.Add(sums, 64), s1.DotProductPairs(one))
		add256(unsafe.Add(sums, 96), t1.DotProductPairs(one))
		add256(unsafe.Add(sums, 128), s2.DotProductPairs(one))
		add256(unsafe.Add(sums, 160), t2.DotProductPairs(one))
		add256(unsafe.Add(sums, 192), s3.DotProductPairs(one))
		add256(unsafe.Add(sums, 224), t3.DotProductPairs(one))
	}
}

// twos256 adds groups of two taps to the sums of a block.
func twos256(sums, src, wide, taps unsafe.Pointer, groups int) {
	one := archsimd.LoadInt16x16((*[16]int16)(unsafe.Pointer(&ones)))
	for g := range groups {
		wide, taps := unsafe.Add(wide, 256*g), unsafe.Add(taps, 8*g)
		a := unsafe.Add(src, int(*(*int32)(taps)))
		x, y := bytes256(a), bytes256(unsafe.Add(a, 32))
		w := weights256(wide)
		s0, t0 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 32))
		s1, t1 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 64))
		s2, t2 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights256(unsafe.Add(wide, 96))
		s3, t3 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 4))))
		x, y = bytes256(a), bytes256(unsafe.Add(a, 32))
		w = weights256(unsafe.Add(wide, 128))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 160))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 192))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights256(unsafe.Add(wide, 224))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		add256(unsafe.Add(sums, 0), s0.DotProductPairs(one))
		add256(unsafe.Add(sums, 32), t0.DotProductPairs(one))
		add256(unsafe.Add(sums, 64), s1.DotProductPairs(one))
		add256(unsafe.Add(sums, 96), t1.DotProductPairs(one))
		add256(unsafe.Add(sums, 128), s2.DotProductPairs(one))
		add256(unsafe.Add(sums, 160), t2.DotProductPairs(one))
		add256(unsafe.Add(sums, 192), s3.DotProductPairs(one))
		add256(unsafe.Add(sums, 224), t3.DotProductPairs(one))
	}
}

// finish256 scales, clamps and packs the sums of a block. The shift is a vector, because a scalar shift count would use
// a legacy SSE instruction, which waits for the upper halves of wider registers.
func finish256(dst, sums unsafe.Pointer, j *job) {
	add, top := archsimd.BroadcastInt32x8(j.add), archsimd.BroadcastInt32x8(j.top)
	var zero archsimd.Int32x8
	for k := range 2 {
		var v archsimd.Int32x8
		for o := 3; o >= 0; o-- {
			count := archsimd.BroadcastInt32x8(j.pack.shift[o])
			s := sums256(unsafe.Add(sums, 64*o+32*k)).ShiftRight(count)
			v = v.ShiftAllLeft(8).Or(s.Add(add).Max(zero).Min(top))
		}
		v.Store((*[8]int32)(unsafe.Add(dst, 32*k)))
	}
}

func bytes256(p unsafe.Pointer) archsimd.Uint8x32 { return archsimd.LoadUint8x32((*[32]uint8)(p)) }

func weights256(p unsafe.Pointer) archsimd.Int8x32 { return archsimd.LoadInt8x32((*[32]int8)(p)) }

func sums256(p unsafe.Pointer) archsimd.Int32x8 { return archsimd.LoadInt32x8((*[8]int32)(p)) }

func add256(p unsafe.Pointer, v archsimd.Int32x8) { v.Add(sums256(p)).Store((*[8]int32)(p)) }
