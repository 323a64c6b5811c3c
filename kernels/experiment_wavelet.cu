// Experiment wavelet: one level of an orthogonal wavelet along lines of even length, in six steps of using the memories of
// a GPU. Coefficient i of either band is the sum over k of its tap k and point 2i+k, taken round the line. The transform is
// orthogonal, so its transpose is its inverse; that is the same sum over both bands interleaved, from 2i−(taps−2) on and
// with other taps, so that one code serves both directions.
#include "common.cuh"

// maxTaps is the longest filter; maxParts is how many parts the constant memory holds.
static const int maxTaps = 8, maxParts = 64;

// part is what one launch computes: of every line, n points, so many tiles from the first one on. A tile is what the
// threads of a block have for results. Where indices are shifted, tiles is 1 << shift. from is where the points of result 0
// begin.
struct part {
	u32 n, from, first, tiles, shift, results, taps;
};

// Taps are those of the first result of a pair and then those of the second.
__constant__ float waveletTaps[2 * maxTaps];
__constant__ part waveletParts[maxParts];

// around takes j round n: by division, or by comparing.
template <bool division> __device__ __forceinline__ u32 around(u32 j, u32 n) {
	if (division) {
		j %= n;
	} else {
		while (j >= n)
			j -= n;
	}
	return j;
}

// source is where point j of a line lies: the inverse finds the approximation and then the detail.
template <bool inverse> __device__ __forceinline__ u32 source(u32 j, u32 n) {
	return inverse ? j / 2 + (j % 2 ? n / 2 : 0) : j;
}

// step is that of the paper, from 1 to 6.
template <int step, bool division, bool inverse>
__device__ __forceinline__ void transformed(float *out, const float *in, const float *taps, const part &p) {
	extern __shared__ float points[];
	const u32 n = p.n, tile = blockDim.x * p.results;
	const u32 line = division ? blockIdx.x / p.tiles : blockIdx.x >> p.shift;
	const u32 first = (p.first + (division ? blockIdx.x % p.tiles : blockIdx.x & (p.tiles - 1))) * tile;
	in += (i64)line * n;
	out += (i64)line * n;
	// Of the block: its results, and where their points begin. Of the thread: adjacent results.
	const u32 count = min(tile, n / 2 - first), begin = 2 * first + p.from;
	const u32 mine = threadIdx.x * p.results, end = min(mine + p.results, count);

	// What is gathered in memory is volatile, or the compiler would do of itself what step 4 is about.
	if (step == 1) {
		for (u32 i = mine; i < end; i++)
			for (int band = 0; band < 2; band++) {
				volatile float *sum = out + (inverse ? 2 * (first + i) + band : first + i + band * (n / 2));
				*sum = 0;
				for (u32 k = 0; k < p.taps; k++)
					*sum = *sum + taps[band * maxTaps + k] * in[source<inverse>(around<division>(begin + 2 * i + k, n), n)];
			}
		return;
	}

	const u32 needed = 2 * count + p.taps - 2;
	if (step == 6) {
		for (u32 e = threadIdx.x; e < needed; e += blockDim.x)
			points[e] = in[source<inverse>(around<division>(begin + e, n), n)];
	} else {
		// The last thread also takes what lies beyond the tile.
		u32 e = 2 * mine, stop = threadIdx.x == blockDim.x - 1 ? needed : min(e + 2 * p.results, needed);
		if (step == 5) {
			u32 j = around<division>(begin + e, n);
			for (; e < stop; e++) {
				points[e] = in[source<inverse>(j, n)];
				if (++j == n)
					j = 0;
			}
		} else {
			for (; e < stop; e++)
				points[e] = in[source<inverse>(around<division>(begin + e, n), n)];
		}
	}
	__syncthreads();

	volatile float *sums = points + 2 * tile + maxTaps;
	for (u32 i = mine; i < end; i++) {
		float a = 0, b = 0;
		if (step < 4) {
			sums[2 * i] = 0;
			sums[2 * i + 1] = 0;
			for (u32 k = 0; k < p.taps; k++) {
				float v = points[2 * i + k];
				sums[2 * i] = sums[2 * i] + taps[k] * v;
				sums[2 * i + 1] = sums[2 * i + 1] + taps[maxTaps + k] * v;
			}
			a = sums[2 * i];
			b = sums[2 * i + 1];
		} else {
			for (u32 k = 0; k < p.taps; k++) {
				float v = points[2 * i + k];
				a += taps[k] * v;
				b += taps[maxTaps + k] * v;
			}
		}
		if (inverse) {
			out[2 * (first + i)] = a;
			out[2 * (first + i) + 1] = b;
		} else {
			out[first + i] = a;
			out[n / 2 + first + i] = b;
		}
	}
}

// Up to step 4 the part comes as parameters of the kernel, then from constant memory; up to step 2 the taps come from global
// memory, then from constant memory.
#define PART u32 n, u32 from, u32 first, u32 tiles, u32 shift, u32 results, u32 taps
#define PART_GIVEN                                                                                                     \
	part { n, from, first, tiles, shift, results, taps }

#define KERNEL extern "C" __global__ void __launch_bounds__(1024)

#define STEP(step, index, division, direction, inverse)                                                                \
	KERNEL direction##step##index(float *out, const float *in, const float *list, PART) {                              \
		transformed<step, division, inverse>(out, in, step < 3 ? list : waveletTaps, PART_GIVEN);                      \
	}

#define STEP_CONSTANT(step, index, division, direction, inverse)                                                       \
	KERNEL direction##step##index(float *out, const float *in, int number) {                                           \
		transformed<step, division, inverse>(out, in, waveletTaps, waveletParts[number]);                              \
	}

#define STEPS(index, division, direction, inverse)                                                                     \
	STEP(1, index, division, direction, inverse)                                                                       \
	STEP(2, index, division, direction, inverse)                                                                       \
	STEP(3, index, division, direction, inverse)                                                                       \
	STEP(4, index, division, direction, inverse)                                                                       \
	STEP_CONSTANT(5, index, division, direction, inverse)                                                              \
	STEP_CONSTANT(6, index, division, direction, inverse)

STEPS(Shift, false, forward, false)
STEPS(Division, true, forward, false)
STEPS(Shift, false, inverse, true)
STEPS(Division, true, inverse, true)

// transposedPoints makes columns of w × h points rows, by way of shared memory, so that both its reads and its writes are of
// neighbours. A block of 32 × 8 threads takes squares of 32 × 32; the odd width keeps the columns of one in different banks.
extern "C" __global__ void transposedPoints(float *__restrict__ dst, const float *__restrict__ src, int w, int h) {
	__shared__ float square[32][33];
	for (int top = blockIdx.y * 32; top < h; top += gridDim.y * 32) {
		int x = blockIdx.x * 32 + threadIdx.x;
		for (int y = threadIdx.y; y < 32; y += 8)
			if (x < w && top + y < h)
				square[y][threadIdx.x] = src[(i64)(top + y) * w + x];
		__syncthreads();
		int y = top + threadIdx.x;
		for (int i = threadIdx.y; i < 32; i += 8)
			if (y < h && blockIdx.x * 32 + i < w)
				dst[(i64)(blockIdx.x * 32 + i) * h + y] = square[threadIdx.x][i];
		__syncthreads();
	}
}
