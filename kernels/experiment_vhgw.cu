// Erosion and dilation down the columns by van Herk's and Gil and Werman's recursion (van Herk 1992; Gil & Werman 1993) as the
// experiment of that name compares them. A thread does a segment of k = 2r + 1 rows of a column of words, four samples
// wide: the suffix extremes of the k samples that end r rows below the segment's first, then the prefix extremes of the k
// that begin there; the better of the two at the same place is the result. The two variants differ in where suffixes and
// prefixes lie.
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

// vhgw filters one segment; sample i of suffix and prefix lies at i·stride. batch rows are read ahead.
template <class O, int batch>
__device__ __forceinline__ void vhgw(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, u32 *prefix, i64 stride,
	int r, int x, int top, int h) {
	int k = 2 * r + 1, last = min(k, h - top);
	u32 run = O::worst(), v[batch], end[batch];
	for (int i = k - 1; i >= 0; i -= batch) {
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
	run = O::worst();
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
	for (int i = 0; i < last; i += batch) {
#pragma unroll
		for (int j = 0; j < batch; j++)
			if (i + j < last) {
				v[j] = suffix[(i + j) * stride];
				end[j] = prefix[(i + j) * stride];
			}
#pragma unroll
		for (int j = 0; j < batch; j++)
			if (i + j < last)
				rowOf(dst, dstPitch, top + i + j)[x] = O::best(v[j], end[j]);
	}
}

// Suffixes and prefixes lie in planes as large as the picture.
template <class O, int batch>
__device__ __forceinline__ void global(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, u32 *prefix, int r, int words, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, top = (blockIdx.y * blockDim.y + threadIdx.y) * (2 * r + 1);
	if (x >= words || top >= h)
		return;
	i64 at = (i64)top * words + x;
	vhgw<O, batch>(dst, dstPitch, src, srcPitch, suffix + at, prefix + at, words, r, x, top, h);
}

// Suffixes and prefixes lie in shared memory, 2·k words a thread.
template <class O, int batch>
__device__ __forceinline__ void shared(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) {
	extern __shared__ u32 memory[];
	int x = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * r + 1, top = (blockIdx.y * blockDim.y + threadIdx.y) * k;
	if (x >= words || top >= h)
		return;
	int threads = blockDim.x * blockDim.y;
	u32 *suffix = memory + threadIdx.y * blockDim.x + threadIdx.x;
	vhgw<O, batch>(dst, dstPitch, src, srcPitch, suffix, suffix + k * threads, threads, r, x, top, h);
}

// Kernels for short elements read less far ahead.
#define VHGW(name, dilate)                                                                                             \
	extern "C" __global__ void __launch_bounds__(128) name##GlobalFew(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, \
		u32 *prefix, int r, int words, int h) {                                                                        \
		global<extreme<dilate>, 3>(dst, dstPitch, src, srcPitch, suffix, prefix, r, words, h);                         \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(128) name##GlobalMany(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, u32 *suffix, \
		u32 *prefix, int r, int words, int h) {                                                                        \
		global<extreme<dilate>, 8>(dst, dstPitch, src, srcPitch, suffix, prefix, r, words, h);                         \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(128) name##SharedFew(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) { \
		shared<extreme<dilate>, 3>(dst, dstPitch, src, srcPitch, r, words, h);                                         \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(128) name##SharedMany(u32 *dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) { \
		shared<extreme<dilate>, 8>(dst, dstPitch, src, srcPitch, r, words, h);                                         \
	}
VHGW(vhgwErode, false)
VHGW(vhgwDilate, true)
