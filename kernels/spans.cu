// Components as lists of spans: runs of pixels of one row with a label.
#include "common.cuh"

struct span {
	int y, x0, x1;
	u32 label;
};

static const u8 classWide = 1, classCore = 4;

// paint writes 255 along each span; a warp takes one.
extern "C" __global__ void paint(u8 *dst, i64 dstPitch, const span *__restrict__ spans, int n) {
	int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	if (i >= n)
		return;
	span s = spans[i];
	u8 *row = rowOf(dst, dstPitch, s.y);
	for (int x = s.x0 + threadIdx.x % 32; x < s.x1; x += 32)
		row[x] = 255;
}

// tally is what is summed up of a component, all zero before. Least values are kept as their distance from the greatest
// integer.
struct tally {
	u64 n, sx, sy, sxx, sxy, syy, contrast, level, background, spread;
	u32 left, top, right, base;
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

// A thread takes a span.
extern "C" __global__ void tallySpans(tally *out, const span *__restrict__ spans, int n, const u8 *__restrict__ clsP, i64 clsPitch,
	const u8 *__restrict__ memberP, i64 memberPitch, const u16 *__restrict__ yP, i64 yPitch, const u16 *__restrict__ bP,
	i64 bPitch, const u8 *__restrict__ vP, i64 vPitch, const u16 *__restrict__ spreadP, i64 spreadPitch,
	const u16 *__restrict__ starletP, i64 starletPitch, const u8 *__restrict__ encode, int w, int h) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	span s = spans[i];
	tally t = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	const u16 *yRow = rowOf(yP, yPitch, s.y), *bRow = rowOf(bP, bPitch, s.y);
	const u16 *spreadRow = rowOf(spreadP, spreadPitch, s.y), *starletRow = rowOf(starletP, starletPitch, s.y);
	const u8 *vRow = rowOf(vP, vPitch, s.y), *clsRow = rowOf(clsP, clsPitch, s.y);
	for (int x = s.x0; x < s.x1; x++) {
		u32 y = yRow[x], b = bRow[x], v = vRow[x], d = y > b ? y - b : 0;
		if (clsRow[x] & classCore) {
			t.n++;
			t.sx += x;
			t.sy += s.y;
			t.sxx += (u64)x * x;
			t.sxy += (u64)x * s.y;
			t.syy += (u64)s.y * s.y;
			t.contrast += d;
			t.level += v;
			t.left = max(t.left, greatest - x);
			t.right = max(t.right, x + 1);
			t.top = greatest - s.y;
			t.base = s.y + 1;
		}
		t.background += b;
		t.spread += spreadRow[x];
		t.peakContrast = max(t.peakContrast, d);
		t.peakY = max(t.peakY, y);
		t.starlet = max(t.starlet, (u32)starletRow[x]);
		t.darkest = max(t.darkest, (u32)(u8)max(2 * (int)v - (int)encode[y], 0));
		if (x + 1 < s.x1)
			t.slope = max(t.slope, (u32)abs((int)v - (int)vRow[x + 1]));
		bool inner = true, leak = false;
		for (int py = max(s.y - 1, 0); py <= min(s.y + 1, h - 1); py++)
			for (int px = max(x - 1, 0); px <= min(x + 1, w - 1); px++)
				if (rowOf(memberP, memberPitch, py)[px] == 0) {
					inner = false;
					leak = leak || rowOf(clsP, clsPitch, py)[px] & classWide;
				}
		t.edge += !inner;
		t.leaks += leak;
	}
	tally *o = out + s.label;
	atomicSum(&o->n, t.n);
	atomicSum(&o->sx, t.sx);
	atomicSum(&o->sy, t.sy);
	atomicSum(&o->sxx, t.sxx);
	atomicSum(&o->sxy, t.sxy);
	atomicSum(&o->syy, t.syy);
	atomicSum(&o->contrast, t.contrast);
	atomicSum(&o->level, t.level);
	atomicSum(&o->background, t.background);
	atomicSum(&o->spread, t.spread);
	atomicMost(&o->left, t.left);
	atomicMost(&o->top, t.top);
	atomicMost(&o->right, t.right);
	atomicMost(&o->base, t.base);
	atomicMost(&o->peakContrast, t.peakContrast);
	atomicMost(&o->peakY, t.peakY);
	atomicMost(&o->starlet, t.starlet);
	atomicMost(&o->darkest, t.darkest);
	atomicMost(&o->slope, t.slope);
	if (t.edge)
		atomicAdd(&o->edge, t.edge);
	if (t.leaks)
		atomicAdd(&o->leaks, t.leaks);
}
