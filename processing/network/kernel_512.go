//go:build goexperiment.simd && amd64

package network

import (
	"simd/archsimd"
	"unsafe"
)

// convolve512 computes a row of four channels with AVX-512, as convolvePlain does, two vectors of cells at a time.
// Products of unsigned activations and signed weights are added in pairs in 16 bits (vpmaddubsw), then over a group of
// taps, still in 16 bits, and only then in 32 bits (vpmaddwd). The sums of a block stay in memory, because the compiler
// has only 15 vector registers and would spill loop-carried values.
func convolve512(j *job) {
	p := j.pack
	memory := unsafe.Pointer(unsafe.SliceData(j.memory))
	sums := j.aligned()
	taps, wide := unsafe.Pointer(unsafe.SliceData(j.taps)), unsafe.Pointer(unsafe.SliceData(j.wide))
	widen512(wide, p.weights)
	for block := range j.blocks {
		src := unsafe.Add(memory, 128*block)
		begin512(sums, &p.bias)
		fours512(sums, src, wide, taps, p.four)
		if p.two > 0 {
			twos512(sums, src, unsafe.Add(wide, 1024*p.four), unsafe.Add(taps, 16*p.four), p.two)
		}
		finish512(unsafe.Add(src, j.dst), sums, j)
	}
	archsimd.ClearAVXUpperBits()
}

// widen512 broadcasts every four weights of an output to all cells of a vector. It is repeated for each row, because
// the expanded weights of all layers would not fit into the L2 cache.
func widen512(wide unsafe.Pointer, weights []int32) {
	for i, w := range weights {
		archsimd.BroadcastInt32x16(w).Store((*[16]int32)(unsafe.Add(wide, 64*i)))
	}
}

// begin512 initialises the sums of a block with the bias.
func begin512(sums unsafe.Pointer, bias *[4]int32) {
	for o := range bias {
		b := archsimd.BroadcastInt32x16(bias[o])
		b.Store((*[16]int32)(unsafe.Add(sums, 128*o)))
		b.Store((*[16]int32)(unsafe.Add(sums, 128*o+64)))
	}
}

// fours512 adds groups of four taps to the sums of a block.
func fours512(sums, src, wide, taps unsafe.Pointer, groups int) {
	one := archsimd.LoadInt16x32((*[32]int16)(unsafe.Pointer(&ones)))
	for g := range groups {
		wide, taps := unsafe.Add(wide, 1024*g), unsafe.Add(taps, 16*g)
		a := unsafe.Add(src, int(*(*int32)(taps)))
		x, y := bytes512(a), bytes512(unsafe.Add(a, 64))
		w := weights512(wide)
		s0, t0 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 64))
		s1, t1 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 128))
		s2, t2 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 192))
		s3, t3 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 4))))
		x, y = bytes512(a), bytes512(unsafe.Add(a, 64))
		w = weights512(unsafe.Add(wide, 256))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 320))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 384))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 448))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 8))))
		x, y = bytes512(a), bytes512(unsafe.Add(a, 64))
		w = weights512(unsafe.Add(wide, 512))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 576))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 640))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 704))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 12))))
		x, y = bytes512(a), bytes512(unsafe.Add(a, 64))
		w = weights512(unsafe.Add(wide, 768))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 832))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 896))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 960))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		add512(unsafe.Add(sums, 0), s0.DotProductPairs(one))
		add512(unsafe.Add(sums, 64), t0.DotProductPairs(one))
		add512(unsafe.Add(sums, 128), s1.DotProductPairs(one))
		add512(unsafe.Add(sums, 192), t1.DotProductPairs(one))
		add512(unsafe.Add(sums, 256), s2.DotProductPairs(one))
		add512(unsafe.Add(sums, 320), t2.DotProductPairs(one))
		add512(unsafe.Add(sums, 384), s3.DotProductPairs(one))
		add512(unsafe.Add(sums, 448), t3.DotProductPairs(one))
	}
}

// twos512 adds groups of two taps to the sums of a block.
func twos512(sums, src, wide, taps unsafe.Pointer, groups int) {
	one := archsimd.LoadInt16x32((*[32]int16)(unsafe.Pointer(&ones)))
	for g := range groups {
		wide, taps := unsafe.Add(wide, 512*g), unsafe.Add(taps, 8*g)
		a := unsafe.Add(src, int(*(*int32)(taps)))
		x, y := bytes512(a), bytes512(unsafe.Add(a, 64))
		w := weights512(wide)
		s0, t0 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 64))
		s1, t1 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 128))
		s2, t2 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		w = weights512(unsafe.Add(wide, 192))
		s3, t3 := x.DotProductPairsSaturated(w), y.DotProductPairsSaturated(w)
		a = unsafe.Add(src, int(*(*int32)(unsafe.Add(taps, 4))))
		x, y = bytes512(a), bytes512(unsafe.Add(a, 64))
		w = weights512(unsafe.Add(wide, 256))
		s0 = s0.Add(x.DotProductPairsSaturated(w))
		t0 = t0.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 320))
		s1 = s1.Add(x.DotProductPairsSaturated(w))
		t1 = t1.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 384))
		s2 = s2.Add(x.DotProductPairsSaturated(w))
		t2 = t2.Add(y.DotProductPairsSaturated(w))
		w = weights512(unsafe.Add(wide, 448))
		s3 = s3.Add(x.DotProductPairsSaturated(w))
		t3 = t3.Add(y.DotProductPairsSaturated(w))
		add512(unsafe.Add(sums, 0), s0.DotProductPairs(one))
		add512(unsafe.Add(sums, 64), t0.DotProductPairs(one))
		add512(unsafe.Add(sums, 128), s1.DotProductPairs(one))
		add512(unsafe.Add(sums, 192), t1.DotProductPairs(one))
		add512(unsafe.Add(sums, 256), s2.DotProductPairs(one))
		add512(unsafe.Add(sums, 320), t2.DotProductPairs(one))
		add512(unsafe.Add(sums, 384), s3.DotProductPairs(one))
		add512(unsafe.Add(sums, 448), t3.DotProductPairs(one))
	}
}

// finish512 scales, clamps and packs the sums of a block. The shift is a vector, because a scalar shift count would use
// a legacy SSE instruction, which waits for the upper halves of wider registers.
func finish512(dst, sums unsafe.Pointer, j *job) {
	add, top := archsimd.BroadcastInt32x16(j.add), archsimd.BroadcastInt32x16(j.top)
	var zero archsimd.Int32x16
	for k := range 2 {
		var v archsimd.Int32x16
		for o := 3; o >= 0; o-- {
			count := archsimd.BroadcastInt32x16(j.pack.shift[o])
			s := sums512(unsafe.Add(sums, 128*o+64*k)).ShiftRight(count)
			if o == 0 {
				s = s.Add(add)
			}
			v = v.ShiftAllLeft(8).Or(s.Max(zero).Min(top))
		}
		v.Store((*[16]int32)(unsafe.Add(dst, 64*k)))
	}
}

func bytes512(p unsafe.Pointer) archsimd.Uint8x64 { return archsimd.LoadUint8x64((*[64]uint8)(p)) }

func weights512(p unsafe.Pointer) archsimd.Int8x64 { return archsimd.LoadInt8x64((*[64]int8)(p)) }

func sums512(p unsafe.Pointer) archsimd.Int32x16 { return archsimd.LoadInt32x16((*[16]int32)(p)) }

func add512(p unsafe.Pointer, v archsimd.Int32x16) { v.Add(sums512(p)).Store((*[16]int32)(p)) }
