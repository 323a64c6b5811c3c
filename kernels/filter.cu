// Separable filters: Gaussian, orthogonal wavelets, starlet. All sums of floats run in the order of processing/cpu.
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
template <> struct rounded<float> {
	static __device__ __forceinline__ float of(float v) { return v; }
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
GAUSS(U16, u16)
GAUSS(F32, float)

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
BLUR(blur5U16, u16, 5)

// taps4 are the taps of a filter of four in the order in which they are used; with brief the first two are 0 and left out.
struct taps4 {
	float a, b, c, d;
	__device__ float of(float p, float q, float r, float s) const { return a * p + b * q + c * r + d * s; }
	__device__ float of(float r, float s) const { return c * r + d * s; }
};

// wavelet does rows and columns in one go: a thread runs down pairs of rows at a pair of columns and keeps the two rows
// above, transformed, in registers. x[2i−2] … x[2i+1] of a row, which is extended by its last sample where its length is odd and
// taken round; likewise down the columns.
static const int wavePairs = 16;

// pair are the low and the high coefficient of a row.
struct pair {
	float low, high;
};

template <class T>
__device__ __forceinline__ pair rowPair(const T *in, int i, int j, taps4 low, taps4 high, int brief, int w) {
	float c = in[2 * i], d = in[min(2 * i + 1, w - 1)];
	pair p;
	if (brief) {
		p.low = low.of(c, d);
		p.high = high.of(c, d);
		return p;
	}
	float a = in[2 * j], b = in[min(2 * j + 1, w - 1)];
	p.low = low.of(a, b, c, d);
	p.high = high.of(a, b, c, d);
	return p;
}

template <class T>
__device__ __forceinline__ void wavelet(float *dst, i64 dstPitch, const T *src, i64 srcPitch, taps4 low, taps4 high, int brief, int w, int h) {
	int wide = (w + 1) / 2, tall = (h + 1) / 2;
	int i = blockIdx.x * blockDim.x + threadIdx.x, y0 = (blockIdx.y * blockDim.y + threadIdx.y) * wavePairs, y1 = min(y0 + wavePairs, tall);
	if (i >= wide || y0 >= tall)
		return;
	int j = i == 0 ? wide - 1 : i - 1, above = y0 == 0 ? tall - 1 : y0 - 1;
	bool right = wide + i < w;
	pair a = {0, 0}, b = {0, 0};
	if (!brief) {
		a = rowPair(rowOf(src, srcPitch, 2 * above), i, j, low, high, brief, w);
		b = rowPair(rowOf(src, srcPitch, min(2 * above + 1, h - 1)), i, j, low, high, brief, w);
	}
#pragma unroll 2
	for (int y = y0; y < y1; y++) {
		pair c = rowPair(rowOf(src, srcPitch, 2 * y), i, j, low, high, brief, w);
		pair d = rowPair(rowOf(src, srcPitch, min(2 * y + 1, h - 1)), i, j, low, high, brief, w);
		float *top = rowOf(dst, dstPitch, y);
		top[i] = brief ? low.of(c.low, d.low) : low.of(a.low, b.low, c.low, d.low);
		if (right)
			top[wide + i] = brief ? low.of(c.high, d.high) : low.of(a.high, b.high, c.high, d.high);
		if (tall + y < h) {
			float *bottom = rowOf(dst, dstPitch, tall + y);
			bottom[i] = brief ? high.of(c.low, d.low) : high.of(a.low, b.low, c.low, d.low);
			if (right)
				bottom[wide + i] = brief ? high.of(c.high, d.high) : high.of(a.high, b.high, c.high, d.high);
		}
		a = c;
		b = d;
	}
}

#define TAPS(p) float p##0, float p##1, float p##2, float p##3
#define TAPS4(p)                                                                                                       \
	{ p##0, p##1, p##2, p##3 }

#define WAVELET(name, T)                                                                                               \
	extern "C" __global__ void name(float *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch,    \
		TAPS(l), TAPS(g), int brief, int w, int h) {                                                                   \
		taps4 low = TAPS4(l), high = TAPS4(g);                                                                         \
		wavelet(dst, dstPitch, src, srcPitch, low, high, brief, w, h);                                                 \
	}
WAVELET(waveletU8, u8)
WAVELET(waveletU16, u16)
WAVELET(waveletF32, float)

// The inverse: e are the taps of even samples, o of odd ones, in the order low[i], high[i], low[i+1], high[i+1]. With
// brief the last two do not count. The last high coefficient of an odd side is the one that makes the last sample and
// its extension alike; missing is its factor.
struct inverse {
	float e[4], o[4], missing;
	int brief;
	__device__ float sample(int odd, float a, float b, float c, float d) const {
		const float *t = odd ? o : e;
		if (brief)
			return t[0] * a + t[1] * b;
		return t[0] * a + t[1] * b + t[2] * c + t[3] * d;
	}
};

#define INVERSE                                                                                                        \
	{ {e0, e1, e2, e3}, {o0, o1, o2, o3}, missing, brief }

extern "C" __global__ void unwaveColumns(float *__restrict__ dst, i64 dstPitch, const float *__restrict__ src, i64 srcPitch,
	TAPS(e), TAPS(o), float missing, int brief, int w, int h) {
	inverse f = INVERSE;
	int half = (h + 1) / 2;
	PIXEL(x, y, w, h);
	int i = y / 2, j = i + 1 == half ? 0 : i + 1;
	float a = rowOf(src, srcPitch, i)[x], c = rowOf(src, srcPitch, j)[x], lost = 0;
	if (h % 2 == 1 && (i == half - 1 || j == half - 1)) {
		float p = rowOf(src, srcPitch, half - 1)[x], q = rowOf(src, srcPitch, 0)[x];
		float r = half > 1 ? rowOf(src, srcPitch, half)[x] : 0;
		lost = f.missing * (f.sample(1, p, 0, q, r) - f.sample(0, p, 0, q, r));
	}
	float b = half + i < h ? rowOf(src, srcPitch, half + i)[x] : lost;
	float d = half + j < h ? rowOf(src, srcPitch, half + j)[x] : lost;
	rowOf(dst, dstPitch, y)[x] = f.sample(y % 2, a, b, c, d);
}

extern "C" __global__ void unwaveRows(float *__restrict__ dst, i64 dstPitch, const float *__restrict__ src, i64 srcPitch,
	TAPS(e), TAPS(o), float missing, int brief, int w, int h) {
	inverse f = INVERSE;
	int half = (w + 1) / 2;
	PIXEL(x, y, w, h);
	const float *in = rowOf(src, srcPitch, y);
	int i = x / 2, j = i + 1 == half ? 0 : i + 1;
	float a = in[i], c = in[j], lost = 0;
	if (w % 2 == 1 && (i == half - 1 || j == half - 1)) {
		float p = in[half - 1], q = in[0], r = half > 1 ? in[half] : 0;
		lost = f.missing * (f.sample(1, p, 0, q, r) - f.sample(0, p, 0, q, r));
	}
	float b = half + i < w ? in[half + i] : lost, d = half + j < w ? in[half + j] : lost;
	rowOf(dst, dstPitch, y)[x] = f.sample(x % 2, a, b, c, d);
}

// B3-spline [1 4 6 4 1]/16 with holes, for floats.
__device__ __forceinline__ float spline(float a, float b, float c, float d, float e) {
	return (a + e + 4 * (b + d) + 6 * c) / 16;
}

extern "C" __global__ void splineColumnsF32(float *__restrict__ dst, i64 dstPitch, const float *__restrict__ src, i64 srcPitch, int step, int w, int h) {
	PIXEL(x, y, w, h);
	float v[5];
#pragma unroll
	for (int i = 0; i < 5; i++)
		v[i] = rowOf(src, srcPitch, mirrored(y + (i - 2) * step, h))[x];
	rowOf(dst, dstPitch, y)[x] = spline(v[0], v[1], v[2], v[3], v[4]);
}

extern "C" __global__ void splineRowsF32(float *__restrict__ dst, i64 dstPitch, const float *__restrict__ src, i64 srcPitch, int step, int w, int h) {
	PIXEL(x, y, w, h);
	const float *in = rowOf(src, srcPitch, y);
	float v[5];
#pragma unroll
	for (int i = 0; i < 5; i++)
		v[i] = in[mirrored(x + (i - 2) * step, w)];
	rowOf(dst, dstPitch, y)[x] = spline(v[0], v[1], v[2], v[3], v[4]);
}

// The same without the division, for integers: exact, at most 32 bits at level 3 of a U8 plane, whatever the order.
template <class T> __device__ __forceinline__ u32 spline25(const T *src, i64 srcPitch, int x, int y, int step, int w, int h) {
	const T *rows[5];
	int columns[5];
#pragma unroll
	for (int i = 0; i < 5; i++) {
		rows[i] = rowOf(src, srcPitch, mirrored(y + (i - 2) * step, h));
		columns[i] = mirrored(x + (i - 2) * step, w);
	}
	u32 sum = 0;
#pragma unroll
	for (int j = 0; j < 5; j++) {
		u32 v[5];
#pragma unroll
		for (int i = 0; i < 5; i++)
			v[i] = rows[j][columns[i]];
		sum += (v[0] + v[4] + 4 * (v[1] + v[3]) + 6 * v[2]) * (j == 2 ? 6 : j % 2 ? 4 : 1);
	}
	return sum;
}

// smooth makes a plane the next smoother one, band takes the positive part of 256·fine − coarse, shifted down.
#define SPLINE(name, T)                                                                                                \
	extern "C" __global__ void smooth##name(u32 *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int step, int w, int h) { \
		PIXEL(x, y, w, h);                                                                                             \
		rowOf(dst, dstPitch, y)[x] = spline25(src, srcPitch, x, y, step, w, h);                                        \
	}                                                                                                                  \
	extern "C" __global__ void band##name(u16 *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int step, int shift, int w, int h) { \
		PIXEL(x, y, w, h);                                                                                             \
		i64 v = ((i64)rowOf(src, srcPitch, y)[x] << 8) - (i64)spline25(src, srcPitch, x, y, step, w, h);               \
		rowOf(dst, dstPitch, y)[x] = v > 0 ? v >> shift : 0;                                                           \
	}
SPLINE(U8, u8)
SPLINE(U32, u32)

// bandTwo is the second band of a U8 plane in one go. A mirrored plane stays mirrored when it is smoothed, so the smoothings may be
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
