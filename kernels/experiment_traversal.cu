// Experiment traversal: a Gaussian of radius 5 on 8-bit grey in two passes, whose pixels are visited in several orders.
// Taps are integers in 1/65536, each pass is rounded, pixels outside the picture repeat its edge; so every order gives the
// same bits. Sides are at most 65536, and rows begin at multiples of 16 bytes.
#include "common.cuh"

static const int radius = 5;

// taps are those of the middle and of each pair of pixels beside it.
struct taps {
	u32 t[radius + 1];
};

#define TAPS u32 t0, u32 t1, u32 t2, u32 t3, u32 t4, u32 t5
#define TAPS_GIVEN                                                                                                     \
	{ {t0, t1, t2, t3, t4, t5} }

// filtered is the pixel at p, number i of n that lie a step apart.
__device__ __forceinline__ u8 filtered(const u8 *p, int i, int n, int step, const taps &f) {
	u32 sum = (1u << 15) + f.t[0] * p[0];
	if (i >= radius && i < n - radius) {
#pragma unroll
		for (int d = 1; d <= radius; d++)
			sum += f.t[d] * ((u32)p[-d * step] + p[d * step]);
	} else {
#pragma unroll
		for (int d = 1; d <= radius; d++)
			sum += f.t[d] * ((u32)p[-min(d, i) * step] + p[min(d, n - 1 - i) * step]);
	}
	return sum >> 16;
}

template <bool vertical>
__device__ __forceinline__ void visit(u8 *dst, const u8 *src, i64 pitch, int x, int y, int w, int h, const taps &f) {
	const u8 *p = rowOf(src, pitch, y) + x;
	rowOf(dst, pitch, y)[x] = vertical ? filtered(p, y, h, (int)pitch, f) : filtered(p, x, w, 1, f);
}

// A thread takes the pixel at its place of a list: x in the low 16 bits, y in the high ones.
template <bool vertical>
__device__ __forceinline__ void listed(u8 *dst, const u8 *src, i64 pitch, const u32 *list, u64 n, int w, int h, const taps &f) {
	u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	u32 p = list[i];
	visit<vertical>(dst, src, pitch, p & 0xffff, p >> 16, w, h, f);
}

// A thread takes the pixel at its distance along Hilbert's curve over the square of side 2^order, if the picture has it.
// Each pair of bits of the distance, lowest first, turns and places the quarter below it.
template <bool vertical>
__device__ __forceinline__ void curved(u8 *dst, const u8 *src, i64 pitch, int order, int w, int h, const taps &f) {
	u32 d = blockIdx.x * blockDim.x + threadIdx.x;
	int x = 0, y = 0;
	// The last block of a curve shorter than a block has threads beyond its end.
	if (order < 16 && d >> 2 * order)
		return;
	for (int k = 0; k < order; k++) {
		int s = 1 << k, qx = d >> 1 & 1, qy = (d ^ qx) & 1;
		if (qy == 0) {
			if (qx) {
				x = s - 1 - x;
				y = s - 1 - y;
			}
			int z = x;
			x = y;
			y = z;
		}
		x += qx << k;
		y += qy << k;
		d >>= 2;
	}
	if (x < w && y < h)
		visit<vertical>(dst, src, pitch, x, y, w, h, f);
}

#define ORDERS(pass, vertical)                                                                                         \
	extern "C" __global__ void listed##pass(u8 *__restrict__ dst, const u8 *__restrict__ src, i64 pitch, const u32 *__restrict__ list, \
		u64 n, int w, int h, TAPS) {                                                                                   \
		listed<vertical>(dst, src, pitch, list, n, w, h, TAPS_GIVEN);                                                  \
	}                                                                                                                  \
	extern "C" __global__ void curved##pass(u8 *__restrict__ dst, const u8 *__restrict__ src, i64 pitch, int order, int w, int h, TAPS) { \
		curved<vertical>(dst, src, pitch, order, w, h, TAPS_GIVEN);                                                    \
	}
ORDERS(Columns, true)
ORDERS(Rows, false)

// Fast raster: in the horizontal pass a thread takes the pixel that the scheduler gives it.
extern "C" __global__ void scheduledRows(u8 *__restrict__ dst, const u8 *__restrict__ src, i64 pitch, int w, int h, TAPS) {
	PIXEL(x, y, w, h);
	visit<false>(dst, src, pitch, x, y, w, h, TAPS_GIVEN);
}

// In the vertical pass it takes a vector of 4 or 16 pixels of a row; beyond the row lies its padding.
template <class V> __device__ __forceinline__ void scheduledColumns(u8 *dst, const u8 *src, i64 pitch, int w, int h, const taps &f) {
	const int words = sizeof(V) / 4;
	PIXEL(x, y, (w + (int)sizeof(V) - 1) / (int)sizeof(V), h);
	union {
		V vector;
		u32 word[words];
	} a, b;
	u32 sum[4 * words];
	a.vector = ((const V *)rowOf(src, pitch, y))[x];
#pragma unroll
	for (int i = 0; i < 4 * words; i++)
		sum[i] = (1u << 15) + f.t[0] * (a.word[i / 4] >> 8 * (i % 4) & 0xff);
#pragma unroll
	for (int d = 1; d <= radius; d++) {
		a.vector = ((const V *)rowOf(src, pitch, max(y - d, 0)))[x];
		b.vector = ((const V *)rowOf(src, pitch, min(y + d, h - 1)))[x];
#pragma unroll
		for (int i = 0; i < 4 * words; i++)
			sum[i] += f.t[d] * ((a.word[i / 4] >> 8 * (i % 4) & 0xff) + (b.word[i / 4] >> 8 * (i % 4) & 0xff));
	}
#pragma unroll
	for (int i = 0; i < words; i++)
		a.word[i] = sum[4 * i] >> 16 | sum[4 * i + 1] >> 16 << 8 | sum[4 * i + 2] >> 16 << 16 | sum[4 * i + 3] >> 16 << 24;
	((V *)rowOf(dst, pitch, y))[x] = a.vector;
}

extern "C" __global__ void scheduledColumns4(u8 *__restrict__ dst, const u8 *__restrict__ src, i64 pitch, int w, int h, TAPS) {
	scheduledColumns<u32>(dst, src, pitch, w, h, TAPS_GIVEN);
}

extern "C" __global__ void scheduledColumns16(u8 *__restrict__ dst, const u8 *__restrict__ src, i64 pitch, int w, int h, TAPS) {
	scheduledColumns<uint4>(dst, src, pitch, w, h, TAPS_GIVEN);
}
