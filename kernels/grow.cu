// Growth of components from their cores, nearest first, on tiles of 32 × 32 pixels.
//
// Dijkstra's method settles one pixel after the other. What it ends with is also the only solution of a system of
// equations that many threads can iterate in any order. Let the value of a pixel be (d, c, n), compared from left to right:
// the distance² d, the core pixel c that it is reached from, and n, how many steps ago d last rose. With e = |p − c|²,
// p takes from a neighbour of value (d, c, n)
//
//   (e, c, 0) if e > d, else (d, c, n + 1), as long as the first is within the limit of c's component,
//
// and a pixel that can grow has the least of what it takes from its 8 neighbours; a core pixel has (0, itself, 0). What is
// taken is always greater than the neighbour's value, so two solutions could not differ at a pixel of least value among
// those where they do; and what Dijkstra's method settles is a solution. Without n, pixels might hold on to values that each
// has from another and none from a core.
//
// Values fall to what can be taken until none can fall. A neighbour's may have changed since, so then those that cannot
// be taken any more are dropped, one after the other, until every one can; and so on until nothing changes.
#include "common.cuh"

struct span {
	int y, x0, x1;
	u32 label;
};

static const u32 none = 0xffffffff;
static const u32 lanes = 0xffffffff;
static const u8 classGrow = 8;

static const int side = 32, area = side * side;

// A value is d << 48 | (row of c − row of p + 128) << 40 | (column of c − column of p + 128) << 32 | limit << 16 | n. The
// limit is a function of c, so it does not disturb the order. never is that of a pixel out of reach.
static const u64 never = ~0ull;

__device__ __forceinline__ int distance2(u64 v) { return (int)(v >> 48); }

// rule is that of Growth.
struct rule {
	double base, slope, farBase, farSlope, limit, closed;
	u32 maxCore;

	__device__ double reach(u32 core, double base, double slope) const {
		if (core > maxCore)
			return 0;
		return fmin(base + slope * sqrt((double)core / 3.141592653589793), limit);
	}
	__device__ double near(u32 core) const { return reach(core, base, slope); }
	__device__ double far(u32 core) const { return fmax(near(core), reach(core, farBase, farSlope)); }
};

// head counts what the host and later kernels have to know.
struct head {
	u32 active;  // tiles that have values
	u32 runs;    // runs of the result
	u32 todo[3]; // tiles to work on in round r, at r mod 3
	u32 dropped; // tiles in which values were dropped by rounds that do nothing else
};

// seedTiles adds up the areas of the cores and lists the tiles that they lie in.
extern "C" __global__ void seedTiles(head *hd, u32 *size, u32 *stamp, u32 *active, const span *__restrict__ spans, int n, int across) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n || spans[i].label == none)
		return;
	span s = spans[i];
	atomicAdd(size + s.label, s.x1 - s.x0);
	for (int t = s.x0 / side; t <= (s.x1 - 1) / side; t++) {
		u32 tile = s.y / side * across + t;
		if (atomicExch(stamp + tile, 1) == 0)
			active[atomicAdd(&hd->active, 1)] = tile;
	}
}

// clearTiles prepares the listed tiles.
extern "C" __global__ void clearTiles(const head *hd, u64 *values, u8 *touched, const u32 *active) {
	for (u32 i = blockIdx.x; i < hd->active; i += gridDim.x) {
		u32 tile = active[i];
		for (int k = threadIdx.x; k < area; k += blockDim.x)
			values[(i64)tile * area + k] = never;
		if (threadIdx.x == 0)
			touched[tile] = 1;
	}
}

// seedCores gives the core pixels their value; a warp takes a span.
extern "C" __global__ void seedCores(u64 *values, const u32 *size, const span *__restrict__ spans, int n, int across, double base,
	double slope, double farBase, double farSlope, double limit, u32 maxCore) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= n || spans[i].label == none)
		return;
	span s = spans[i];
	rule r = {base, slope, farBase, farSlope, limit, 0, maxCore};
	double far = r.far(size[s.label]);
	u64 v = (u64)128 << 40 | (u64)128 << 32 | (u64)(int)(far * far) << 16;
	for (int x = s.x0 + threadIdx.x % 32; x < s.x1; x += 32)
		values[((i64)(s.y / side) * across + x / side) * area + s.y % side * side + x % side] = v;
}

// taken is the value that a pixel takes from a neighbour of value v, dx and dy away.
__device__ __forceinline__ u64 taken(u64 v, int dx, int dy) {
	if (v == never)
		return never;
	int oy = (int)(v >> 40 & 255) - 128 + dy, ox = (int)(v >> 32 & 255) - 128 + dx;
	int e = ox * ox + oy * oy, d = distance2(v), limit = (int)(v >> 16 & 0xffff), n = (int)(v & 0xffff) + 1;
	if (max(d, e) > limit)
		return never;
	if (e > d) {
		d = e;
		n = 0;
	} else if (n > 4 * d) {
		return never; // a disc of radius √d holds no more than 4·d + 1 pixels
	}
	return (u64)d << 48 | (u64)(oy + 128) << 40 | (u64)(ox + 128) << 32 | (u64)limit << 16 | n;
}

static const int wide = side + 2;

// pass lets the values of n pixels of a tile fall once, or drops those that cannot be taken; it tells whether any changed.
__device__ bool pass(u64 *v, const u16 *pixels, int n, bool dropping) {
	bool moved = false;
	for (int t = threadIdx.x, i = t; i < n + t; i += blockDim.x) {
		u64 least = never;
		int p = 0;
		if (i < n) {
			p = pixels[i];
#pragma unroll
			for (int dy = -1; dy <= 1; dy++)
#pragma unroll
				for (int dx = -1; dx <= 1; dx++)
					if (dx || dy)
						least = min(least, taken(v[p + dy * wide + dx], dx, dy));
		}
		__syncthreads();
		if (i < n && (dropping ? least > v[p] : least < v[p])) {
			v[p] = dropping ? never : least;
			moved = true;
		}
		__syncthreads();
	}
	return __syncthreads_or(moved);
}

// growTiles solves the listed tiles, given what lies around them, and lists those for the next round beside which
// something changed. Blocks of 128 threads. A neighbour that is being worked on may be seen before or after: it changed
// later than this round began, so the tile comes again.
//
// Values that two tiles have from each other, and neither from a core, would rise slowly from round to round. So at times
// there are rounds that only drop values, from all tiles, until all can be taken.
extern "C" __global__ void growTiles(head *hd, u64 *values, u8 *touched, u32 *stamp, u32 *active, const u32 *list, const u32 *count,
	u32 *next, u32 round, int dropping, const u8 *__restrict__ cls, i64 pitch, int across, int down, int w, int h) {
	__shared__ u64 v[wide * wide];
	__shared__ u16 todo[area];
	__shared__ u8 known[9];
	__shared__ int left;
	__shared__ u32 beside;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		hd->todo[(round + 2) % 3] = 0;
	u32 tiles = *count;
	for (u32 at = blockIdx.x; at < tiles; at += gridDim.x) {
		u32 tile = list[at];
		int tx = tile % across, ty = tile / across, t = threadIdx.x;
		__syncthreads();
		if (t < 9) {
			int nx = tx + t % 3 - 1, ny = ty + t / 3 - 1;
			known[t] = nx >= 0 && nx < across && ny >= 0 && ny < down && ((volatile u8 *)touched)[ny * across + nx];
		}
		if (t == 0) {
			left = 0;
			beside = 0;
		}
		__threadfence(); // what is known is read after the flags
		__syncthreads();
		for (int i = t; i < wide * wide; i += blockDim.x) {
			int x = i % wide - 1, y = i / wide - 1;
			int nx = x < 0 ? -1 : x >= side, ny = y < 0 ? -1 : y >= side;
			u64 a = never;
			if (known[3 * ny + nx + 4])
				a = ((volatile u64 *)values)[((i64)(ty + ny) * across + tx + nx) * area + (y & (side - 1)) * side + (x & (side - 1))];
			v[i] = a;
		}
		__syncthreads();
		for (int i = t; i < area; i += blockDim.x) {
			int x = i % side, y = i / side, px = tx * side + x, py = ty * side + y;
			if (px < w && py < h && rowOf(cls, pitch, py)[px] & classGrow && distance2(v[(y + 1) * wide + x + 1]) != 0)
				todo[atomicAdd(&left, 1)] = (y + 1) * wide + x + 1;
		}
		__syncthreads();
		int n = left;
		for (bool settled = n == 0; !settled;) {
			while (!dropping && pass(v, todo, n, false)) {
			}
			settled = true;
			while (pass(v, todo, n, true))
				settled = dropping;
		}
		// Whatever has a value in the first round is new to the neighbours.
		bool had = known[4];
		u32 changed = 0;
		for (int i = t; i < area; i += blockDim.x) {
			int x = i % side, y = i / side;
			u64 *to = values + (i64)tile * area + i, now = v[(y + 1) * wide + x + 1], old = had && round > 1 ? *to : never;
			if (now == old)
				continue;
			*to = now;
			int sx = x == 0 ? -1 : x == side - 1, sy = y == 0 ? -1 : y == side - 1;
			changed |= 1u << 4 | 1u << (4 + sx) | 1u << (4 + 3 * sy) | 1u << (4 + 3 * sy + sx);
		}
		if (changed)
			atomicOr(&beside, changed);
		__syncthreads();
		u32 moved9 = beside;
		if (moved9 && !had)
			for (int i = t; i < area; i += blockDim.x)
				if (v[(i / side + 1) * wide + i % side + 1] == never)
					values[(i64)tile * area + i] = never;
		__threadfence();
		__syncthreads();
		if (t == 0 && moved9 && !had) {
			touched[tile] = 1;
			active[atomicAdd(&hd->active, 1)] = tile;
		}
		if (t == 0 && moved9 && dropping)
			atomicAdd(&hd->dropped, 1);
		int nx = tx + t % 3 - 1, ny = ty + t / 3 - 1;
		if (t < 9 && (t != 4 || dropping) && moved9 >> t & 1 && nx >= 0 && nx < across && ny >= 0 && ny < down) {
			u32 other = ny * across + nx;
			if (atomicExch(stamp + other, round + 1) != round + 1)
				next[atomicAdd(&hd->todo[(round + 1) % 3], 1)] = other;
		}
	}
}

// The kernels below do nothing as long as *unsettled tiles wait for a further round.

// labelOf is the label of the span that core pixel (x, y) lies in.
__device__ u32 labelOf(const span *spans, const u32 *first, int chunks, int x, int y) {
	u32 a = first[y * chunks], b = first[(y + 1) * chunks];
	while (b - a > 1) {
		u32 middle = (a + b) / 2;
		if (spans[middle].x0 <= x)
			a = middle;
		else
			b = middle;
	}
	return spans[a].label;
}

// countRings writes the label into the low half of every value and counts the pixels of each ring about the cores.
extern "C" __global__ void countRings(const head *hd, const u32 *unsettled, u64 *values, const u32 *active, u32 *rings, int stride,
	const span *__restrict__ spans, const u32 *__restrict__ first, int chunks, int across) {
	if (*unsettled)
		return;
	for (u32 i = blockIdx.x; i < hd->active; i += gridDim.x) {
		u32 tile = active[i];
		for (int k = threadIdx.x; k < area; k += blockDim.x) {
			u64 *at = values + (i64)tile * area + k, v = *at;
			if (v == never)
				continue;
			int x = tile % across * side + k % side + (int)(v >> 32 & 255) - 128;
			int y = tile / across * side + k / side + (int)(v >> 40 & 255) - 128;
			u32 label = labelOf(spans, first, chunks, x, y);
			*at = v >> 32 << 32 | label;
			int d = distance2(v), ring = 0;
			while (ring * ring < d)
				ring++;
			if (d > 0)
				atomicAdd(rings + (i64)label * stride + ring, 1);
		}
	}
}

// keepRings finds how far each component is kept, as Growth.Keep does.
extern "C" __global__ void keepRings(const u32 *unsettled, int *keep, const u32 *size, const u32 *rings, int stride, int n, double base,
	double slope, double farBase, double farSlope, double limit, double closed, u32 maxCore) {
	int l = blockIdx.x * blockDim.x + threadIdx.x;
	if (l >= n || size[l] == 0 || *unsettled)
		return;
	rule r = {base, slope, farBase, farSlope, limit, closed, maxCore};
	double near = r.near(size[l]), far = r.far(size[l]), radius = sqrt((double)size[l] / 3.141592653589793);
	int most = (int)(near * near);
	for (int k = (int)near + 1; k <= (int)far; k++) {
		double full = 6.283185307179586 * (radius + (double)k - 0.5);
		if ((double)rings[(i64)l * stride + k] < closed * full) {
			most = max(most, (k - 1) * (k - 1));
			break;
		}
	}
	keep[l] = most;
}

// grownRuns goes over a chunk of 1024 columns of a row, as chunkRuns of spans.cu does, with labels: begin(number, x, label)
// and end(number, x). A row has ⌊w/1024⌋ + 1 chunks.
template <class Begin, class End>
__device__ u32 grownRuns(const u64 *values, const u8 *touched, const int *keep, int across, int y, int chunk, u32 first, Begin begin, End end) {
	int lane = threadIdx.x % 32, tile = y / side * across;
	auto labelAt = [=](int x) {
		u64 v = values[(i64)(tile + x / side) * area + y % side * side + x % side];
		return v != never && distance2(v) <= keep[(u32)v] ? (u32)v : none;
	};
	int column = chunk * side;
	u32 words = __ballot_sync(lanes, column + lane < across && touched[tile + column + lane]);
	u32 carry = column > 0 && touched[tile + column - 1] ? labelAt(column * side - 1) : none;
	u32 last = first - (carry != none);
	for (u32 visit = words | words << 1 | 1; visit; visit &= visit - 1) {
		int k = __ffs(visit) - 1, x = (column + k) * side + lane;
		u32 label = words >> k & 1 ? labelAt(x) : none;
		u32 left = __shfl_up_sync(lanes, label, 1);
		if (lane == 0)
			left = carry;
		carry = __shfl_sync(lanes, label, 31);
		u32 starts = __ballot_sync(lanes, label != none && label != left);
		u32 ends = __ballot_sync(lanes, left != none && label != left);
		u32 below = (1u << lane) - 1;
		if (starts >> lane & 1)
			begin(first + __popc(starts & below), x, label);
		if (ends >> lane & 1)
			end(last + __popc(ends & below), x);
		first += __popc(starts);
		last += __popc(ends);
	}
	return first;
}

extern "C" __global__ void countGrown(const u32 *unsettled, u32 *counts, const u64 *values, const u8 *touched, const int *keep,
	int across, int chunks, int h) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= chunks * h || *unsettled)
		return;
	u32 n = grownRuns(values, touched, keep, across, i / chunks, i % chunks, 0, [](u32, int, u32) {}, [](u32, int) {});
	if (threadIdx.x % 32 == 0)
		counts[i] = n;
}

extern "C" __global__ void writeGrown(const u32 *unsettled, span *out, const u32 *first, u32 room, const u64 *values, const u8 *touched,
	const int *keep, int across, int chunks, int h) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= chunks * h || *unsettled)
		return;
	int y = i / chunks;
	grownRuns(
		values, touched, keep, across, y, i % chunks, first[i],
		[=](u32 k, int x, u32 label) {
			if (k < room) {
				out[k].y = y;
				out[k].x0 = x;
				out[k].label = label;
			}
		},
		[=](u32 k, int x) {
			if (k < room)
				out[k].x1 = x;
		});
}
