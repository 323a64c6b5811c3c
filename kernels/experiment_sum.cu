// Sums of many floats in the orders of addition that the experiment of that name compares.
#include "common.cuh"

// sumHalve adds the second half of 2·half values to the first; at odd lengths the value behind them goes to the first one.
// dst may be src: a thread writes only what it alone reads.
extern "C" __global__ void __launch_bounds__(256) sumHalve(float *dst, const float *src, i64 half, int odd) {
	const int each = 4;
	i64 i = (i64)blockIdx.x * (256 * each) + threadIdx.x;
	float a[each], b[each];
#pragma unroll
	for (int j = 0; j < each; j++)
		if (i + j * 256 < half) {
			a[j] = src[i + j * 256];
			b[j] = src[half + i + j * 256];
		}
	float rest = 0;
	if (odd && i == 0)
		rest = src[2 * half];
#pragma unroll
	for (int j = 0; j < each; j++)
		if (i + j * 256 < half)
			dst[i + j * 256] = a[j] + b[j] + (j == 0 ? rest : 0);
}

// A block adds up a tile of this many values in a balanced tree: quads in a thread, threads in a warp, warps.
static const int threads = 256, quads = 16, tile = 4 * quads * threads;

// add returns the sum of n values, at most a tile, in thread 0 of the block. p lies on a boundary of 16 bytes. The values
// may have been written by other blocks just now, so they are not read through the nearest cache.
__device__ __forceinline__ float add(const float *p, int n) {
	__shared__ float warps[threads / 32];
	float s[quads];
#pragma unroll
	for (int j = 0; j < quads; j++) {
		int at = 4 * (j * threads + threadIdx.x);
		float4 v = make_float4(0, 0, 0, 0);
		if (at + 4 <= n)
			v = __ldcg((const float4 *)(p + at));
		else if (at < n) {
			v.x = __ldcg(p + at);
			v.y = at + 1 < n ? __ldcg(p + at + 1) : 0;
			v.z = at + 2 < n ? __ldcg(p + at + 2) : 0;
		}
		s[j] = (v.x + v.y) + (v.z + v.w);
	}
#pragma unroll
	for (int step = quads / 2; step > 0; step /= 2)
#pragma unroll
		for (int j = 0; j < step; j++)
			s[j] += s[j + step];
	float sum = s[0];
#pragma unroll
	for (int step = 16; step > 0; step /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, step);
	// The sums of the tile before have been read.
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < threads / 32 ? warps[threadIdx.x] : 0;
#pragma unroll
		for (int step = threads / 64; step > 0; step /= 2)
			sum += __shfl_down_sync(0xffffffff, sum, step);
	}
	return sum;
}

// sumTree adds up n values in one pass: every block a tile, and the last block to finish adds up the sums of the tiles, tile by
// tile again. parts has room for a sum for each tile, then for each tile of these and so on, each list on a boundary of
// 16 bytes. *done is 0 before and after.
extern "C" __global__ void __launch_bounds__(threads) sumTree(float *total, float *parts, u32 *done, const float *__restrict__ src, i64 n) {
	__shared__ bool last;
	i64 first = (i64)blockIdx.x * tile;
	float sum = add(src + first, (int)min((i64)tile, n - first));
	if (threadIdx.x == 0) {
		parts[blockIdx.x] = sum;
		__threadfence();
		last = atomicAdd(done, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return;
	__threadfence();
	int count = gridDim.x;
	while (count > 1) {
		float *next = parts + (count + 3) / 4 * 4;
		int tiles = (count + tile - 1) / tile;
		for (int i = 0; i < tiles; i++) {
			sum = add(parts + (i64)i * tile, min(tile, count - i * tile));
			if (threadIdx.x == 0)
				next[i] = sum;
		}
		__threadfence();
		__syncthreads();
		parts = next;
		count = tiles;
	}
	if (threadIdx.x == 0) {
		*total = sum;
		*done = 0;
	}
}
