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

// addRun takes in columns a…b−1 of row y, by closed forms.
__device__ void addRun(sums *s, u64 a, u64 b, u64 y) {
	u64 n = b - a, sum = (a + b - 1) * n / 2;
	atomicSum(&s->n, n);
	atomicSum(&s->sx, sum);
	atomicSum(&s->sy, n * y);
	atomicSum(&s->sxx, (b - 1) * b * (2 * b - 1) / 6 - (a ? (a - 1) * a * (2 * a - 1) / 6 : 0));
	atomicSum(&s->sxy, sum * y);
	atomicSum(&s->syy, n * y * y);
	atomicMost(&s->left, greatest - (u32)a);
	atomicMost(&s->top, greatest - (u32)y);
	atomicMost(&s->right, (u32)b);
	atomicMost(&s->base, (u32)y + 1);
}

// A thread takes a span.
extern "C" __global__ void tallySpans(tally *out, const span *__restrict__ spans, int n, const u8 *__restrict__ clsP, i64 clsPitch,
	const u8 *__restrict__ memberP, i64 memberPitch, const u16 *__restrict__ yP, i64 yPitch, const u16 *__restrict__ bP,
	i64 bPitch, const u8 *__restrict__ vP, i64 vPitch, const u16 *__restrict__ spreadP, i64 spreadPitch,
	const u16 *__restrict__ starletP, i64 starletPitch, const u8 *__restrict__ encode, int w, int h) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n || spans[i].label == none)
		return;
	span s = spans[i];
	tally *o = out + s.label;
	addRun(&o->all, s.x0, s.x1, s.y);
	const u16 *yRow = rowOf(yP, yPitch, s.y), *bRow = rowOf(bP, bPitch, s.y);
	const u16 *spreadRow = rowOf(spreadP, spreadPitch, s.y), *starletRow = rowOf(starletP, starletPitch, s.y);
	const u8 *vRow = rowOf(vP, vPitch, s.y), *clsRow = rowOf(clsP, clsPitch, s.y);
	u64 contrast = 0, level = 0, background = 0, spread = 0;
	u32 peakContrast = 0, peakY = 0, starlet = 0, darkest = 0, slope = 0, edge = 0, leaks = 0;
	int core = s.x1; // where a run of core pixels began
	for (int x = s.x0; x < s.x1; x++) {
		u32 y = yRow[x], b = bRow[x], v = vRow[x], d = y > b ? y - b : 0;
		if (clsRow[x] & classCore) {
			contrast += d;
			level += v;
			core = min(core, x);
		} else if (core < x) {
			addRun(&o->core, core, x, s.y);
			core = s.x1;
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
	if (core < s.x1)
		addRun(&o->core, core, s.x1, s.y);
	atomicSum(&o->contrast, contrast);
	atomicSum(&o->level, level);
	atomicSum(&o->background, background);
	atomicSum(&o->spread, spread);
	atomicMost(&o->peakContrast, peakContrast);
	atomicMost(&o->peakY, peakY);
	atomicMost(&o->starlet, starlet);
	atomicMost(&o->darkest, darkest);
	atomicMost(&o->slope, slope);
	if (edge)
		atomicAdd(&o->edge, edge);
	if (leaks)
		atomicAdd(&o->leaks, leaks);
}
