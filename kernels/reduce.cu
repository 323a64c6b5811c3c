// Reductions of a plane: histogram, medians of tiles.
#include "common.cuh"

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

// noiseTiles finds the two middle values of |a − b − c + d| over the blocks a b / c d of a tile by counting each value. A block
// of threads does a tile; tiles too small are marked.
static const int noiseThreads = 256, noiseBins = 512;

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

extern "C" __global__ void __launch_bounds__(noiseThreads) noiseTilesU8(u32 *out, const u8 *__restrict__ src, i64 srcPitch, int side, int w, int h) {
	__shared__ u32 counts[noiseBins], bin[2], rest[2];
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
	__syncthreads();
	for (int j = threadIdx.x / 32; j < rows; j += noiseThreads / 32) {
		const u8 *p = rowOf(src, srcPitch, y0 + 2 * j) + x0, *q = rowOf(src, srcPitch, y0 + 2 * j + 1) + x0;
		for (int i = threadIdx.x % 32; i < columns; i += 32)
			atomicAdd(counts + abs((int)p[2 * i] - (int)p[2 * i + 1] - (int)q[2 * i] + (int)q[2 * i + 1]), 1);
	}
	__syncthreads();
	u32 n = (u32)columns * rows, ranks[2] = {(n - 1) / 2, n / 2};
	rankedBin(bin, rest, counts, noiseBins, ranks);
	if (threadIdx.x < 2)
		result[threadIdx.x] = bin[threadIdx.x];
}
