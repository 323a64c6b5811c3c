// Reductions of a plane: histogram, moments, medians of tiles.
#include "common.cuh"

// The 65536 bins of a 16-bit plane do not fit into shared memory: a block counts a quarter of them there, over some groups
// of eight pixels, few enough that counters of 16 bits do. Four blocks in a row read the same pixels.
static const int quarter = 1 << 14, quarterThreads = 512, quarterGroups = 65535 / 8;

extern "C" __global__ void __launch_bounds__(quarterThreads) histogramU16(u32 *bins, const u16 *__restrict__ src, i64 srcPitch, const u8 *__restrict__ exclude, i64 excludePitch, int w, int h) {
	// Bin i and bin i + quarter/2 share a word, so that neighbours lie in different banks.
	__shared__ u32 counts[quarter / 2];
	u32 first = blockIdx.x % 4 * quarter, across = (w + 7) / 8, at = blockIdx.x / 4 * quarterGroups, end = min(at + quarterGroups, across * h);
	for (int i = threadIdx.x; i < quarter / 2; i += quarterThreads)
		counts[i] = 0;
	__syncthreads();
	for (u32 i = at + threadIdx.x; i < end; i += quarterThreads) {
		int y = i / across, x = i % across * 8;
		uint4 v = *(const uint4 *)(rowOf(src, srcPitch, y) + x);
		uint2 out = exclude ? *(const uint2 *)(rowOf(exclude, excludePitch, y) + x) : make_uint2(0, 0);
		u32 words[4] = {v.x, v.y, v.z, v.w}, left[2] = {out.x, out.y};
		// Neighbours that are alike are counted together: flat parts would queue for one counter.
		u32 value = 0, count = 0;
#pragma unroll
		for (int k = 0; k < 8; k++) {
			u32 bin = (words[k / 2] >> k % 2 * 16 & 65535) - first;
			if (bin >= quarter || x + k >= w || (left[k / 4] >> k % 4 * 8 & 255))
				continue;
			if (bin != value && count) {
				atomicAdd(counts + value % (quarter / 2), count << value / (quarter / 2) * 16);
				count = 0;
			}
			value = bin;
			count++;
		}
		if (count)
			atomicAdd(counts + value % (quarter / 2), count << value / (quarter / 2) * 16);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < quarter / 2; i += quarterThreads) {
		u32 low = counts[i] & 65535, high = counts[i] >> 16;
		if (low)
			atomicAdd(bins + first + i, low);
		if (high)
			atomicAdd(bins + first + quarter / 2 + i, high);
	}
}

// The 256 bins of a byte plane are counted in shared memory first, by warp, so that a flat picture does not queue.
extern "C" __global__ void __launch_bounds__(256) histogramU8(u32 *bins, const u8 *__restrict__ src, i64 srcPitch, const u8 *exclude, i64 excludePitch, int w, int h) {
	__shared__ u32 own[8][256];
	for (int i = threadIdx.x; i < 8 * 256; i += 256)
		own[i / 256][i % 256] = 0;
	__syncthreads();
	u32 *mine = own[threadIdx.x / 32];
	for (int y = blockIdx.x; y < h; y += gridDim.x) {
		const u8 *in = rowOf(src, srcPitch, y), *out = exclude ? rowOf(exclude, excludePitch, y) : 0;
		for (int x = threadIdx.x; x < w; x += 256)
			if (!out || !out[x])
				atomicAdd(mine + in[x], 1);
	}
	__syncthreads();
	u32 sum = 0;
	for (int i = 0; i < 8; i++)
		sum += own[i][threadIdx.x];
	if (sum)
		atomicAdd(bins + threadIdx.x, sum);
}

static const int momentThreads = 256;

// The exact sums of integers: Σx in 64 bits, Σx² in 128, least and greatest sample. A block writes five words.
struct integerSums {
	u64 sum, low, high;
	u32 least, most;
	__device__ void add(u32 v) {
		sum += v;
		u64 before = low;
		low += (u64)v * v;
		high += low < before;
		least = min(least, v);
		most = max(most, v);
	}
	__device__ void join(const integerSums &o) {
		sum += o.sum;
		u64 before = low;
		low += o.low;
		high += o.high + (low < before);
		least = min(least, o.least);
		most = max(most, o.most);
	}
};

template <class T>
__device__ __forceinline__ void momentsInt(u64 *blocks, const T *src, i64 srcPitch, int w, int h) {
	__shared__ integerSums all[momentThreads];
	integerSums s = {0, 0, 0, ~0u, 0};
	for (int y = blockIdx.x; y < h; y += gridDim.x) {
		const T *in = rowOf(src, srcPitch, y);
		for (int x = threadIdx.x; x < w; x += momentThreads)
			s.add(in[x]);
	}
	all[threadIdx.x] = s;
	for (int half = momentThreads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x].join(all[threadIdx.x + half]);
	}
	if (threadIdx.x == 0) {
		u64 *out = blocks + 5 * blockIdx.x;
		out[0] = all[0].sum;
		out[1] = all[0].low;
		out[2] = all[0].high;
		out[3] = all[0].least;
		out[4] = all[0].most;
	}
}

#define MOMENTS(name, T)                                                                                               \
	extern "C" __global__ void __launch_bounds__(momentThreads) name(u64 *blocks, const T *__restrict__ src, i64 srcPitch, int w, int h) { \
		momentsInt(blocks, src, srcPitch, w, h);                                                                       \
	}
MOMENTS(momentsU8, u8)
MOMENTS(momentsU16, u16)
MOMENTS(momentsU32, u32)

// The sums of floats carry the rounding error of every addition along (Knuth's two-sum), so that they are as good as if
// taken with twice the precision of float64; x² of a float is exact in float64. A block writes six words.
struct compensated {
	double sum, rest;
	__device__ __forceinline__ void add(double x) {
		double t = sum + x, part = t - sum;
		rest += (sum - (t - part)) + (x - part);
		sum = t;
	}
	__device__ __forceinline__ void join(const compensated &o) {
		add(o.sum);
		rest += o.rest;
	}
};

struct floatSums {
	compensated sum, sum2;
	float least, most;
	bool undefined;
	__device__ __forceinline__ void add(float v) {
		double x = v;
		sum.add(x);
		sum2.add(x * x);
		undefined |= v != v;
		least = fminf(least, v);
		most = fmaxf(most, v);
	}
	__device__ __forceinline__ void join(const floatSums &o) {
		sum.join(o.sum);
		sum2.join(o.sum2);
		undefined |= o.undefined;
		least = fminf(least, o.least);
		most = fmaxf(most, o.most);
	}
	__device__ __forceinline__ void write(double *out) const {
		out[0] = sum.sum;
		out[1] = sum.rest;
		out[2] = sum2.sum;
		out[3] = sum2.rest;
		out[4] = undefined ? __longlong_as_double(0x7ff8000000000000LL) : least;
		out[5] = undefined ? __longlong_as_double(0x7ff8000000000000LL) : most;
	}
};

// How many blocks of momentsF32 are done. The last one leaves 0 for the next launch.
__device__ u32 momentsDone;

// joined leaves in all[0] the sums of all threads.
__device__ __forceinline__ void joined(floatSums *all, const floatSums &own) {
	all[threadIdx.x] = own;
	for (int half = momentThreads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x].join(all[threadIdx.x + half]);
	}
}

// A block takes a run of pieces of rows, `momentThreads` quads each, two at a time; then what is left of each row behind its
// last quad. The last block to be done joins the sums of all, in their order, to the result, which may lie in the host's
// memory: neither another launch nor a copy follows.
extern "C" __global__ void __launch_bounds__(momentThreads) momentsF32(double *result, double *blocks, const float *__restrict__ src, i64 srcPitch, int w, int h) {
	__shared__ floatSums all[momentThreads];
	const floatSums empty = {{0, 0}, {0, 0}, __int_as_float(0x7f800000), -__int_as_float(0x7f800000), false};
	floatSums s = empty;
	int quads = w / 4, pieces = (quads + momentThreads - 1) / momentThreads;
	i64 n = (i64)pieces * h, at = n * blockIdx.x / gridDim.x, end = n * (blockIdx.x + 1) / gridDim.x;
	if (at < end) {
		int y = (int)(at / pieces), piece = (int)(at % pieces);
		for (; at < end; at += 2) {
			float4 v[2];
			bool in[2];
#pragma unroll
			for (int k = 0; k < 2; k++) {
				int q = piece * momentThreads + threadIdx.x;
				in[k] = at + k < end && q < quads;
				if (in[k])
					v[k] = ((const float4 *)rowOf(src, srcPitch, y))[q];
				if (++piece == pieces) {
					piece = 0;
					y++;
				}
			}
#pragma unroll
			for (int k = 0; k < 2; k++)
				if (in[k]) {
					s.add(v[k].x);
					s.add(v[k].y);
					s.add(v[k].z);
					s.add(v[k].w);
				}
		}
	}
	if (w % 4 != 0)
		for (int y = blockIdx.x * momentThreads + threadIdx.x; y < h; y += gridDim.x * momentThreads)
			for (int x = w / 4 * 4; x < w; x++)
				s.add(rowOf(src, srcPitch, y)[x]);
	joined(all, s);
	__shared__ bool last;
	if (threadIdx.x == 0) {
		all[0].write(blocks + 6 * blockIdx.x);
		__threadfence();
		last = atomicInc(&momentsDone, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return;
	s = empty;
	for (int i = threadIdx.x; i < gridDim.x; i += momentThreads) {
		double in[6];
		for (int k = 0; k < 6; k++)
			in[k] = __ldcg(blocks + 6 * i + k);
		floatSums o = {{in[0], in[1]}, {in[2], in[3]}, (float)in[4], (float)in[5], in[4] != in[4]};
		s.join(o);
	}
	joined(all, s);
	if (threadIdx.x == 0)
		all[0].write(result);
}

// noiseTiles finds the two middle values of |a − b − c + d| over the blocks a b / c d of a tile, of 8-bit samples by counting each
// value, of 16-bit ones by their high bits and then the low bits of those that share a median's. A block of threads does a
// tile; tiles too small are marked.
static const int noiseThreads = 256, noiseBins = 512;

template <class T> struct noiseShift { static const int bits = 0; };
template <> struct noiseShift<u16> { static const int bits = 8; };

// rankedBin sets, for two ranks, the bin that holds the value of that rank, counted from 0, and its rank there. All threads
// of the block take part.
__device__ __forceinline__ void rankedBin(u32 bin[2], u32 rest[2], const u32 *counts, int n, const u32 *rank) {
	__shared__ u32 totals[noiseThreads / 32];
	int each = n / noiseThreads, first = threadIdx.x * each, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	u32 own = 0;
	for (int i = 0; i < each; i++)
		own += counts[first + i];
	u32 before = own;
#pragma unroll
	for (int step = 1; step < 32; step *= 2) {
		u32 other = __shfl_up_sync(0xffffffff, before, step);
		if (lane >= step)
			before += other;
	}
	__syncthreads();
	if (lane == 31)
		totals[warp] = before;
	before -= own;
	__syncthreads();
	for (int i = 0; i < warp; i++)
		before += totals[i];
	for (int k = 0; k < 2; k++) {
		u32 left = rank[k] - before;
		if (rank[k] < before || left >= own)
			continue;
		int i = first;
		for (; left >= counts[i]; i++)
			left -= counts[i];
		bin[k] = i;
		rest[k] = left;
	}
	__syncthreads();
}

// noisePairs calls f with the value of each block of a tile.
template <class T, class F> __device__ __forceinline__ void noiseValues(const T *src, i64 srcPitch, int x0, int y0, int columns, int rows, F f) {
	for (int j = threadIdx.x / 32; j < rows; j += noiseThreads / 32) {
		const T *p = rowOf(src, srcPitch, y0 + 2 * j) + x0, *q = rowOf(src, srcPitch, y0 + 2 * j + 1) + x0;
		for (int i = threadIdx.x % 32; i < columns; i += 32)
			f((u32)abs((int)p[2 * i] - (int)p[2 * i + 1] - (int)q[2 * i] + (int)q[2 * i + 1]));
	}
}

template <class T>
__device__ __forceinline__ void noiseTiles(u32 *out, const T *src, i64 srcPitch, int side, int w, int h) {
	const int shift = noiseShift<T>::bits, fineBins = 1 << shift;
	__shared__ u32 counts[noiseBins], fine[2][noiseThreads], bin[2], rest[2], low[2], unused[2];
	int x0 = blockIdx.x * side, y0 = blockIdx.y * side;
	int tw = min(w - x0, side), th = min(h - y0, side), columns = tw / 2, rows = th / 2;
	u32 *result = out + 2 * ((i64)blockIdx.y * gridDim.x + blockIdx.x);
	if (4ull * tw * th < (u64)side * side || tw < 2 || th < 2) {
		if (threadIdx.x < 2)
			result[threadIdx.x] = ~0u;
		return;
	}
	for (int i = threadIdx.x; i < noiseBins; i += noiseThreads)
		counts[i] = 0;
	fine[0][threadIdx.x] = fine[1][threadIdx.x] = 0;
	__syncthreads();
	noiseValues(src, srcPitch, x0, y0, columns, rows, [&](u32 v) { atomicAdd(counts + (v >> shift), 1); });
	__syncthreads();
	u32 n = (u32)columns * rows, ranks[2] = {(n - 1) / 2, n / 2};
	rankedBin(bin, rest, counts, noiseBins, ranks);
	if (shift > 0) {
		u32 a = bin[0], b = bin[1];
		noiseValues(src, srcPitch, x0, y0, columns, rows, [&](u32 v) {
			if (v >> shift == a)
				atomicAdd(fine[0] + v % fineBins, 1);
			if (v >> shift == b)
				atomicAdd(fine[1] + v % fineBins, 1);
		});
		__syncthreads();
		u32 first[2] = {rest[0], ~0u}, second[2] = {~0u, rest[1]};
		rankedBin(low, unused, fine[0], noiseThreads, first);
		rankedBin(low, unused, fine[1], noiseThreads, second);
	}
	if (threadIdx.x < 2)
		result[threadIdx.x] = bin[threadIdx.x] << shift | (shift > 0 ? low[threadIdx.x] : 0);
}

extern "C" __global__ void __launch_bounds__(noiseThreads) noiseTilesU8(u32 *out, const u8 *__restrict__ src, i64 srcPitch, int side, int w, int h) {
	noiseTiles(out, src, srcPitch, side, w, h);
}

extern "C" __global__ void __launch_bounds__(noiseThreads) noiseTilesU16(u32 *out, const u16 *__restrict__ src, i64 srcPitch, int side, int w, int h) {
	noiseTiles(out, src, srcPitch, side, w, h);
}
