// Reductions of a plane: histogram, moments, medians of tiles.
#include "common.cuh"

// histogram counts into bins of the whole device; a thread takes a run of neighbours of one row together where they are
// alike.
template <class T>
__device__ __forceinline__ void histogram(u32 *bins, const T *src, i64 srcPitch, const u8 *exclude, i64 excludePitch, int w, int h) {
	const int run = 8;
	int x = (blockIdx.x * blockDim.x + threadIdx.x) * run, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	const T *in = rowOf(src, srcPitch, y);
	const u8 *out = exclude ? rowOf(exclude, excludePitch, y) : 0;
	u32 value = 0, count = 0;
	for (int i = x; i < min(x + run, w); i++) {
		if (out && out[i])
			continue;
		u32 v = in[i];
		if (v != value && count) {
			atomicAdd(bins + value, count);
			count = 0;
		}
		value = v;
		count++;
	}
	if (count)
		atomicAdd(bins + value, count);
}

extern "C" __global__ void histogramU16(u32 *bins, const u16 *__restrict__ src, i64 srcPitch, const u8 *exclude, i64 excludePitch, int w, int h) {
	histogram(bins, src, srcPitch, exclude, excludePitch, w, h);
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

// A block takes a run of pieces of rows, `momentThreads` quads each, two at a time; then what is left of each row behind its
// last quad.
extern "C" __global__ void __launch_bounds__(momentThreads) momentsF32(double *blocks, const float *__restrict__ src, i64 srcPitch, int w, int h) {
	__shared__ floatSums all[momentThreads];
	floatSums s = {{0, 0}, {0, 0}, __int_as_float(0x7f800000), -__int_as_float(0x7f800000), false};
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
	all[threadIdx.x] = s;
	for (int half = momentThreads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x].join(all[threadIdx.x + half]);
	}
	if (threadIdx.x == 0)
		all[0].write(blocks + 6 * blockIdx.x);
}

// joinF32 joins the sums of n blocks into those of the first.
extern "C" __global__ void __launch_bounds__(momentThreads) joinF32(double *blocks, int n) {
	__shared__ floatSums all[momentThreads];
	floatSums s = {{0, 0}, {0, 0}, __int_as_float(0x7f800000), -__int_as_float(0x7f800000), false};
	for (int i = threadIdx.x; i < n; i += momentThreads) {
		const double *in = blocks + 6 * i;
		floatSums o = {{in[0], in[1]}, {in[2], in[3]}, (float)in[4], (float)in[5], in[4] != in[4]};
		s.join(o);
	}
	all[threadIdx.x] = s;
	for (int half = momentThreads / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			all[threadIdx.x].join(all[threadIdx.x + half]);
	}
	if (threadIdx.x == 0)
		all[0].write(blocks);
}

// noiseTiles finds the two middle values of |a − b − c + d| over the blocks a b / c d of a tile by counting their high bits
// and then the low bits of those that share the median's. A block of threads does a tile; tiles too small are marked.
static const int noiseThreads = 256, fineBits = 8, coarseBins = 1 << (18 - fineBits), fineBins = 1 << fineBits;

template <class T>
__device__ __forceinline__ void noiseTiles(u32 *out, const T *src, i64 srcPitch, int side, int w, int h) {
	__shared__ u32 coarse[coarseBins], fine[fineBins];
	__shared__ u32 found, rest;
	int x0 = blockIdx.x * side, y0 = blockIdx.y * side;
	int tw = min(w - x0, side), th = min(h - y0, side), columns = tw / 2, rows = th / 2;
	u32 *result = out + 2 * ((i64)blockIdx.y * gridDim.x + blockIdx.x);
	if (4ull * tw * th < (u64)side * side || tw < 2 || th < 2) {
		if (threadIdx.x < 2)
			result[threadIdx.x] = ~0u;
		return;
	}
	i64 n = (i64)columns * rows;
	for (int i = threadIdx.x; i < coarseBins; i += noiseThreads)
		coarse[i] = 0;
	__syncthreads();
	for (i64 i = threadIdx.x; i < n; i += noiseThreads) {
		int x = x0 + 2 * (int)(i % columns), y = y0 + 2 * (int)(i / columns);
		const T *p = rowOf(src, srcPitch, y), *q = rowOf(src, srcPitch, y + 1);
		int v = (int)p[x] - (int)p[x + 1] - (int)q[x] + (int)q[x + 1];
		atomicAdd(coarse + (abs(v) >> fineBits), 1);
	}
	__syncthreads();
	for (int half = 0; half < 2; half++) {
		if (threadIdx.x == 0) {
			i64 rank = half == 0 ? (n - 1) / 2 : n / 2;
			int bin = 0;
			for (; bin < coarseBins - 1 && rank >= coarse[bin]; bin++)
				rank -= coarse[bin];
			found = bin;
			rest = (u32)rank;
		}
		for (int i = threadIdx.x; i < fineBins; i += noiseThreads)
			fine[i] = 0;
		__syncthreads();
		for (i64 i = threadIdx.x; i < n; i += noiseThreads) {
			int x = x0 + 2 * (int)(i % columns), y = y0 + 2 * (int)(i / columns);
			const T *p = rowOf(src, srcPitch, y), *q = rowOf(src, srcPitch, y + 1);
			int v = abs((int)p[x] - (int)p[x + 1] - (int)q[x] + (int)q[x + 1]);
			if (v >> fineBits == found)
				atomicAdd(fine + (v & (fineBins - 1)), 1);
		}
		__syncthreads();
		if (threadIdx.x == 0) {
			u32 rank = rest;
			int bin = 0;
			for (; bin < fineBins - 1 && rank >= fine[bin]; bin++)
				rank -= fine[bin];
			result[half] = found << fineBits | bin;
		}
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(noiseThreads) noiseTilesU8(u32 *out, const u8 *__restrict__ src, i64 srcPitch, int side, int w, int h) {
	noiseTiles(out, src, srcPitch, side, w, h);
}

extern "C" __global__ void __launch_bounds__(noiseThreads) noiseTilesU16(u32 *out, const u16 *__restrict__ src, i64 srcPitch, int side, int w, int h) {
	noiseTiles(out, src, srcPitch, side, w, h);
}
