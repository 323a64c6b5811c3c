// Erosion and dilation down the columns by van Herk's and Gil and Werman's recursion (van Herk 1992; Gil & Werman 1993) as the
// experiment of that name compares them. Two threads do a segment of k = 2r + 1 rows of a column of words, four samples wide:
// one takes the suffix extremes of the k samples that begin r rows above the segment, the other the prefix extremes of the
// k that begin r rows below its first; the better of the two at the same place is the result. The two variants differ in
// where suffixes and prefixes lie.
#include "common.cuh"

template <bool dilate> struct extreme;
template <> struct extreme<true> {
	static __device__ __forceinline__ u32 worst() { return 0; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __vmaxu4(a, b); }
};
template <> struct extreme<false> {
	static __device__ __forceinline__ u32 worst() { return ~0u; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __vminu4(a, b); }
};

// vhgw filters one segment of a column that begins in row top. Sample i of suffix and prefix lies at i·stride. half says
// which of the two threads this is. batch rows are read ahead.
template <class O, int batch>
__device__ __forceinline__ void vhgw(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, u32 *prefix, i64 stride,
	int r, int half, int x, int words, int top, int h) {
	int k = 2 * r + 1, last = x < words ? min(k, h - top) : 0;
	u32 run = O::worst(), v[batch], end[batch];
	if (half == 0) {
		for (int i = last > 0 ? k - 1 : -1; i >= 0; i -= batch) {
#pragma unroll
			for (int j = 0; j < batch; j++) {
				int y = top - r + i - j;
				v[j] = i >= j && (unsigned)y < (unsigned)h ? rowOf(src, srcPitch, y)[x] : O::worst();
			}
#pragma unroll
			for (int j = 0; j < batch; j++) {
				run = O::best(run, v[j]);
				if (i >= j && i - j < last)
					suffix[(i - j) * stride] = run;
			}
		}
	} else {
		for (int i = 0; i < last; i += batch) {
#pragma unroll
			for (int j = 0; j < batch; j++) {
				int y = top + r + i + j;
				v[j] = i + j < last && y < h ? rowOf(src, srcPitch, y)[x] : O::worst();
			}
#pragma unroll
			for (int j = 0; j < batch; j++) {
				run = O::best(run, v[j]);
				if (i + j < last)
					prefix[(i + j) * stride] = run;
			}
		}
	}
	__syncthreads();
	// Each thread takes a half of the results.
	int middle = (last + 1) / 2;
	int i = half == 0 ? 0 : middle, stop = half == 0 ? middle : last;
	for (; i < stop; i += batch) {
#pragma unroll
		for (int j = 0; j < batch; j++)
			if (i + j < stop) {
				v[j] = suffix[(i + j) * stride];
				end[j] = prefix[(i + j) * stride];
			}
#pragma unroll
		for (int j = 0; j < batch; j++)
			if (i + j < stop)
				rowOf(dst, dstPitch, top + i + j)[x] = O::best(v[j], end[j]);
	}
}

// Threads of even y take suffixes, those of odd y prefixes.
#define SEGMENT()                                                                                                      \
	int half = threadIdx.y % 2, x = blockIdx.x * blockDim.x + threadIdx.x;                                             \
	int top = (blockIdx.y * (blockDim.y / 2) + threadIdx.y / 2) * (2 * r + 1)

// Suffixes and prefixes lie in planes as large as the picture.
template <class O, int batch>
__device__ __forceinline__ void global(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, u32 *prefix, int r, int words, int h) {
	SEGMENT();
	i64 at = (i64)top * words + x;
	vhgw<O, batch>(dst, dstPitch, src, srcPitch, suffix + at, prefix + at, words, r, half, x, words, top, h);
}

// Suffixes and prefixes lie in shared memory, k words a thread.
template <class O, int batch>
__device__ __forceinline__ void shared(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) {
	extern __shared__ u32 memory[];
	SEGMENT();
	int segments = blockDim.x * (blockDim.y / 2);
	u32 *suffix = memory + threadIdx.y / 2 * blockDim.x + threadIdx.x;
	vhgw<O, batch>(dst, dstPitch, src, srcPitch, suffix, suffix + (2 * r + 1) * segments, segments, r, half, x, words, top, h);
}

// Kernels for longer elements, which have fewer segments and so fewer threads, read further ahead.
#define VHGW(name, dilate, reach, batch)                                                                               \
	extern "C" __global__ void __launch_bounds__(128) name##Global##reach(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, \
		u32 *suffix, u32 *prefix, int r, int words, int h) {                                                           \
		global<extreme<dilate>, batch>(dst, dstPitch, src, srcPitch, suffix, prefix, r, words, h);                     \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(128) name##Shared##reach(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, \
		int r, int words, int h) {                                                                                     \
		shared<extreme<dilate>, batch>(dst, dstPitch, src, srcPitch, r, words, h);                                     \
	}
VHGW(vhgwErode, false, Few, 3)
VHGW(vhgwErode, false, Many, 8)
VHGW(vhgwErode, false, More, 16)
VHGW(vhgwErode, false, Most, 32)
VHGW(vhgwDilate, true, Few, 3)
VHGW(vhgwDilate, true, Many, 8)
VHGW(vhgwDilate, true, More, 16)
VHGW(vhgwDilate, true, Most, 32)
