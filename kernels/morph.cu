// Erosion and dilation along lines by van Herk's and Gil and Werman's recursion (van Herk 1992; Gil & Werman 1993): a line
// is cut into segments of k samples; the best of a window is the better of the best from its first sample to the end of
// a segment and the best from there to its last sample. Three comparisons a sample whatever k is.
#include "common.cuh"

template <class T> struct highest {
	static __device__ __forceinline__ T worst() { return 0; }
	static __device__ __forceinline__ T best(T a, T b) { return a > b ? a : b; }
};
template <class T> struct lowest {
	static __device__ __forceinline__ T worst() { return ~(T)0; }
	static __device__ __forceinline__ T best(T a, T b) { return a < b ? a : b; }
};
// A NaN wins always, as on the CPU.
template <> struct highest<float> {
	static __device__ __forceinline__ float worst() { return -__int_as_float(0x7f800000); }
	static __device__ __forceinline__ float best(float a, float b) { return a != a ? a : b != b ? b : fmaxf(a, b); }
};
template <> struct lowest<float> {
	static __device__ __forceinline__ float worst() { return __int_as_float(0x7f800000); }
	static __device__ __forceinline__ float best(float a, float b) { return a != a ? a : b != b ? b : fminf(a, b); }
};

// line filters down the columns (shear 0) or the diagonals: column u holds pixel (first + u + shear·y, y). A thread does a
// segment of k = 2r + 1 rows of a column; neighbours in a warp do neighbouring columns, so that every access is
// coalesced. The bests from each sample to the end of the segment wait in dst for the second half.
template <class T, class O>
__device__ __forceinline__ void line(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r,
	int shear, int first, int columns, int w, int h) {
	int u = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * r + 1;
	int top = (blockIdx.y * blockDim.y + threadIdx.y) * k;
	if (u >= columns || top >= h)
		return;
	u += first;
	const int batch = 8;
	T run = O::worst();
	for (int i = k - 1; i >= 0; i -= batch) {
		T v[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top - r + i - j, x = u + shear * y;
			v[j] = i - j >= 0 && (unsigned)y < (unsigned)h && (unsigned)x < (unsigned)w ? rowOf(src, srcPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i - j, x = u + shear * y;
			run = O::best(run, v[j]);
			if (i - j >= 0 && y < h && (unsigned)x < (unsigned)w)
				rowOf(dst, dstPitch, y)[x] = run;
		}
	}
	run = O::worst();
	for (int i = 1; i < k; i += batch) {
		T v[batch], end[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + r + i + j, x = u + shear * y;
			v[j] = i + j < k && y < h && (unsigned)x < (unsigned)w ? rowOf(src, srcPitch, y)[x] : O::worst();
			y = top + i + j;
			x = u + shear * y;
			end[j] = i + j < k && y < h && (unsigned)x < (unsigned)w ? rowOf(dst, dstPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i + j, x = u + shear * y;
			run = O::best(run, v[j]);
			if (i + j < k && y < h && (unsigned)x < (unsigned)w)
				rowOf(dst, dstPitch, y)[x] = O::best(end[j], run);
		}
	}
}

#define LINE(name, T, O)                                                                                               \
	extern "C" __global__ void name(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r, int shear, \
		int first, int columns, int w, int h) {                                                                        \
		line<T, O<T> >(dst, dstPitch, src, srcPitch, r, shear, first, columns, w, h);                                  \
	}
LINE(dilateLineU8, u8, highest)
LINE(dilateLineU16, u16, highest)
LINE(dilateLineF32, float, highest)
LINE(erodeLineU8, u8, lowest)
LINE(erodeLineU16, u16, lowest)
LINE(erodeLineF32, float, lowest)

// transpose swaps rows and columns in tiles of 32 × 32; blocks are 32 × 8.
template <class T>
__device__ __forceinline__ void transpose(T *dst, i64 dstPitch, const T *src, i64 srcPitch, int w, int h) {
	__shared__ T tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
	for (int j = 0; j < 32; j += 8)
		if (x < w && y + j < h)
			tile[threadIdx.y + j][threadIdx.x] = rowOf(src, srcPitch, y + j)[x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
	for (int j = 0; j < 32; j += 8)
		if (x < h && y + j < w)
			rowOf(dst, dstPitch, y + j)[x] = tile[threadIdx.x][threadIdx.y + j];
}

#define TRANSPOSE(name, T)                                                                                             \
	extern "C" __global__ void name(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int w, int h) { \
		transpose(dst, dstPitch, src, srcPitch, w, h);                                                                 \
	}
TRANSPOSE(transposeU8, u8)
TRANSPOSE(transposeU16, u16)
TRANSPOSE(transposeF32, float)
