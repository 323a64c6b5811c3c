// Separable filters: Gaussian, starlet. All sums of floats run in the order of processing/cpu.
#include "common.cuh"

// Gaussian, down the columns: the middle tap first, then pairs outwards.
template <class T>
__device__ __forceinline__ void gaussColumns(float *dst, i64 dstPitch, const T *src, i64 srcPitch, const float *taps, int r, int w, int h) {
	PIXEL(x, y, w, h);
	float sum = taps[0] * (float)rowOf(src, srcPitch, y)[x];
	for (int i = 1; i <= r; i++) {
		float a = rowOf(src, srcPitch, mirrored(y - i, h))[x], b = rowOf(src, srcPitch, mirrored(y + i, h))[x];
		sum += taps[i] * (a + b);
	}
	rowOf(dst, dstPitch, y)[x] = sum;
}

template <class T> struct rounded {
	static __device__ __forceinline__ T of(float v) {
		return (T)(int)fminf(v + 0.5f, (float)(T)~(T)0);
	}
};

// Gaussian, along the rows.
template <class T>
__device__ __forceinline__ void gaussRows(T *dst, i64 dstPitch, const float *src, i64 srcPitch, const float *taps, int r, int w, int h) {
	PIXEL(x, y, w, h);
	const float *in = rowOf(src, srcPitch, y);
	float sum = taps[0] * in[x];
	for (int i = 1; i <= r; i++)
		sum += taps[i] * (in[mirrored(x - i, w)] + in[mirrored(x + i, w)]);
	rowOf(dst, dstPitch, y)[x] = rounded<T>::of(sum);
}

#define GAUSS(name, T)                                                                                                 \
	extern "C" __global__ void gaussColumns##name(float *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, \
		const float *__restrict__ taps, int r, int w, int h) {                                                         \
		gaussColumns(dst, dstPitch, src, srcPitch, taps, r, w, h);                                                     \
	}                                                                                                                  \
	extern "C" __global__ void gaussRows##name(T *__restrict__ dst, i64 dstPitch, const float *__restrict__ src, i64 srcPitch, \
		const float *__restrict__ taps, int r, int w, int h) {                                                         \
		gaussRows(dst, dstPitch, src, srcPitch, taps, r, w, h);                                                        \
	}
GAUSS(U8, u8)

// The same for integers and radii up to R in one go, without the sums down the columns passing through device memory. A block takes
// 16 rows of 256 columns, borders included. A thread holds its column's samples in registers. Taps beyond the radius are 0
// and add nothing.
static const int blurThreads = 256, blurRows = 16;

template <class T, int R>
__device__ __forceinline__ void blur(T *dst, i64 dstPitch, const T *src, i64 srcPitch, const float *taps, int r, int w, int h) {
	const int width = blurThreads - 2 * ((R + 3) / 4 * 4), edge = (R + 3) / 4 * 4;
	__shared__ float down[blurRows][blurThreads];
	float tap[R + 1];
#pragma unroll
	for (int i = 0; i <= R; i++)
		tap[i] = i <= r ? taps[i] : 0;
	int x0 = blockIdx.x * width, top = blockIdx.y * blurRows, x = mirrored(x0 - edge + (int)threadIdx.x, w);
	float v[blurRows + 2 * R];
	if (top >= R && top + blurRows + R <= h) {
#pragma unroll
		for (int i = 0; i < blurRows + 2 * R; i++)
			v[i] = (float)rowOf(src, srcPitch, top - R + i)[x];
	} else {
#pragma unroll
		for (int i = 0; i < blurRows + 2 * R; i++)
			v[i] = (float)rowOf(src, srcPitch, mirrored(top - R + i, h))[x];
	}
#pragma unroll
	for (int y = 0; y < blurRows; y++) {
		float sum = tap[0] * v[y + R];
#pragma unroll
		for (int i = 1; i <= R; i++)
			sum += tap[i] * (v[y + R - i] + v[y + R + i]);
		down[y][threadIdx.x] = sum;
	}
	__syncthreads();
	const int quads = width / 4;
	for (int i = threadIdx.x; i < quads * blurRows; i += blurThreads) {
		int y = i / quads, c = i % quads * 4, px = x0 + c;
		if (top + y >= h || px >= w)
			continue;
		float u[4 + 2 * edge];
#pragma unroll
		for (int j = 0; j < 4 + 2 * edge; j += 4) {
			float4 q = *(const float4 *)&down[y][c + j];
			u[j] = q.x;
			u[j + 1] = q.y;
			u[j + 2] = q.z;
			u[j + 3] = q.w;
		}
		T out[4];
#pragma unroll
		for (int k = 0; k < 4; k++) {
			float sum = tap[0] * u[edge + k];
#pragma unroll
			for (int j = 1; j <= R; j++)
				sum += tap[j] * (u[edge + k - j] + u[edge + k + j]);
			out[k] = rounded<T>::of(sum);
		}
		T *row = rowOf(dst, dstPitch, top + y) + px;
		// Beyond the row lies its padding.
		if (sizeof(T) == 1)
			*(u32 *)row = (u32)out[0] | (u32)out[1] << 8 | (u32)out[2] << 16 | (u32)out[3] << 24;
		else
			*(uint2 *)row = make_uint2((u32)out[0] | (u32)out[1] << 16, (u32)out[2] | (u32)out[3] << 16);
	}
}

#define BLUR(name, T, R)                                                                                               \
	extern "C" __global__ void __launch_bounds__(blurThreads) name(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, \
		const float *__restrict__ taps, int r, int w, int h) {                                                         \
		blur<T, R>(dst, dstPitch, src, srcPitch, taps, r, w, h);                                                       \
	}
BLUR(blur5U8, u8, 5)

// bandTwo is the second band of the starlet transform of a U8 plane: B3-splines [1 4 6 4 1]/16 with holes, without the division,
// in integers: 256·fine − coarse, its positive part, shifted down. A mirrored plane stays mirrored when it is smoothed, so the smoothings may be
// exchanged: both down the columns, with a thread's samples in registers, then both along the rows. A block takes 16 rows of
// 256 columns, borders included.
static const int bandThreads = 256, bandRows = 16, bandEdge = 8;

__device__ __forceinline__ u32 spline5(u32 a, u32 b, u32 c, u32 d, u32 e) { return a + e + 4 * (b + d) + 6 * c; }

extern "C" __global__ void __launch_bounds__(bandThreads) bandTwo(u16 *__restrict__ dst, i64 dstPitch, const u8 *__restrict__ src, i64 srcPitch, int w, int h) {
	const int width = bandThreads - 2 * bandEdge, quads = width / 4;
	// Once smoothed down the columns in 12 bits, twice smoothed in 16.
	__align__(16) __shared__ u32 down[bandRows][bandThreads];
	int x0 = blockIdx.x * width, top = blockIdx.y * bandRows, x = mirrored(x0 - bandEdge + (int)threadIdx.x, w);
	u32 v[bandRows + 12], once[bandRows + 8];
	if (top >= 6 && top + bandRows + 6 <= h) {
#pragma unroll
		for (int i = 0; i < bandRows + 12; i++)
			v[i] = rowOf(src, srcPitch, top - 6 + i)[x];
	} else {
#pragma unroll
		for (int i = 0; i < bandRows + 12; i++)
			v[i] = rowOf(src, srcPitch, mirrored(top - 6 + i, h))[x];
	}
#pragma unroll
	for (int i = 0; i < bandRows + 8; i++)
		once[i] = spline5(v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4]);
#pragma unroll
	for (int y = 0; y < bandRows; y++)
		down[y][threadIdx.x] = once[y + 4] | spline5(once[y], once[y + 2], once[y + 4], once[y + 6], once[y + 8]) << 16;
	__syncthreads();
	for (int i = threadIdx.x; i < quads * bandRows; i += bandThreads) {
		int y = i / quads, c = i % quads * 4, px = x0 + c;
		if (top + y >= h || px >= w)
			continue;
		// Column c + 8 is that of the first result.
		u32 u[20], twice[12], out[4];
#pragma unroll
		for (int j = 0; j < 20; j += 4) {
			uint4 q = *(const uint4 *)&down[y][c + j];
			u[j] = q.x;
			u[j + 1] = q.y;
			u[j + 2] = q.z;
			u[j + 3] = q.w;
		}
#pragma unroll
		for (int j = 0; j < 12; j++)
			twice[j] = spline5(u[j + 2] >> 16, u[j + 3] >> 16, u[j + 4] >> 16, u[j + 5] >> 16, u[j + 6] >> 16);
#pragma unroll
		for (int k = 0; k < 4; k++) {
			u32 fine = spline5(u[k + 6] & 65535, u[k + 7] & 65535, u[k + 8] & 65535, u[k + 9] & 65535, u[k + 10] & 65535);
			int rise = (int)(fine << 8) - (int)spline5(twice[k], twice[k + 2], twice[k + 4], twice[k + 6], twice[k + 8]);
			out[k] = rise > 0 ? rise >> 8 : 0;
		}
		// Beyond the row lies its padding.
		*(uint2 *)(rowOf(dst, dstPitch, top + y) + px) = make_uint2(out[0] | out[1] << 16, out[2] | out[3] << 16);
	}
}
