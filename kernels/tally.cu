// Sums over components, and what their surroundings look like.
#include "common.cuh"

struct span {
	int y, x0, x1;
	u32 label;
};

static const u32 none = 0xffffffff;

__device__ __forceinline__ void atomicSum(u64 *p, u64 v) {
	if (v)
		atomicAdd(p, v);
}

// A team of threads takes a span; most are short.
static const int team = 8;

template <class T> __device__ T sumOf(T v) {
	for (int d = team / 2; d; d /= 2)
		v += __shfl_xor_sync(0xffffffff, v, d);
	return v;
}

// glintProps is processing.GlintProps, all zero before.
struct glintProps {
	u64 sums[4];
	u32 area;
	int x, y;
	u8 peak, ground, darkPeak, darkGround;
};

// view are the planes that glints are measured in.
struct view {
	const u8 *logits, *kinds, *red, *green, *blue;
	i64 logitsPitch, kindsPitch, redPitch, greenPitch, bluePitch;
	__device__ __forceinline__ u32 lightness(int x, int y) const {
		u32 r = rowOf(red, redPitch, y)[x], g = rowOf(green, greenPitch, y)[x], b = rowOf(blue, bluePitch, y)[x];
		return (r + 2 * g + b + 2) >> 2;
	}
	__device__ __forceinline__ u32 darkest(int x, int y) const {
		u32 r = rowOf(red, redPitch, y)[x], g = rowOf(green, greenPitch, y)[x], b = rowOf(blue, bluePitch, y)[x];
		return min(r, min(g, b));
	}
};

// glintSums adds up the components, and keeps the largest lightness of each with the complement of its pixel's index, so that the
// first of equal ones wins. Nothing is done if there are more than room spans, of which total is the number.
extern "C" __global__ void glintSums(glintProps *out, u64 *peaks, const span *__restrict__ spans, const u32 *__restrict__ total,
	u32 room, const u8 *logits, i64 logitsPitch, const u8 *kinds, i64 kindsPitch, const u8 *red, i64 redPitch, const u8 *green,
	i64 greenPitch, const u8 *blue, i64 bluePitch, int w) {
	u32 n = *total;
	if (n > room)
		return;
	view p = {logits, kinds, red, green, blue, logitsPitch, kindsPitch, redPitch, greenPitch, bluePitch};
	int turn = threadIdx.x % team, teams = gridDim.x * blockDim.x / team;
	// All teams of a warp take part in the sums.
	for (u32 first = 0; first < n; first += teams) {
		u32 i = first + (blockIdx.x * blockDim.x + threadIdx.x) / team;
		span s = {0, 0, 0, none};
		if (i < n && spans[i].label != none)
			s = spans[i];
		u32 sums[4] = {0, 0, 0, 0};
		u64 peak = 0;
		const u8 *logitRow = rowOf(p.logits, p.logitsPitch, s.y), *kindRow = rowOf(p.kinds, p.kindsPitch, s.y);
		for (int x = s.x0 + turn; x < s.x1; x += team) {
			u32 kind = kindRow[x] & 3, logit = logitRow[x];
#pragma unroll
			for (int k = 0; k < 4; k++)
				sums[k] += kind == k ? logit : 0;
			u64 v = (u64)p.lightness(x, s.y) << 32 | (0xffffffffu - ((u32)s.y * (u32)w + (u32)x));
			peak = max(peak, v);
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			sums[k] = sumOf(sums[k]);
		for (int d = team / 2; d; d /= 2) {
			u64 other = __shfl_xor_sync(0xffffffff, peak, d);
			peak = max(peak, other);
		}
		if (s.label == none)
			continue;
		glintProps *o = out + s.label;
		if (turn < 4)
			atomicSum(&o->sums[turn], turn == 0 ? sums[0] : turn == 1 ? sums[1] : turn == 2 ? sums[2] : sums[3]);
		else if (turn == 4)
			atomicAdd(&o->area, (u32)(s.x1 - s.x0));
		else if (turn == 5)
			atomicMax(peaks + s.label, peak);
	}
}

static const int groundRadius = 12, groundLeast = 50, groundThreads = 256;

// groundOf is the median of the lightness or of the darkest channels around a pixel, in each lane of a warp, which counts them in
// shared memory: those of all pixels below, those with a logit of 0 above.
template <bool dark> static __device__ u32 groundOf(const view &p, u32 *count, int px, int py, int w, int h) {
	int lane = threadIdx.x % 32;
	for (int k = lane; k < 256; k += 32)
		count[k] = 0;
	__syncwarp();
	int x0 = max(px - groundRadius, 0), x1 = min(px + groundRadius, w - 1), y0 = max(py - groundRadius, 0);
	int y1 = min(py + groundRadius, h - 1), across = x1 - x0 + 1, pixels = across * (y1 - y0 + 1);
	for (int k = lane; k < pixels; k += 32) {
		int x = x0 + k % across, y = y0 + k / across;
		atomicAdd(count + (dark ? p.darkest(x, y) : p.lightness(x, y)), rowOf(p.logits, p.logitsPitch, y)[x] == 0 ? 0x10001u : 1u);
	}
	__syncwarp();
	// A lane has eight values.
	u32 sum = 0;
	for (int k = 8 * lane; k < 8 * lane + 8; k++)
		sum += count[k];
	u32 all = sum;
	for (int d = 1; d < 32; d *= 2) {
		u32 other = __shfl_up_sync(0xffffffff, all, d);
		if (lane >= d)
			all += other;
	}
	u32 whole = __shfl_sync(0xffffffff, all, 31);
	int shift = whole >> 16 >= groundLeast ? 16 : 0;
	u32 middle = ((whole >> shift & 0xffff) - 1) / 2, before = (all - sum) >> shift & 0xffff, ground = 0;
	for (int k = 8 * lane; k < 8 * lane + 8; k++) {
		u32 own = count[k] >> shift & 0xffff;
		if (before <= middle && middle < before + own)
			ground = k;
		before += own;
	}
	for (int d = 16; d; d /= 2) {
		u32 other = __shfl_xor_sync(0xffffffff, ground, d);
		ground = max(ground, other);
	}
	return ground;
}

// glintGround completes the measures of *total components: where the peak is, and the medians around it. A warp takes one
// component.
extern "C" __global__ void __launch_bounds__(groundThreads) glintGround(glintProps *out, const u64 *__restrict__ peaks,
	const u32 *__restrict__ total, u32 room, const u8 *logits, i64 logitsPitch, const u8 *red, i64 redPitch, const u8 *green,
	i64 greenPitch, const u8 *blue, i64 bluePitch, int w, int h) {
	__shared__ u32 counts[groundThreads / 32][256];
	u32 runs = total[0], n = total[1];
	if (runs > room)
		return;
	view p = {logits, nullptr, red, green, blue, logitsPitch, 0, redPitch, greenPitch, bluePitch};
	int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
	u32 *count = counts[threadIdx.x / 32];
	for (u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
		u64 peak = peaks[i];
		// Of an empty component nothing is known.
		if (peak == 0)
			continue;
		u32 at = 0xffffffffu - (u32)peak;
		int px = at % (u32)w, py = at / (u32)w;
		u32 ground = groundOf<false>(p, count, px, py, w, h), darkGround = groundOf<true>(p, count, px, py, w, h);
		if (lane == 0) {
			out[i].x = px;
			out[i].y = py;
			out[i].peak = peak >> 32;
			out[i].ground = ground;
			out[i].darkPeak = p.darkest(px, py);
			out[i].darkGround = darkGround;
		}
		__syncwarp();
	}
}
