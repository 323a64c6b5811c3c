// The mean over a sliding window in the ways that the experiment of that name compares. All of them add up 8-bit samples in
// 32 bits, exact for windows of up to 4095 × 4095.
#include "common.cuh"

// side is how many of the 2r + 1 places around i lie within 0 … n−1.
__device__ __forceinline__ u32 side(int i, int r, int n) { return min(i + r, n - 1) - max(i - r, 0) + 1; }

__device__ __forceinline__ u8 mean(u32 sum, u32 count) { return (u8)((sum + count / 2) / count); }

// slidingDirect: a thread adds up the window of a pixel.
extern "C" __global__ void __launch_bounds__(256) slidingDirect(u8 *dst, i64 dstPitch, const u8 *__restrict__ src, i64 srcPitch, int r, int w, int h) {
	PIXEL(x, y, w, h);
	int x0 = max(x - r, 0), x1 = min(x + r, w - 1), y1 = min(y + r, h - 1);
	u32 sum = 0;
	for (int v = max(y - r, 0); v <= y1; v++) {
		const u8 *row = rowOf(src, srcPitch, v);
		for (int u = x0; u <= x1; u++)
			sum += row[u];
	}
	rowOf(dst, dstPitch, y)[x] = mean(sum, side(x, r, w) * side(y, r, h));
}

// A window slides along a line of samples, `stride` elements apart: the sample r ahead enters, the one that is r + 1 behind
// leaves. Around the samples lie zeros, r + 1 before and r + 3·ahead behind, so that nothing asks where the line ends. The
// samples of the next steps are read before those of the last ones are added up.
static const int ahead = 16;

struct samples { u32 enter[ahead], leave[ahead]; };

template <class T> struct window {
	const T *in, *out;
	i64 stride;
	u32 sum;
	// The sum begins as that of the window before the first sample.
	__device__ __forceinline__ window(const T *line, i64 stride, int r) : in(line), out(line - (r + 1) * stride), stride(stride), sum(0) {
		for (int i = 0; i < r; i += ahead) {
			u32 v[ahead];
#pragma unroll
			for (int j = 0; j < ahead; j++)
				v[j] = i + j < r ? in[j * stride] : 0;
#pragma unroll
			for (int j = 0; j < ahead; j++)
				sum += v[j];
			in += ahead * stride;
		}
		in = line + r * stride;
	}
	__device__ __forceinline__ void read(samples &s) {
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			s.enter[j] = in[j * stride];
			s.leave[j] = out[j * stride];
		}
		in += ahead * stride;
		out += ahead * stride;
	}
	// slide hands the sums of the windows around samples i … i + ahead − 1 to put.
	template <class F> __device__ __forceinline__ void slide(const samples &s, int i, F &put) {
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			sum += s.enter[j] - s.leave[j];
			put(i + j, sum);
		}
	}
};

// A thread does a line of n samples.
template <class T, class F> __device__ __forceinline__ void recurse(const T *line, i64 stride, int r, int n, F put) {
	window<T> s(line, stride, r);
	samples a, b;
	s.read(a);
	for (int i = 0; i < n; i += 2 * ahead) {
		s.read(b);
		s.slide(a, i, put);
		s.read(a);
		s.slide(b, i + ahead, put);
		put.end(i);
	}
}

// slidingColumns and slidingRows: down the columns neighbouring threads read neighbouring addresses, along the rows they read
// addresses a row apart.
struct columnSums {
	u32 *sums;
	i64 stride;
	int n;
	__device__ __forceinline__ void operator()(int i, u32 sum) {
		if (i < n)
			sums[i * stride] = sum;
	}
	__device__ __forceinline__ void end(int) {}
};

extern "C" __global__ void __launch_bounds__(32) slidingColumns(u32 *sums, i64 sumsPitch, const u8 *__restrict__ src, i64 srcPitch, int r, int w, int h) {
	int x = blockIdx.x * 32 + threadIdx.x;
	if (x >= w)
		return;
	columnSums put = {sums + x, sumsPitch / 4, h};
	recurse(src + x, srcPitch, r, h, put);
}

struct rowMeans {
	u8 *dst;
	u32 height;
	int r, n;
	__device__ __forceinline__ void operator()(int i, u32 sum) {
		if (i < n)
			dst[i] = mean(sum, side(i, r, n) * height);
	}
	__device__ __forceinline__ void end(int) {}
};

extern "C" __global__ void __launch_bounds__(32) slidingRows(u8 *dst, i64 dstPitch, const u32 *__restrict__ sums, i64 sumsPitch, int r, int w, int h) {
	int y = blockIdx.x * 32 + threadIdx.x;
	if (y >= h)
		return;
	rowMeans put = {rowOf(dst, dstPitch, y), side(y, r, h), r, w};
	recurse(rowOf(sums, sumsPitch, y), 1, r, w, put);
}

// slidingTurnedSums and slidingTurnedMeans slide down the columns, neighbouring threads on neighbouring ones, and write the
// results of a column as a row: those of 32 columns and 32 samples change places in shared memory, so that writing is
// coalesced as well. What the second does to the columns of the first one's result is so done to the rows of the picture.
template <class T> struct turned {
	T (*tile)[33];
	T *dst;
	i64 pitch;
	int r, n, lane, columns;
	u32 height;
	__device__ __forceinline__ u32 result(u32 *, int, u32 sum) const { return sum; }
	__device__ __forceinline__ u8 result(u8 *, int i, u32 sum) const { return mean(sum, side(min(i, n - 1), r, n) * height); }
	__device__ __forceinline__ void operator()(int i, u32 sum) { tile[lane][i % 32] = result((T *)0, i, sum); }
	// end writes samples i … i + 31 of each column, neighbouring threads neighbouring ones.
	__device__ __forceinline__ void end(int i) {
		__syncthreads();
		if (i + lane < n) {
			T *out = dst + i + lane;
			if (columns == 32) {
#pragma unroll
				for (int c = 0; c < 32; c++)
					rowOf(out, pitch, c)[0] = tile[c][lane];
			} else {
				for (int c = 0; c < columns; c++)
					rowOf(out, pitch, c)[0] = tile[c][lane];
			}
		}
		__syncthreads();
	}
};

template <class In, class Out>
__device__ __forceinline__ void turn(Out *dst, i64 dstPitch, const In *src, i64 srcPitch, int r, int lines, int n) {
	__shared__ Out tile[32][33];
	int lane = threadIdx.x, first = blockIdx.x * 32;
	// Threads beyond the last column follow it; nothing of theirs is written.
	int x = min(first + lane, lines - 1);
	turned<Out> put = {tile, rowOf(dst, dstPitch, first), dstPitch, r, n, lane, min(32, lines - first), side(x, r, lines)};
	recurse(src + x, srcPitch / (i64)sizeof(In), r, n, put);
}

extern "C" __global__ void __launch_bounds__(32) slidingTurnedSums(u32 *sums, i64 sumsPitch, const u8 *__restrict__ src, i64 srcPitch, int r, int w, int h) {
	turn(sums, sumsPitch, src, srcPitch, r, w, h);
}

extern "C" __global__ void __launch_bounds__(32) slidingTurnedMeans(u8 *dst, i64 dstPitch, const u32 *__restrict__ sums, i64 sumsPitch, int r, int h, int w) {
	turn(dst, dstPitch, sums, sumsPitch, r, h, w);
}
