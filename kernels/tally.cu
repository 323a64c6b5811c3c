// Sums over components.
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

template <class T> __device__ T total(T v) {
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
	cores = total(cores), sx = total(sx), sxx = total(sxx);
	contrast = total(contrast), level = total(level), background = total(background), spread = total(spread);
	edge = total(edge), leaks = total(leaks), left = most(left), right = most(right);
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
