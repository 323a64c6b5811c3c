// Sums over square windows, clipped at the border. Summed-area tables (Crow 1984) give any window in four reads. They
// are taken modulo 2³² or 2⁶⁴: the difference is exact as long as the window's own sum fits, however large the picture.
//
// A table has h + 1 rows of `stride` sums, of which entry (x, y) is the sum over all pixels left of x and above y.
// It is made in three passes: sums over the columns of chunks of 8 rows, their prefix down each column, and the rows of
// each chunk, where the column sums run down and their prefix runs right along the row.
#include "common.cuh"

static const int chunkRows = 8;

// The values that are summed.
struct valueU8 {
	typedef u32 Sum;
	const u8 *p;
	i64 pitch;
	__device__ u32 at(int x, int y) const { return rowOf(p, pitch, y)[x]; }
};
struct valueU16 {
	typedef u32 Sum;
	const u16 *p;
	i64 pitch;
	__device__ u32 at(int x, int y) const { return rowOf(p, pitch, y)[x]; }
};
struct longU8 {
	typedef u64 Sum;
	const u8 *p;
	i64 pitch;
	__device__ u64 at(int x, int y) const { return rowOf(p, pitch, y)[x]; }
};
struct longU16 {
	typedef u64 Sum;
	const u16 *p;
	i64 pitch;
	__device__ u64 at(int x, int y) const { return rowOf(p, pitch, y)[x]; }
};
// The pixels that exclude leaves, their number above bit 40 and their sum below.
static const int countShift = 40;
static const u64 sumMask = (1ULL << countShift) - 1;

struct censored {
	typedef u64 Sum;
	const u16 *p;
	i64 pitch;
	const u8 *exclude;
	i64 excludePitch;
	__device__ u64 at(int x, int y) const {
		return rowOf(exclude, excludePitch, y)[x] ? 0 : 1ULL << countShift | rowOf(p, pitch, y)[x];
	}
};
template <class V> __device__ __forceinline__ void tableChunks(V v, typename V::Sum *chunks, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * chunkRows;
	if (x >= w)
		return;
	typename V::Sum sum = 0;
#pragma unroll
	for (int i = 0; i < chunkRows; i++)
		if (y + i < h)
			sum += v.at(x, y + i);
	chunks[(i64)blockIdx.y * w + x] = sum;
}

// tablePrefix makes each chunk the sum of those above it. A block of 32 × 32 threads does 32 columns, a row of threads a part
// of the chunks: their sum first, then what is above each.
template <class S> __device__ __forceinline__ void tablePrefix(S *chunks, int w, int n) {
	__shared__ S parts[32][32];
	int x = blockIdx.x * 32 + threadIdx.x, each = (n + 31) / 32, first = threadIdx.y * each, last = min(first + each, n);
	S sum = 0;
	if (x < w)
#pragma unroll 4
		for (int c = first; c < last; c++)
			sum += chunks[(i64)c * w + x];
	parts[threadIdx.y][threadIdx.x] = sum;
	__syncthreads();
	if (x >= w)
		return;
	sum = 0;
	for (int i = 0; i < threadIdx.y; i++)
		sum += parts[i][threadIdx.x];
#pragma unroll 4
	for (int c = first; c < last; c++) {
		S own = chunks[(i64)c * w + x];
		chunks[(i64)c * w + x] = sum;
		sum += own;
	}
}

static const int tableThreads = 256, tableColumns = 4;

// tableRows is run by blocks of tableThreads, one a chunk, that go over the row in pieces and carry the sums along.
template <class V> __device__ __forceinline__ void tableRows(V v, typename V::Sum *table, int stride, const typename V::Sum *chunks, int w, int h) {
	typedef typename V::Sum S;
	const int warps = tableThreads / 32;
	// What is written for a row or a piece is read before its other half is written again: a barrier lies between.
	__shared__ S totals[2][warps], carry[2][chunkRows];
	int y0 = blockIdx.x * chunkRows, lane = threadIdx.x % 32, warp = threadIdx.x / 32, turn = 0, rows = min(chunkRows, h - y0);
	if (threadIdx.x < chunkRows)
		carry[0][threadIdx.x] = 0;
	__syncthreads();
	if (blockIdx.x == 0)
		for (int x = threadIdx.x; x <= w; x += tableThreads)
			table[x] = 0;
	if (threadIdx.x < rows)
		table[(i64)(y0 + threadIdx.x + 1) * stride] = 0;
	for (int piece = 0, half = 0; piece < w; piece += tableThreads * tableColumns, half ^= 1) {
		int x0 = piece + threadIdx.x * tableColumns;
		S column[tableColumns];
#pragma unroll
		for (int j = 0; j < tableColumns; j++)
			column[j] = x0 + j < w ? chunks[(i64)blockIdx.x * w + x0 + j] : 0;
#pragma unroll 1
		for (int i = 0; i < rows; i++) {
			S prefix[tableColumns], own = 0;
#pragma unroll
			for (int j = 0; j < tableColumns; j++) {
				if (x0 + j < w)
					column[j] += v.at(x0 + j, y0 + i);
				own += column[j];
				prefix[j] = own;
			}
			S before = own;
#pragma unroll
			for (int step = 1; step < 32; step *= 2) {
				S other = __shfl_up_sync(0xffffffff, before, step);
				if (lane >= step)
					before += other;
			}
			if (lane == 31)
				totals[turn][warp] = before;
			before -= own;
			__syncthreads();
			S all = 0;
#pragma unroll
			for (int k = 0; k < warps; k++) {
				if (k == warp)
					before += all;
				all += totals[turn][k];
			}
			turn ^= 1;
			before += carry[half][i];
			if (threadIdx.x == 0)
				carry[half ^ 1][i] = carry[half][i] + all;
			S *out = table + (i64)(y0 + i + 1) * stride + 1 + x0;
#pragma unroll
			for (int j = 0; j < tableColumns; j++)
				if (x0 + j < w)
					out[j] = before + prefix[j];
		}
		// The carry of a piece of one row is read right after.
		__syncthreads();
	}
}

#define TABLE(name, V, PARAMS, VALUE)                                                                                  \
	extern "C" __global__ void tableChunks##name(V::Sum *chunks, int w, int h, PARAMS) {                                \
		V v = VALUE;                                                                                                   \
		tableChunks(v, chunks, w, h);                                                                                  \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(tableThreads)                                                         \
		tableRows##name(V::Sum *table, int stride, const V::Sum *chunks, int w, int h, PARAMS) {                        \
		V v = VALUE;                                                                                                   \
		tableRows(v, table, stride, chunks, w, h);                                                                     \
	}
#define COMMA ,
TABLE(ValueU8, valueU8, const u8 *__restrict__ p COMMA i64 pitch, {p COMMA pitch})
TABLE(ValueU16, valueU16, const u16 *__restrict__ p COMMA i64 pitch, {p COMMA pitch})
TABLE(LongU8, longU8, const u8 *__restrict__ p COMMA i64 pitch, {p COMMA pitch})
TABLE(LongU16, longU16, const u16 *__restrict__ p COMMA i64 pitch, {p COMMA pitch})
TABLE(Censored, censored, const u16 *__restrict__ p COMMA i64 pitch COMMA const u8 *__restrict__ exclude COMMA i64 excludePitch,
	{p COMMA pitch COMMA exclude COMMA excludePitch})

extern "C" __global__ void tablePrefix32(u32 *chunks, int w, int n) { tablePrefix(chunks, w, n); }
extern "C" __global__ void tablePrefix64(u64 *chunks, int w, int n) { tablePrefix(chunks, w, n); }

// window is the part of the window of radius r about (x, y) that lies inside the picture, x1 and y1 excluded.
struct window {
	int x0, y0, x1, y1;
	__device__ window(int x, int y, int r, int w, int h) {
		x0 = max(x - r, 0);
		y0 = max(y - r, 0);
		x1 = (int)min((i64)x + r, (i64)w - 1) + 1;
		y1 = (int)min((i64)y + r, (i64)h - 1) + 1;
	}
	__device__ i64 count() const { return (i64)(x1 - x0) * (y1 - y0); }
	template <class S> __device__ S sum(const S *table, int stride) const {
		const S *top = table + (i64)y0 * stride, *bottom = table + (i64)y1 * stride;
		return bottom[x1] - bottom[x0] - top[x1] + top[x0];
	}
};

template <class T, class S>
__device__ __forceinline__ void boxMean(T *dst, i64 dstPitch, const S *table, int stride, int r, int w, int h) {
	PIXEL(x, y, w, h);
	window o(x, y, r, w, h);
	S n = o.count();
	rowOf(dst, dstPitch, y)[x] = (o.sum(table, stride) + n / 2) / n;
}

#define BOXMEAN(name, T, S)                                                                                            \
	extern "C" __global__ void name(T *dst, i64 dstPitch, const S *__restrict__ table, int stride, int r, int w, int h) {  \
		boxMean(dst, dstPitch, table, stride, r, w, h);                                                                \
	}
BOXMEAN(boxMeanU8, u8, u32)
BOXMEAN(boxMeanU16, u16, u32)
BOXMEAN(boxMeanLongU8, u8, u64)
BOXMEAN(boxMeanLongU16, u16, u64)

// The first of the radii whose window keeps a quarter of its pixels, else the last; y itself where even that is empty.
extern "C" __global__ void background(u16 *dst, i64 dstPitch, const u16 *yP, i64 yPitch, const u64 *__restrict__ table,
	int stride, const int *__restrict__ radii, int levels, int w, int h) {
	PIXEL(x, y, w, h);
	u64 n = 0, s = 0;
	for (int i = 0; i < levels; i++) {
		int r = radii[i];
		u64 sum = window(x, y, r, w, h).sum(table, stride);
		n = sum >> countShift;
		s = sum & sumMask;
		u64 side = 2 * r + 1;
		if (4 * n >= side * side)
			break;
	}
	rowOf(dst, dstPitch, y)[x] = n == 0 ? rowOf(yP, yPitch, y)[x] : (s + n / 2) / n;
}
