// Components as lists of spans: runs of pixels of one row with a label, in reading order.
#include "common.cuh"

struct span {
	int y, x0, x1;
	u32 label;
};

// none is the label of a span that was dropped.
static const u32 none = 0xffffffff;
static const u32 lanes = 0xffffffff;

// A warp looks for runs in a chunk of a row. A row has ⌊w/1024⌋ + 1 of them, so that column w, where the last run ends at
// the latest, lies in one as well.
static const int chunkPixels = 1024;

// nonzero gathers which of the four bytes are not 0.
__device__ __forceinline__ u32 nonzero(u32 v) {
	v = (((v & 0x7f7f7f7f) + 0x7f7f7f7f) | v) & 0x80808080;
	return (v >> 7 | v >> 14 | v >> 21 | v >> 28) & 15;
}

// source is what runs are sought in: pixels with one of the bits, or, inverted, those with none.
struct source {
	const u8 *plane;
	i64 pitch;
	u32 bits;
	bool inverted;
	int w;

	__device__ bool set(int x, int y) const {
		return x >= 0 && x < w && ((rowOf(plane, pitch, y)[x] & bits) != 0) != inverted;
	}

	// set16 tells it of 16 pixels from x on, a multiple of 16; rows are padded to more.
	__device__ u32 set16(int x, int y) const {
		if (x >= w)
			return 0;
		u32 every = bits * 0x01010101;
		uint4 v = *(const uint4 *)(rowOf(plane, pitch, y) + x);
		u32 m = nonzero(v.x & every) | nonzero(v.y & every) << 4 | nonzero(v.z & every) << 8 | nonzero(v.w & every) << 12;
		if (inverted)
			m ^= 0xffff;
		return w - x < 16 ? m & ((1 << (w - x)) - 1) : m;
	}
};

// before sums over the lanes below.
__device__ __forceinline__ u32 before(u32 v) {
	u32 sum = v;
	for (int d = 1; d < 32; d *= 2) {
		u32 other = __shfl_up_sync(lanes, sum, d);
		if (threadIdx.x % 32 >= d)
			sum += other;
	}
	return sum - v;
}

// chunkRuns calls begin(number, x) for each run that begins in a chunk, and end(number, x) for each that ends before
// column x of it. first is the number of runs that begin before the chunk: with one open at its border, the first end is
// that of the run before. It returns the number of the next run.
template <class Begin, class End>
__device__ u32 chunkRuns(const source &s, int y, int chunk, u32 first, Begin begin, End end) {
	int lane = threadIdx.x % 32, x = chunk * chunkPixels;
	u32 carry = s.set(x - 1, y), last = first - carry;
	for (x += 16 * lane; x < (chunk + 1) * chunkPixels + 16 * lane; x += 16 * 32) {
		u32 m = s.set16(x, y), left = __shfl_up_sync(lanes, m >> 15, 1);
		u32 shifted = (m << 1 | (lane ? left : carry)) & 0xffff;
		carry = __shfl_sync(lanes, m >> 15, 31);
		u32 starts = m & ~shifted, ends = shifted & ~m;
		if (!__any_sync(lanes, starts | ends))
			continue;
		// Both counts fit into 16 bits.
		u32 counts = __popc(starts) | __popc(ends) << 16, below = before(counts);
		u32 i = first + (below & 0xffff), j = last + (below >> 16);
		for (; starts; starts &= starts - 1)
			begin(i++, x + __ffs(starts) - 1);
		for (; ends; ends &= ends - 1)
			end(j++, x + __ffs(ends) - 1);
		u32 all = __shfl_sync(lanes, below + counts, 31);
		first += all & 0xffff;
		last += all >> 16;
	}
	return first;
}

// countRuns counts the runs that begin in each chunk.
extern "C" __global__ void countRuns(u32 *counts, const u8 *src, i64 pitch, u32 bits, int inverted, int chunks, int w, int h) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= chunks * h)
		return;
	source s = {src, pitch, bits, inverted != 0, w};
	u32 n = chunkRuns(s, i / chunks, i % chunks, 0, [](u32, int) {}, [](u32, int) {});
	if (threadIdx.x % 32 == 0)
		counts[i] = n;
}

// writeRuns writes the runs, given how many begin before each chunk, as long as there is room, and makes each the parent
// of itself.
extern "C" __global__ void writeRuns(span *out, u32 *parent, const u32 *first, u32 room, const u8 *src, i64 pitch, u32 bits,
	int inverted, int chunks, int w, int h) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= chunks * h)
		return;
	source s = {src, pitch, bits, inverted != 0, w};
	int y = i / chunks;
	chunkRuns(
		s, y, i % chunks, first[i],
		[=](u32 k, int x) {
			if (k < room) {
				out[k].y = y;
				out[k].x0 = x;
				out[k].label = k;
				parent[k] = k;
			}
		},
		[=](u32 k, int x) {
			if (k < room)
				out[k].x1 = x;
		});
}

// scan replaces n counts by the sums of those before each, and writes the sum of all behind them and to total. One block.
extern "C" __global__ void scan(u32 *counts, int n, u32 *total) {
	static const int each = 8;
	__shared__ u32 warps[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	u32 base = 0;
	for (int at = 0; at < n; at += each * blockDim.x) {
		u32 own[each], sum = 0;
		int i = at + each * threadIdx.x;
#pragma unroll
		for (int k = 0; k < each; k++) {
			own[k] = i + k < n ? counts[i + k] : 0;
			sum += own[k];
		}
		u32 below = before(sum);
		if (lane == 31)
			warps[warp] = below + sum;
		__syncthreads();
		if (warp == 0) {
			u32 v = lane < blockDim.x / 32 ? warps[lane] : 0, b = before(v);
			warps[lane] = b + v;
		}
		__syncthreads();
		below += base + (warp ? warps[warp - 1] : 0);
		base += warps[31];
#pragma unroll
		for (int k = 0; k < each; k++) {
			if (i + k < n)
				counts[i + k] = below;
			below += own[k];
		}
		__syncthreads();
	}
	if (threadIdx.x == 0) {
		counts[n] = base;
		*total = base;
	}
}

// Every root is the first run of its set. What once was the parent stays an ancestor, however late it is read or written.
__device__ u32 rootOf(u32 *parent, u32 i) {
	volatile u32 *p = parent;
	for (u32 up = p[i]; up != i; up = p[i])
		i = up;
	return i;
}

// halvedRootOf is rootOf that shortens the way for others.
__device__ u32 halvedRootOf(u32 *parent, u32 i) {
	volatile u32 *p = parent;
	for (u32 up = p[i]; up != i; up = p[i]) {
		u32 next = p[up];
		if (next != up)
			p[i] = next;
		i = up;
	}
	return i;
}

__device__ void unite(u32 *parent, u32 a, u32 b) {
	for (;;) {
		a = halvedRootOf(parent, a);
		b = halvedRootOf(parent, b);
		if (a == b)
			return;
		if (a > b) {
			u32 t = a;
			a = b;
			b = t;
		}
		u32 old = atomicMin(parent + b, a);
		if (old == b)
			return;
		b = old; // another thread was faster
	}
}

// touching joins run i with the first run of row y that it touches, if any.
__device__ void touching(const span *spans, u32 *parent, const u32 *first, int chunks, int reach, u32 i, int y) {
	span s = spans[i];
	u32 a = first[y * chunks], end = first[(y + 1) * chunks];
	for (u32 b = end; a < b;) {
		u32 middle = (a + b) / 2;
		if (spans[middle].x1 + reach > s.x0)
			b = middle;
		else
			a = middle + 1;
	}
	if (a < end && spans[a].x0 < s.x1 + reach)
		unite(parent, a, i);
}

// joinRuns unites the runs that touch: reach is 1 where diagonal neighbours do, else 0. Two runs that touch are united by
// the lower one if the upper one is the first that it touches; otherwise the lower one is the first that the upper one
// touches. So each looks for one above and one below, and no thread works along a long run.
extern "C" __global__ void joinRuns(const span *spans, u32 *parent, const u32 *first, const u32 *total, u32 room, int reach, int chunks, int h) {
	u32 n = *total;
	if (n > room)
		return;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		int y = spans[i].y;
		if (y > 0)
			touching(spans, parent, first, chunks, reach, i, y - 1);
		if (y < h - 1)
			touching(spans, parent, first, chunks, reach, i, y + 1);
	}
}

static const int group = 256;

// findRoots makes the root the parent of every run, and counts the roots in each group of runs. A warp takes a group. No
// thread writes the parent of another's run here: it might be an ancestor that is no root.
extern "C" __global__ void findRoots(u32 *parent, u32 *counts, const u32 *total, u32 room) {
	u32 g = (blockIdx.x * blockDim.x + threadIdx.x) / 32, n = *total;
	if (g * group >= room)
		return;
	if (n > room)
		n = 0;
	u32 roots = 0;
	for (u32 i = g * group + threadIdx.x % 32; i < (g + 1) * group + threadIdx.x % 32; i += 32) {
		bool root = false;
		if (i < n) {
			u32 r = rootOf(parent, i);
			parent[i] = r;
			root = r == i;
		}
		roots += __popc(__ballot_sync(lanes, root));
	}
	if (threadIdx.x % 32 == 0)
		counts[g] = roots;
}

// numberRoots labels the roots in reading order, given how many lie before each group.
extern "C" __global__ void numberRoots(span *spans, const u32 *parent, const u32 *counts, const u32 *total, u32 room) {
	u32 g = (blockIdx.x * blockDim.x + threadIdx.x) / 32, n = *total, lane = threadIdx.x % 32;
	if (n > room || g * group >= n)
		return;
	u32 label = counts[g];
	for (u32 i = g * group + lane; i < (g + 1) * group + lane; i += 32) {
		bool root = i < n && parent[i] == i;
		u32 all = __ballot_sync(lanes, root);
		if (root)
			spans[i].label = label + __popc(all & ((1u << lane) - 1));
		label += __popc(all);
	}
}

// spreadLabels gives every run the label of its root.
extern "C" __global__ void spreadLabels(span *spans, const u32 *parent, const u32 *total, u32 room) {
	u32 n = *total;
	if (n > room)
		return;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		if (parent[i] != i)
			spans[i].label = spans[parent[i]].label;
}

// markOpen sets the flag of the roots of those runs that lie on the picture's border.
extern "C" __global__ void markOpen(u8 *open, const span *spans, const u32 *parent, const u32 *total, u32 room, int w, int h) {
	u32 n = *total;
	if (n > room)
		return;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		span s = spans[i];
		if (s.x0 == 0 || s.x1 == w || s.y == 0 || s.y == h - 1)
			open[parent[i]] = 1;
	}
}

// paintClosed writes 255 along the runs whose roots have no flag; a warp takes one.
extern "C" __global__ void paintClosed(u8 *dst, i64 dstPitch, const u8 *open, const span *spans, const u32 *parent, const u32 *total, u32 room) {
	u32 n = *total;
	if (n > room)
		return;
	for (u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += gridDim.x * blockDim.x / 32) {
		if (open[parent[i]])
			continue;
		span s = spans[i];
		u8 *row = rowOf(dst, dstPitch, s.y);
		for (int x = s.x0 + threadIdx.x % 32; x < s.x1; x += 32)
			row[x] = 255;
	}
}

// paint writes 255 along each span; a warp takes one.
extern "C" __global__ void paint(u8 *dst, i64 dstPitch, const span *__restrict__ spans, int n) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= n || spans[i].label == none)
		return;
	span s = spans[i];
	u8 *row = rowOf(dst, dstPitch, s.y);
	for (int x = s.x0 + threadIdx.x % 32; x < s.x1; x += 32)
		row[x] = 255;
}

// drop takes the label from the spans whose component is not kept.
extern "C" __global__ void drop(span *spans, int n, const u8 *__restrict__ keep) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && spans[i].label != none && !keep[spans[i].label])
		spans[i].label = none;
}
