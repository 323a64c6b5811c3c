// Sums over components, and what their surroundings look like.
#include "common.cuh"

struct span {
	int y, x0, x1;
	u32 label;
};

static const u32 none = 0xffffffff;
static const u8 classWide = 1, classCore = 4;

// sums are those of a set of pixels, all zero before. Least values are kept as their distance from the greatest integer.
struct sums {
	u64 n, sx, sy, sxx, sxy, syy;
	u32 left, top, right, base;
};

// tally is what is summed up of a component, all zero before.
struct tally {
	sums core, all;
	u64 contrast, level, background, spread;
	u32 peakContrast, peakY, starlet, darkest, slope, edge, leaks, pad;
};

static const u32 greatest = 0x7fffffff;

__device__ __forceinline__ void atomicSum(u64 *p, u64 v) {
	if (v)
		atomicAdd(p, v);
}

__device__ __forceinline__ void atomicMost(u32 *p, u32 v) {
	if (v)
		atomicMax(p, v);
}

// add takes in n pixels of row y of which x and xx are the sums of columns and of their squares, the first at column a, the
// last at column b − 1.
__device__ void add(sums *s, u64 n, u64 x, u64 xx, u64 y, u32 a, u32 b) {
	if (n == 0)
		return;
	atomicAdd(&s->n, n);
	atomicSum(&s->sx, x);
	atomicSum(&s->sy, n * y);
	atomicSum(&s->sxx, xx);
	atomicSum(&s->sxy, x * y);
	atomicSum(&s->syy, n * y * y);
	atomicMost(&s->left, greatest - a);
	atomicMost(&s->top, greatest - (u32)y);
	atomicMost(&s->right, b);
	atomicMost(&s->base, (u32)y + 1);
}

// A team of threads takes a span; most are short.
static const int team = 8;

template <class T> __device__ T sumOf(T v) {
	for (int d = team / 2; d; d /= 2)
		v += __shfl_xor_sync(0xffffffff, v, d);
	return v;
}

__device__ u32 most(u32 v) {
	for (int d = team / 2; d; d /= 2)
		v = max(v, __shfl_xor_sync(0xffffffff, v, d));
	return v;
}

extern "C" __global__ void tallySpans(tally *out, const span *__restrict__ spans, int n, const u8 *__restrict__ clsP, i64 clsPitch,
	const u8 *__restrict__ memberP, i64 memberPitch, const u16 *__restrict__ yP, i64 yPitch, const u16 *__restrict__ bP,
	i64 bPitch, const u8 *__restrict__ vP, i64 vPitch, const u16 *__restrict__ spreadP, i64 spreadPitch,
	const u16 *__restrict__ starletP, i64 starletPitch, const u8 *__restrict__ encode, int w, int h) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / team, turn = threadIdx.x % team;
	span s = {0, 0, 0, none};
	if (i < n && spans[i].label != none)
		s = spans[i];
	const u16 *yRow = rowOf(yP, yPitch, s.y), *bRow = rowOf(bP, bPitch, s.y);
	const u16 *spreadRow = rowOf(spreadP, spreadPitch, s.y), *starletRow = rowOf(starletP, starletPitch, s.y);
	const u8 *vRow = rowOf(vP, vPitch, s.y), *clsRow = rowOf(clsP, clsPitch, s.y);
	u64 cores = 0, sx = 0, sxx = 0, contrast = 0, level = 0, background = 0, spread = 0;
	u32 left = 0, right = 0, peakContrast = 0, peakY = 0, starlet = 0, darkest = 0, slope = 0, edge = 0, leaks = 0;
	for (int x = s.x0 + turn; x < s.x1; x += team) {
		u32 y = yRow[x], b = bRow[x], v = vRow[x], d = y > b ? y - b : 0;
		if (clsRow[x] & classCore) {
			cores++;
			sx += x;
			sxx += (u64)x * x;
			contrast += d;
			level += v;
			left = max(left, greatest - x);
			right = max(right, x + 1);
		}
		background += b;
		spread += spreadRow[x];
		peakContrast = max(peakContrast, d);
		peakY = max(peakY, y);
		starlet = max(starlet, (u32)starletRow[x]);
		darkest = max(darkest, (u32)(u8)max(2 * (int)v - (int)encode[y], 0));
		if (x + 1 < s.x1)
			slope = max(slope, (u32)abs((int)v - (int)vRow[x + 1]));
		bool inner = true, leak = false;
		for (int py = max(s.y - 1, 0); py <= min(s.y + 1, h - 1); py++)
			for (int px = max(x - 1, 0); px <= min(x + 1, w - 1); px++)
				if (rowOf(memberP, memberPitch, py)[px] == 0) {
					inner = false;
					leak = leak || rowOf(clsP, clsPitch, py)[px] & classWide;
				}
		edge += !inner;
		leaks += leak;
	}
	cores = sumOf(cores), sx = sumOf(sx), sxx = sumOf(sxx);
	contrast = sumOf(contrast), level = sumOf(level), background = sumOf(background), spread = sumOf(spread);
	edge = sumOf(edge), leaks = sumOf(leaks), left = most(left), right = most(right);
	peakContrast = most(peakContrast), peakY = most(peakY), starlet = most(starlet), darkest = most(darkest), slope = most(slope);
	if (s.label == none)
		return;
	// Each of the team hands in a part.
	tally *o = out + s.label;
	u64 a = s.x0, b = s.x1;
	switch (turn) {
	case 0:
		add(&o->all, b - a, (a + b - 1) * (b - a) / 2, ((b - 1) * b * (2 * b - 1) - (a ? (a - 1) * a * (2 * a - 1) : 0)) / 6, s.y, a, b);
		break;
	case 1:
		add(&o->core, cores, sx, sxx, s.y, greatest - left, right);
		break;
	case 2:
		atomicSum(&o->contrast, contrast);
		atomicSum(&o->level, level);
		atomicSum(&o->background, background);
		atomicSum(&o->spread, spread);
		break;
	case 3:
		atomicMost(&o->peakContrast, peakContrast);
		atomicMost(&o->peakY, peakY);
		atomicMost(&o->starlet, starlet);
		break;
	case 4:
		atomicMost(&o->darkest, darkest);
		atomicMost(&o->slope, slope);
		break;
	case 5:
		if (edge)
			atomicAdd(&o->edge, edge);
		if (leaks)
			atomicAdd(&o->leaks, leaks);
	}
}

// glintProps is processing.GlintProps, all zero before.
struct glintProps {
	u64 sums[4];
	u32 area;
	int x, y;
	u8 peak, ground, pad[2];
};

// view are the planes that glints are measured in.
struct view {
	const u8 *logits, *kinds, *red, *green, *blue;
	i64 logitsPitch, kindsPitch, redPitch, greenPitch, bluePitch;
	__device__ __forceinline__ u32 value(int x, int y) const {
		u32 r = rowOf(red, redPitch, y)[x], g = rowOf(green, greenPitch, y)[x], b = rowOf(blue, bluePitch, y)[x];
		return max(min(r, min(g, b)), (r + 2 * g + b + 2) >> 2);
	}
};

// glintSums adds up the components, and keeps the largest value of each with the complement of its pixel's index, so that the
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
			u64 v = (u64)p.value(x, s.y) << 32 | (0xffffffffu - ((u32)s.y * (u32)w + (u32)x));
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

// glintGround completes the measures of *total components: where the peak is, and the median of the values around it. A warp
// takes one component, and counts values in shared memory: those of all pixels below, those with a logit of 0 above.
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
		for (int k = lane; k < 256; k += 32)
			count[k] = 0;
		__syncwarp();
		int x0 = max(px - groundRadius, 0), x1 = min(px + groundRadius, w - 1), y0 = max(py - groundRadius, 0);
		int y1 = min(py + groundRadius, h - 1), across = x1 - x0 + 1, pixels = across * (y1 - y0 + 1);
		for (int k = lane; k < pixels; k += 32) {
			int x = x0 + k % across, y = y0 + k / across;
			atomicAdd(count + p.value(x, y), rowOf(p.logits, p.logitsPitch, y)[x] == 0 ? 0x10001u : 1u);
		}
		__syncwarp();
		// A lane has eight values.
		u32 sum = 0;
		for (int k = 8 * lane; k < 8 * lane + 8; k++)
			sum += count[k];
		u32 below = 0, all = sum;
		for (int d = 1; d < 32; d *= 2) {
			u32 other = __shfl_up_sync(0xffffffff, all, d);
			if (lane >= d)
				all += other;
		}
		below = all - sum;
		u32 whole = __shfl_sync(0xffffffff, all, 31);
		int shift = whole >> 16 >= groundLeast ? 16 : 0;
		u32 middle = ((whole >> shift & 0xffff) - 1) / 2, before = below >> shift & 0xffff;
		for (int k = 8 * lane; k < 8 * lane + 8; k++) {
			u32 own = count[k] >> shift & 0xffff;
			if (before <= middle && middle < before + own)
				out[i].ground = k;
			before += own;
		}
		if (lane == 0) {
			out[i].x = px;
			out[i].y = py;
			out[i].peak = peak >> 32;
		}
		__syncwarp();
	}
}
