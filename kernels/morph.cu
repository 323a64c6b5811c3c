// Erosion and dilation along lines by van Herk's and Gil and Werman's recursion (van Herk 1992; Gil & Werman 1993): a line
// is cut into segments of k samples; the best of a window is the better of the best from its first sample to the end of
// a segment and the best from there to its last sample. Three comparisons a sample whatever k is.
#include "common.cuh"

template <class T> struct highest {
	static __device__ __forceinline__ T worst() { return 0; }
	static __device__ __forceinline__ T best(T a, T b) { return a > b ? a : b; }
};
template <class T> struct lowest {
	static __device__ __forceinline__ T worst() { return ~(T)0; }
	static __device__ __forceinline__ T best(T a, T b) { return a < b ? a : b; }
};
// line filters down the columns. A thread does a segment of k = 2r + 1 rows of a column; neighbours in a warp do
// neighbouring columns, so that every access is coalesced. The bests from each sample to the end of the segment wait in
// dst for the second half. batch is how many rows are read ahead.
template <class T, class O, int batch>
__device__ __forceinline__ void line(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r,
	int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * r + 1;
	int top = (blockIdx.y * blockDim.y + threadIdx.y) * k;
	if (x >= w || top >= h)
		return;
	T run = O::worst();
	for (int i = k - 1; i >= 0; i -= batch) {
		T v[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top - r + i - j;
			v[j] = i - j >= 0 && (unsigned)y < (unsigned)h ? rowOf(src, srcPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i - j;
			run = O::best(run, v[j]);
			if (i - j >= 0 && y < h)
				rowOf(dst, dstPitch, y)[x] = run;
		}
	}
	run = O::worst();
	for (int i = 1; i < k; i += batch) {
		T v[batch], end[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i + j;
			v[j] = i + j < k && y + r < h ? rowOf(src, srcPitch, y + r)[x] : O::worst();
			end[j] = i + j < k && y < h ? rowOf(dst, dstPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i + j;
			run = O::best(run, v[j]);
			if (i + j < k && y < h)
				rowOf(dst, dstPitch, y)[x] = O::best(end[j], run);
		}
	}
}

#define LINE(name, T, O)                                                                                               \
	extern "C" __global__ void name##Few(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r, \
		int w, int h) {                                                                                                \
		line<T, O<T>, 2>(dst, dstPitch, src, srcPitch, r, w, h);                                                       \
	}                                                                                                                  \
	extern "C" __global__ void name##Many(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r, \
		int w, int h) {                                                                                                \
		line<T, O<T>, 8>(dst, dstPitch, src, srcPitch, r, w, h);                                                       \
	}
LINE(dilateLineU8, u8, highest)
LINE(dilateLineU16, u16, highest)
LINE(erodeLineU8, u8, lowest)
LINE(erodeLineU16, u16, lowest)

// transpose swaps rows and columns in tiles of 32 × 32; blocks are 32 × 8.
template <class T>
__device__ __forceinline__ void transpose(T *dst, i64 dstPitch, const T *src, i64 srcPitch, int w, int h) {
	__shared__ T tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
	for (int j = 0; j < 32; j += 8)
		if (x < w && y + j < h)
			tile[threadIdx.y + j][threadIdx.x] = rowOf(src, srcPitch, y + j)[x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
	for (int j = 0; j < 32; j += 8)
		if (x < h && y + j < w)
			rowOf(dst, dstPitch, y + j)[x] = tile[threadIdx.x][threadIdx.y + j];
}

#define TRANSPOSE(name, T)                                                                                             \
	extern "C" __global__ void name(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int w, int h) { \
		transpose(dst, dstPitch, src, srcPitch, w, h);                                                                 \
	}
TRANSPOSE(transposeU8, u8)
TRANSPOSE(transposeU16, u16)

// The same recursion on words that hold several samples of one bit depth, four bytes or two 16-bit ones, compared at once.
template <class T, bool dilate> struct packed;
template <> struct packed<u8, true> {
	static __device__ __forceinline__ u32 worst() { return 0; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __vmaxu4(a, b); }
};
template <> struct packed<u8, false> {
	static __device__ __forceinline__ u32 worst() { return ~0u; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __vminu4(a, b); }
};
// The better word has the better upper half, whatever the lower ones are: two operations less than __vmaxu2 and __vminu2.
template <> struct packed<u16, true> {
	static __device__ __forceinline__ u32 worst() { return 0; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __byte_perm(max(a & 65535, b & 65535), max(a, b), 0x7610); }
};
template <> struct packed<u16, false> {
	static __device__ __forceinline__ u32 worst() { return ~0u; }
	static __device__ __forceinline__ u32 best(u32 a, u32 b) { return __byte_perm(min(a & 65535, b & 65535), min(a, b), 0x7610); }
};

// insideColumn is a segment of wordColumns whose windows all lie in the picture: nothing needs to be looked at on the way.
template <class O, int batch>
__device__ __forceinline__ void insideColumn(u32 *__restrict__ dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int x, int top) {
	int k = 2 * r + 1, i = k;
	i64 across = srcPitch / 4, outAcross = dstPitch / 4;
	const u32 *in = rowOf(src, srcPitch, top + r) + x;
	u32 *out = rowOf(dst, dstPitch, top + k - 1) + x, run = O::worst();
	for (; i >= batch; i -= batch, in -= batch * across, out -= batch * outAcross) {
		u32 v[batch];
#pragma unroll
		for (int j = 0; j < batch; j++)
			v[j] = in[-j * across];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			run = O::best(run, v[j]);
			out[-j * outAcross] = run;
		}
	}
#pragma unroll 1
	for (; i > 0; i--, in -= across, out -= outAcross) {
		run = O::best(run, *in);
		*out = run;
	}
	in = rowOf(src, srcPitch, top + r + 1) + x;
	out = rowOf(dst, dstPitch, top + 1) + x;
	run = O::worst();
	for (i = 1; i + batch <= k; i += batch, in += batch * across, out += batch * outAcross) {
		u32 v[batch], end[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			v[j] = in[j * across];
			end[j] = out[j * outAcross];
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			run = O::best(run, v[j]);
			// Else the end lies there already: most of a plane of seeds.
			if (run != O::worst())
				out[j * outAcross] = O::best(end[j], run);
		}
	}
#pragma unroll 1
	for (; i < k; i++, in += across, out += outAcross) {
		run = O::best(run, *in);
		*out = O::best(*out, run);
	}
}

// wordColumns is line for columns of words: the words of a row are those of its samples, with whatever lies in the padding.
template <class O, int batch>
__device__ __forceinline__ void wordColumns(u32 *__restrict__ dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, k = 2 * r + 1, top = (blockIdx.y * blockDim.y + threadIdx.y) * k;
	if (x >= words || top >= h)
		return;
	if (top >= r && top + k + r <= h) {
		insideColumn<O, batch>(dst, dstPitch, src, srcPitch, r, x, top);
		return;
	}
	u32 run = O::worst();
	for (int i = k - 1; i >= 0; i -= batch) {
		u32 v[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top - r + i - j;
			v[j] = i >= j && (unsigned)y < (unsigned)h ? rowOf(src, srcPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			run = O::best(run, v[j]);
			if (i >= j && top + i - j < h)
				rowOf(dst, dstPitch, top + i - j)[x] = run;
		}
	}
	run = O::worst();
	int last = min(k, h - top);
	for (int i = 1; i < last; i += batch) {
		u32 v[batch], end[batch];
#pragma unroll
		for (int j = 0; j < batch; j++) {
			int y = top + i + j;
			v[j] = i + j < last && y + r < h ? rowOf(src, srcPitch, y + r)[x] : O::worst();
			end[j] = i + j < last ? rowOf(dst, dstPitch, y)[x] : O::worst();
		}
#pragma unroll
		for (int j = 0; j < batch; j++) {
			run = O::best(run, v[j]);
			if (i + j < last)
				rowOf(dst, dstPitch, top + i + j)[x] = O::best(end[j], run);
		}
	}
}

// Rows of words are made of the samples of one column in several rows, so that a row is filtered like a column. A block
// takes up to rowGroups such rows (4·groups rows of bytes) of `span` columns into shared memory, in whole segments of m. Half of
// its threads each take the bests to the end of a segment, the others those from the beginning of the next. Where the window is longer
// than m, it is the union of two of m, so that more threads have a shorter way to go; k − m is a multiple of n.
static const int rowThreads = 128, rowGroups = 4;

// turn swaps rows and columns of a square of samples in words.
template <class T> struct turned;
template <> struct turned<u8> {
	static const int n = 4;
	static __device__ __forceinline__ void store(u32 *p, const u32 *v) { *(uint4 *)p = make_uint4(v[0], v[1], v[2], v[3]); }
	static __device__ __forceinline__ void load(u32 *v, const u32 *p) {
		uint4 q = *(const uint4 *)p;
		v[0] = q.x;
		v[1] = q.y;
		v[2] = q.z;
		v[3] = q.w;
	}
	static __device__ __forceinline__ void turn(u32 *v) {
		u32 a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[2], v[3], 0x5140);
		u32 c = __byte_perm(v[0], v[1], 0x7362), d = __byte_perm(v[2], v[3], 0x7362);
		v[0] = __byte_perm(a, b, 0x5410);
		v[1] = __byte_perm(a, b, 0x7632);
		v[2] = __byte_perm(c, d, 0x5410);
		v[3] = __byte_perm(c, d, 0x7632);
	}
};
template <> struct turned<u16> {
	static const int n = 2;
	static __device__ __forceinline__ void store(u32 *p, const u32 *v) { *(uint2 *)p = make_uint2(v[0], v[1]); }
	static __device__ __forceinline__ void load(u32 *v, const u32 *p) {
		uint2 q = *(const uint2 *)p;
		v[0] = q.x;
		v[1] = q.y;
	}
	static __device__ __forceinline__ void turn(u32 *v) {
		u32 a = __byte_perm(v[0], v[1], 0x5410), b = __byte_perm(v[0], v[1], 0x7632);
		v[0] = a;
		v[1] = b;
	}
};

template <class T, class O>
__device__ __forceinline__ void wordRows(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r, int m, int span, int groups, int w, int h) {
	const int n = turned<T>::n;
	extern __shared__ u32 memory[];
	// Columns begin at a multiple of n, so that words are read whole. Rows are a multiple of four words long, so that several
	// are stored at once, and of no more, so that rows lie in different banks.
	int x0 = blockIdx.x * span, from = (x0 - r) & ~(n - 1), shift = x0 - r - from, second = 2 * r + 1 - m;
	int segments = (span + second) / m, length = (shift + span + 2 * r + n - 1) & ~(n - 1), pitch = (length + 3) / 4 * 4 | 4, top = blockIdx.y * groups * n;
	u32 *in = memory, *ends = in + groups * pitch, *beginnings = ends + groups * pitch;
	int wide = length / n, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	// Whether the block holds anything but the worst: seeds and masks are empty nearly everywhere.
	u32 seen = 0;
	for (int i = threadIdx.x; i < wide; i += rowThreads) {
		int c = i * n, x = from + c;
		bool inside = x >= 0 && x < w;
		// All groups are read before the first is used.
		u32 v[rowGroups][n];
#pragma unroll
		for (int g = 0; g < rowGroups; g++)
#pragma unroll
			for (int j = 0; j < n; j++) {
				int y = top + g * n + j;
				v[g][j] = inside && g < groups && y < h ? *(const u32 *)(rowOf(src, srcPitch, y) + x) : O::worst();
			}
#pragma unroll
		for (int g = 0; g < rowGroups; g++) {
			if (g >= groups)
				break;
			turned<T>::turn(v[g]);
			if (x + n > w)
#pragma unroll
				for (int j = 0; j < n; j++)
					v[g][j] = x + j < w ? v[g][j] : O::worst();
#pragma unroll
			for (int j = 0; j < n; j++)
				seen |= v[g][j] ^ O::worst();
			turned<T>::store(in + g * pitch + c, v[g]);
		}
	}
	bool empty = !__syncthreads_or(seen != 0);
	int half = threadIdx.x / (rowThreads / 2);
	for (int t = threadIdx.x % (rowThreads / 2); !empty && t < groups * segments; t += rowThreads / 2) {
		int g = t / segments, to = g * pitch + (t - g * segments) * m, at = to + shift;
		u32 run = O::worst();
		if (half == 0) {
#pragma unroll 8
			for (int i = m - 1; i >= 0; i--) {
				run = O::best(run, in[at + i]);
				ends[to + i] = run;
			}
		} else {
			beginnings[to] = run;
#pragma unroll 8
			for (int i = 1; i < m; i++) {
				run = O::best(run, in[at + m + i - 1]);
				beginnings[to + i] = run;
			}
		}
	}
	__syncthreads();
	for (int g = warp; g < groups; g += rowThreads / 32)
		for (int i = lane; i < span / n; i += 32) {
			int c = i * n, x = x0 + c;
			if (x >= w)
				break;
			u32 v[n], u[n];
			if (empty) {
#pragma unroll
				for (int j = 0; j < n; j++)
					v[j] = O::worst();
			} else {
				turned<T>::load(v, ends + g * pitch + c);
				turned<T>::load(u, beginnings + g * pitch + c);
#pragma unroll
				for (int j = 0; j < n; j++)
					v[j] = O::best(v[j], u[j]);
				if (second > 0) {
					u32 p[n], q[n];
					turned<T>::load(p, ends + g * pitch + c + second);
					turned<T>::load(q, beginnings + g * pitch + c + second);
#pragma unroll
					for (int j = 0; j < n; j++)
						v[j] = O::best(v[j], O::best(p[j], q[j]));
				}
				turned<T>::turn(v);
			}
#pragma unroll
			for (int j = 0; j < n; j++) {
				int y = top + g * n + j;
				// Beyond the row lies its padding.
				if (y < h)
					*(u32 *)(rowOf(dst, dstPitch, y) + x) = v[j];
			}
		}
}

#define WORDS(name, T, dilate)                                                                                         \
	extern "C" __global__ void name##ColumnsFew(u32 *__restrict__ dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) { \
		wordColumns<packed<T, dilate>, 2>(dst, dstPitch, src, srcPitch, r, words, h);                                  \
	}                                                                                                                  \
	extern "C" __global__ void name##ColumnsMany(u32 *__restrict__ dst, i64 dstPitch, const u32 *__restrict__ src, i64 srcPitch, int r, int words, int h) { \
		wordColumns<packed<T, dilate>, 8>(dst, dstPitch, src, srcPitch, r, words, h);                                  \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(rowThreads) name##Rows(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 srcPitch, int r, int m, int span, int groups, int w, int h) { \
		wordRows<T, packed<T, dilate> >(dst, dstPitch, src, srcPitch, r, m, span, groups, w, h);                          \
	}
WORDS(dilateU8, u8, true)
WORDS(erodeU8, u8, false)
WORDS(dilateU16, u16, true)
WORDS(erodeU16, u16, false)
