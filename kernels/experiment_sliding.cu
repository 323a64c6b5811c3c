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

// A window slides along a line of n samples, `stride` elements apart: the sample r ahead enters, the one that is r + 1
// behind leaves. So many of both are read ahead.
static const int ahead = 16;

template <class T> struct window {
	const T *line;
	i64 stride;
	int r, n;
	u32 sum, enter[ahead], leave[ahead];
	// begin takes in what the window over the sample before the first one holds.
	__device__ __forceinline__ void begin() {
		sum = 0;
		int last = min(r, n);
		for (int i = 0; i < last; i += ahead) {
#pragma unroll
			for (int j = 0; j < ahead; j++)
				enter[j] = i + j < last ? line[(i + j) * stride] : 0;
#pragma unroll
			for (int j = 0; j < ahead; j++)
				sum += enter[j];
		}
	}
	// read reads what enters and leaves at samples i … i + ahead − 1.
	__device__ __forceinline__ void read(int i) {
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			int in = i + j + r, out = i + j - r - 1;
			enter[j] = in < n ? line[in * stride] : 0;
			leave[j] = out >= 0 && out < n ? line[out * stride] : 0;
		}
	}
};

// slidingColumns and slidingRows are the recursion with a thread a line: down the columns neighbouring threads read
// neighbouring addresses, along the rows they read addresses a row apart.
extern "C" __global__ void __launch_bounds__(32) slidingColumns(u32 *sums, i64 sumsPitch, const u8 *__restrict__ src, i64 srcPitch, int r, int w, int h) {
	int x = blockIdx.x * 32 + threadIdx.x;
	if (x >= w)
		return;
	window<u8> s = {src + x, srcPitch, r, h};
	s.begin();
	for (int y = 0; y < h; y += ahead) {
		s.read(y);
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			s.sum += s.enter[j] - s.leave[j];
			if (y + j < h)
				rowOf(sums, sumsPitch, y + j)[x] = s.sum;
		}
	}
}

extern "C" __global__ void __launch_bounds__(32) slidingRows(u8 *dst, i64 dstPitch, const u32 *__restrict__ sums, i64 sumsPitch, int r, int w, int h) {
	int y = blockIdx.x * 32 + threadIdx.x;
	if (y >= h)
		return;
	u8 *out = rowOf(dst, dstPitch, y);
	u32 height = side(y, r, h);
	window<u32> s = {rowOf(sums, sumsPitch, y), 1, r, w};
	s.begin();
	for (int x = 0; x < w; x += ahead) {
		s.read(x);
#pragma unroll
		for (int j = 0; j < ahead; j++) {
			s.sum += s.enter[j] - s.leave[j];
			if (x + j < w)
				out[x + j] = mean(s.sum, side(x + j, r, w) * height);
		}
	}
}

// sumOf and meanOf make the result of a window at sample i of n of line x of `lines`.
struct sumOf {
	__device__ __forceinline__ u32 operator()(u32 sum, int, int, int, int, int) const { return sum; }
};
struct meanOf {
	__device__ __forceinline__ u8 operator()(u32 sum, int i, int n, int x, int lines, int r) const {
		return mean(sum, side(i, r, n) * side(x, r, lines));
	}
};

// turned slides down the columns, neighbouring threads on neighbouring ones, and writes the results of a column as a row:
// those of 32 columns and 32 samples change places in shared memory, so that writing is coalesced as well. What is then
// done to the columns of the result has been done to the rows of the source.
template <class In, class Out, class F>
__device__ __forceinline__ void turned(Out *dst, i64 dstPitch, const In *src, i64 srcPitch, int r, int lines, int n, F result) {
	__shared__ Out tile[32][33];
	int lane = threadIdx.x, first = blockIdx.x * 32, x = first + lane;
	// Threads beyond the last column follow it, without writing.
	window<In> s = {src + min(x, lines - 1), srcPitch / (i64)sizeof(In), r, n};
	s.begin();
	for (int i = 0; i < n; i += 32) {
		for (int part = 0; part < 32; part += ahead) {
			s.read(i + part);
#pragma unroll
			for (int j = 0; j < ahead; j++) {
				s.sum += s.enter[j] - s.leave[j];
				int at = i + part + j;
				if (at < n)
					tile[lane][part + j] = result(s.sum, at, n, min(x, lines - 1), lines, r);
			}
		}
		__syncthreads();
		if (i + lane < n)
			for (int c = 0; c < min(32, lines - first); c++)
				rowOf(dst, dstPitch, first + c)[i + lane] = tile[c][lane];
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(32) slidingTurnedSums(u32 *sums, i64 sumsPitch, const u8 *__restrict__ src, i64 srcPitch, int r, int w, int h) {
	turned(sums, sumsPitch, src, srcPitch, r, w, h, sumOf());
}

extern "C" __global__ void __launch_bounds__(32) slidingTurnedMeans(u8 *dst, i64 dstPitch, const u32 *__restrict__ sums, i64 sumsPitch, int r, int h, int w) {
	turned(dst, dstPitch, sums, sumsPitch, r, h, w, meanOf());
}
