// The network that finds glints: its input planes and its layers. Activations are bytes of 0...127, channels innermost and
// padded with zeros to a multiple of 16, rows without padding; four of a pixel's channels are a group, one word. GPUs from
// compute capability 8.0 on have tensor cores for bytes, on which the usual layers run. Everything is exact in integers;
// training/integer.py and planes.py define it.
#include "common.cuh"

// source is an earlier layer, or the input: `groups` words a pixel, rows of w pixels, each for 2^shift × 2^shift of the finest.
struct source {
	const u32 *p;
	int groups, shift, w;
};

// head is where the result of the last layer goes: the logits of glare plus offset, and the kinds; both may be null.
struct head {
	u8 *dst;
	i64 pitch;
	u8 *kinds;
	i64 kindsPitch;
	int offset;
};

__device__ __forceinline__ u32 cut(int v, int most) { return min(max(v, 0), most); }

// result writes a pixel: its logit, and the index of the largest of 0 and the others, the lowest of equal ones.
__device__ __forceinline__ void result(const head &to, int x, int y, u32 logit, u32 k1, u32 k2, u32 k3) {
	if (to.dst != nullptr)
		rowOf(to.dst, to.pitch, y)[x] = logit;
	if (to.kinds == nullptr)
		return;
	u32 most = max(k1, max(k2, k3));
	rowOf(to.kinds, to.kindsPitch, y)[x] = most == 0 ? 0 : k1 == most ? 1 : k2 == most ? 2 : 3;
}

// The surroundings of a cell are the cells at most this far away in both directions.
static const int reach = 8;
// A block of inputThreads threads goes down inputRows rows of cells, with a column of cells each; those at its sides only add.
static const int inputThreads = 128, inputRows = 32;

// cell is the sums over 2 × 2 pixels: red and green, blue and the darkest channel in the halves of a word each, lightness, and
// its squares.
struct cell {
	u32 redGreen, blueLow, light, square;
};

// quad is the four pixels of a cell: two above, two below.
struct quad {
	u32 r[4], g[4], b[4], low[4];
};

__device__ __forceinline__ quad quadAt(const u8 *r, i64 rPitch, const u8 *g, i64 gPitch, const u8 *b, i64 bPitch, int x, int y,
	int w, int h) {
	quad q;
	// Sides of odd length are extended by their last pixels.
	int x0 = 2 * x, x1 = min(x0 + 1, w - 1), y0 = 2 * y, y1 = min(y0 + 1, h - 1);
	const u8 *r0 = rowOf(r, rPitch, y0), *r1 = rowOf(r, rPitch, y1);
	const u8 *g0 = rowOf(g, gPitch, y0), *g1 = rowOf(g, gPitch, y1);
	const u8 *b0 = rowOf(b, bPitch, y0), *b1 = rowOf(b, bPitch, y1);
	q.r[0] = r0[x0], q.r[1] = r0[x1], q.r[2] = r1[x0], q.r[3] = r1[x1];
	q.g[0] = g0[x0], q.g[1] = g0[x1], q.g[2] = g1[x0], q.g[3] = g1[x1];
	q.b[0] = b0[x0], q.b[1] = b0[x1], q.b[2] = b1[x0], q.b[3] = b1[x1];
#pragma unroll
	for (int i = 0; i < 4; i++)
		q.low[i] = min(q.r[i], min(q.g[i], q.b[i]));
	return q;
}

__device__ __forceinline__ cell sumOf(const quad &q) {
	cell c = {0, 0, 0, 0};
#pragma unroll
	for (int i = 0; i < 4; i++) {
		c.redGreen += q.r[i] | q.g[i] << 16;
		c.blueLow += q.b[i] | q.low[i] << 16;
		u32 light = (q.r[i] + 2 * q.g[i] + q.b[i] + 2) >> 2;
		c.light += light;
		c.square += light * light;
	}
	return c;
}

// rootOf is the integer square root of v < 2⁴⁰.
__device__ __forceinline__ u32 rootOf(u64 v) {
	u32 r = (u32)__fsqrt_rn((float)v);
	while ((u64)r * r > v)
		r--;
	while ((u64)(r + 1) * (r + 1) <= v)
		r++;
	return r;
}

// All that follows computes some rows of a picture of w × h pixels or cells: those from first to last − 1.

// networkInput writes the input planes of the pixels, four words each. The sums of the columns slide
// down the picture; those of the windows are added up from them. Its rows are those of cells.
extern "C" __global__ void __launch_bounds__(inputThreads) networkInput(uint4 *__restrict__ dst, const u8 *__restrict__ r, i64 rPitch,
	const u8 *__restrict__ g, i64 gPitch, const u8 *__restrict__ b, i64 bPitch, int w, int h, int first, int last) {
	__shared__ uint4 columns[2][inputThreads];
	const int fraction = 20, half = 1 << (fraction - 1);
	int cw = (w + 1) / 2, ch = (h + 1) / 2;
	int x = blockIdx.x * (inputThreads - 2 * reach) + (int)threadIdx.x - reach;
	bool in = x >= 0 && x < cw, out = in && (int)threadIdx.x >= reach && (int)threadIdx.x < inputThreads - reach;
	int top = first + blockIdx.y * inputRows, bottom = min(top + inputRows, last);
	cell sum = {0, 0, 0, 0};
	int across = min(x + reach, cw - 1) - max(x - reach, 0) + 1;
	for (int y = top - reach; y < bottom + reach; y++) {
		// The row y comes in; the windows are about the row reach above it.
		if (in && y >= 0 && y < ch) {
			cell c = sumOf(quadAt(r, rPitch, g, gPitch, b, bPitch, x, y, w, h));
			sum.redGreen += c.redGreen, sum.blueLow += c.blueLow, sum.light += c.light, sum.square += c.square;
		}
		int at = y - reach;
		if (at < top)
			continue;
		int gone = at - reach - 1;
		if (in && at > top && gone >= 0) {
			cell c = sumOf(quadAt(r, rPitch, g, gPitch, b, bPitch, x, gone, w, h));
			sum.redGreen -= c.redGreen, sum.blueLow -= c.blueLow, sum.light -= c.light, sum.square -= c.square;
		}
		uint4 *row = columns[at & 1];
		row[threadIdx.x] = make_uint4(sum.redGreen, sum.blueLow, sum.light, sum.square);
		__syncthreads();
		if (!out)
			continue;
		// Red, green, blue and the darkest channel.
		int means[4] = {0, 0, 0, 0};
		u32 light = 0, square = 0;
#pragma unroll
		for (int i = -reach; i <= reach; i++) {
			uint4 c = row[(int)threadIdx.x + i];
			means[0] += c.x & 0xffff, means[1] += c.x >> 16;
			means[2] += c.y & 0xffff, means[3] += c.y >> 16;
			light += c.z, square += c.w;
		}
		u32 n = 4 * across * (min(at + reach, ch - 1) - max(at - reach, 0) + 1);
		u32 deviation = rootOf((u64)n * square - (u64)light * light);
		int gain = (8u << fraction) / (deviation + (5 * light >> 6) + 3 * n), share = (32u << fraction) / (light + 10 * n);
		u32 around = cut((2 * (int)deviation * share + half) >> fraction, 127) | cut((means[0] * share + half) >> fraction, 127) << 8 |
			cut((means[2] * share + half) >> fraction, 127) << 16 | cut((means[3] * share + half) >> fraction, 127) << 24;
		quad q = quadAt(r, rPitch, g, gPitch, b, bPitch, x, at, w, h);
		int byGain = (int)n * gain, byShare = (int)n * share;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int px = 2 * x + i % 2, py = 2 * at + i / 2;
			if (px >= w || py >= h)
				continue;
			u32 v[4] = {q.r[i], q.g[i], q.b[i], q.low[i]}, normal = 0, ratio = 0, own = 0;
#pragma unroll
			for (int c = 0; c < 4; c++) {
				normal |= cut(((int)v[c] * byGain - means[c] * gain + (32 << fraction) + half) >> fraction, 127) << 8 * c;
				ratio |= cut(((int)v[c] * byShare + half) >> fraction, 127) << 8 * c;
				own |= v[c] / 2 << 8 * c;
			}
			dst[(i64)py * w + px] = make_uint4(normal, ratio, around, own);
		}
	}
}

// mean4 is the rounded means of four words, byte by byte.
__device__ __forceinline__ u32 mean4(u32 a, u32 b, u32 c, u32 d) {
	const u32 even = 0x00ff00ff, two = 0x00020002;
	u32 low = (a & even) + (b & even) + (c & even) + (d & even) + two;
	u32 high = (a >> 8 & even) + (b >> 8 & even) + (c >> 8 & even) + (d >> 8 & even) + two;
	return (low >> 2 & even) | (high >> 2 & even) << 8;
}

// networkPool writes the rounded means of 2 × 2 pixels of a source of w × h, quads times four groups of channels; an odd side
// repeats its last row or column. A thread writes four groups.
extern "C" __global__ void networkPool(uint4 *__restrict__ dst, const uint4 *__restrict__ src, int quads, int w, int h, int first) {
	int ow = (w + 1) / 2;
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = i / quads, y = first + blockIdx.y;
	if (x >= ow)
		return;
	int x1 = min(2 * x + 1, w - 1), y1 = min(2 * y + 1, h - 1), quad = i % quads;
	const uint4 *upper = src + (i64)(2 * y) * w * quads + quad, *lower = src + (i64)y1 * w * quads + quad;
	uint4 a = upper[2 * x * quads], b = upper[x1 * quads], c = lower[2 * x * quads], d = lower[x1 * quads];
	dst[(i64)y * ow * quads + i] = make_uint4(mean4(a.x, b.x, c.x, d.x), mean4(a.y, b.y, c.y, d.y), mean4(a.z, b.z, c.z, d.z),
		mean4(a.w, b.w, c.w, d.w));
}

__device__ __forceinline__ int dot4(u32 a, u32 q, int sum) {
#pragma unroll
	for (int i = 0; i < 32; i += 8)
		sum += (int)(a >> i & 255) * (int)(signed char)(q >> i);
	return sum;
}

// layer is the sums of four output channels of a pixel, of a convolution of side × side (1 or 3) over the groups of all sources.
// The sources have w × h pixels at the finest.
__device__ __forceinline__ void layer(int sum[4], const source *__restrict__ sources, int count, int w, int h,
	const u32 *__restrict__ weights, const int *__restrict__ bias, int side, int dilation, int groups, int group, int x, int y) {
#pragma unroll
	for (int o = 0; o < 4; o++)
		sum[o] = bias[4 * group + o];
	int taps = side * side;
	for (int tap = 0; tap < taps; tap++) {
		int px = x + (tap % side - side / 2) * dilation, py = y + (tap / side - side / 2) * dilation;
		if (px < 0 || px >= w || py < 0 || py >= h)
			continue;
		const uint4 *q = (const uint4 *)weights + (i64)(group * taps + tap) * groups;
		for (int s = 0; s < count; s++) {
			source from = sources[s];
			const u32 *p = from.p + ((i64)(py >> from.shift) * from.w + (px >> from.shift)) * from.groups;
			for (int g = 0; g < from.groups; g++, q++) {
				u32 a = p[g];
				sum[0] = dot4(a, q->x, sum[0]);
				sum[1] = dot4(a, q->y, sum[1]);
				sum[2] = dot4(a, q->z, sum[2]);
				sum[3] = dot4(a, q->w, sum[3]);
			}
		}
	}
}

// networkLayer writes outGroups words a pixel of w × h; a thread writes one. Biases have what rounds added already.
extern "C" __global__ void networkLayer(u32 *__restrict__ dst, const source *__restrict__ sources, int count, int w, int h,
	const u32 *__restrict__ weights, const int *__restrict__ bias, const int *__restrict__ shift, int side, int dilation,
	int groups, int outGroups, int first) {
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = i / outGroups, group = i % outGroups, y = first + blockIdx.y;
	if (x >= w)
		return;
	int sum[4];
	layer(sum, sources, count, w, h, weights, bias, side, dilation, groups, group, x, y);
	u32 word = 0;
#pragma unroll
	for (int o = 0; o < 4; o++)
		word |= cut(sum[o] >> shift[4 * group + o], 127) << 8 * o;
	dst[((i64)y * w + x) * outGroups + group] = word;
}

// networkLogits is the last layer.
extern "C" __global__ void networkLogits(u8 *dst, i64 pitch, u8 *kinds, i64 kindsPitch, int offset,
	const source *__restrict__ sources, int count, const u32 *__restrict__ weights, const int *__restrict__ bias,
	const int *__restrict__ shift, int side, int dilation, int groups, int h, int first, int w, int rows) {
	PIXEL(x, y, w, rows);
	y += first;
	int sum[4];
	layer(sum, sources, count, w, h, weights, bias, side, dilation, groups, 0, x, y);
	head to = {dst, pitch, kinds, kindsPitch, offset};
	result(to, x, y, cut((sum[0] >> shift[0]) + offset, 255), cut(sum[1] >> shift[1], 255), cut(sum[2] >> shift[2], 255),
		cut(sum[3] >> shift[3], 255));
}

// What follows are the same layers as products of matrices on tensor cores. A warp takes 16 pixels at a time (rows of the
// matrix), 32 of their inputs (columns) and 8 outputs: mma.m16n8k32. Four inputs of one lane are a group of channels, so a step
// takes eight groups: two quads, each of four groups of one pixel that follow each other. Weights stay in registers while a
// block goes from tile to tile. __CUDA_ARCH__ is what the compiler makes PTX for.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// Most threads of a block; a convolution may have fewer, where registers are short.
static const int threads = 256;
// Tiles are tileColumns wide; a row has two matrices.
static const int tileColumns = 32;

// multiply adds the product of 16 × 32 activations and 32 × 8 weights to c. A lane 4q + t holds of the activations the groups t
// and t + 4 of the rows q and q + 8 (a[0] and a[2], a[1] and a[3]), of the weights those groups of column q, and of the sums the
// columns 2t and 2t + 1 of rows q and q + 8.
#ifdef __CUDACC__
__device__ __forceinline__ void multiply(int c[4], const u32 a[4], uint2 b) {
	asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}
#else
inline void multiply(int c[4], const u32 a[4], uint2 b) { emulatedMultiply(c, a, b); }
#endif

// fragment loads activations for multiply from shared memory: the quads at two offsets, for 16 pixels that are stride words
// apart. Each lane gives the address of one quad of a pixel.
__device__ __forceinline__ void fragment(u32 a[4], const u32 *tile, int stride, int offset0, int offset1) {
	int lane = threadIdx.x % 32;
#ifdef __CUDACC__
	const u32 *p = tile + lane % 16 * stride + (lane < 16 ? offset0 : offset1);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		: "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
		: "r"((u32)__cvta_generic_to_shared(p)));
#else
	for (int i = 0; i < 4; i++)
		a[i] = tile[(lane / 4 + i % 2 * 8) * stride + (i < 2 ? offset0 : offset1) + lane % 4];
#endif
}

// packed are sums of a lane made activations: channels 2t and 2t + 1 of row q below, of row q + 8 above. Two lanes exchange
// halves, so that the even one has four channels of row q, the odd one those of row q + 8.
__device__ __forceinline__ u32 packed(const int c[4], u32 shift0, u32 shift1) {
	u32 v = (u32)min(max(c[0] >> shift0, 0), 127) | (u32)min(max(c[1] >> shift1, 0), 127) << 8 |
		(u32)min(max(c[2] >> shift0, 0), 127) << 16 | (u32)min(max(c[3] >> shift1, 0), 127) << 24;
	u32 other = __shfl_xor_sync(0xffffffffu, v, 1);
	return threadIdx.x & 1 ? other >> 16 | (v & 0xffff0000u) : (v & 0xffffu) | other << 16;
}

// outputs are the biases, with what rounds added, and shifts of the channels that a lane gets.
template <int NT> struct outputs {
	int bias[NT][2];
	u32 shift[NT];
	__device__ __forceinline__ outputs(const int *__restrict__ biases, const int *__restrict__ shifts, int first, int t) {
#pragma unroll
		for (int n = 0; n < NT; n++) {
			int o = first + 8 * n + 2 * t;
			bias[n][0] = biases[o], bias[n][1] = biases[o + 1];
			shift[n] = shifts[o] | shifts[o + 1] << 16;
		}
	}
	__device__ __forceinline__ void begin(int sum[NT][4]) const {
#pragma unroll
		for (int n = 0; n < NT; n++) {
			sum[n][0] = sum[n][2] = bias[n][0];
			sum[n][1] = sum[n][3] = bias[n][1];
		}
	}
	__device__ __forceinline__ u32 word(const int sum[4], int n) const { return packed(sum, shift[n] & 0xffff, shift[n] >> 16); }
};

// logits writes what the lanes of four channels hold of the last layer: two channels of the pixels x0 and x1 of a row in the
// lanes with t = 0 and t = 1.
__device__ __forceinline__ void logits(const head &to, const int c[4], u32 shift0, u32 shift1, int t, int x0, int x1, int y, int w) {
	int add = t ? 0 : to.offset;
	u32 v = cut((c[0] >> shift0) + add, 255) | cut(c[1] >> shift1, 255) << 8 | cut((c[2] >> shift0) + add, 255) << 16 |
		cut(c[3] >> shift1, 255) << 24;
	u32 other = __shfl_xor_sync(0xffffffffu, v, 1);
	int x = t ? x1 : x0;
	if (t >= 2 || x >= w)
		return;
	// All channels of the lane's pixel.
	u32 all = t ? other >> 16 | (v & 0xffff0000u) : (v & 0xffffu) | other << 16;
	result(to, x, y, all & 255, all >> 8 & 255, all >> 16 & 255, all >> 24);
}

// convolve is a convolution of 3 × 3 over one source with CG groups a pixel, for NT × 8 outputs a warp. `parts` warps share a
// matrix where there are more outputs. With HEAD a last layer of 1 × 1 follows at once, and dst may be null. A block keeps a
// tile of the source in shared memory, S words a pixel, so that the quads of eight pixels lie in different banks. Narrow
// convolutions take the two matrices of a row together, so that enough products are on their way.
template <int CG, int NT, bool HEAD>
__device__ __forceinline__ void convolve(u32 *__restrict__ dst, int outGroups, const u32 *__restrict__ src, int w, int h,
	const uint2 *__restrict__ weights, const int *__restrict__ biases, const int *__restrict__ shifts, int dilation, int parts,
	int rows, int first, int last, const head &end, const uint2 *__restrict__ lastWeights, const int *__restrict__ lastBias,
	const int *__restrict__ lastShift) {
	const int S = CG % 8 ? CG : CG + 4, quads = CG / 4, steps = (9 * quads + 1) / 2, words = 2 * NT, M = NT == 2 ? 2 : 1;
	// Only the widest layers are dilated; others have constant offsets.
	if (CG <= 8)
		dilation = 1;
	extern __shared__ __align__(16) u32 shared[];
	int warps = blockDim.x / 32;
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane / 4, t = lane % 4, part = warp % parts;
	u32 *stage = shared + warp * 16 * M * words, *tile = shared + warps * 16 * M * words;

	uint2 weight[steps][NT];
#pragma unroll
	for (int s = 0; s < steps; s++)
#pragma unroll
		for (int n = 0; n < NT; n++)
			weight[s][n] = weights[((part * steps + s) * NT + n) * 32 + lane];
	outputs<NT> out(biases, shifts, part * NT * 8, t);
	const int lastSteps = (words + 7) / 8;
	uint2 lastWeight[lastSteps];
	int lastFirst = 0, lastSecond = 0;
	u32 lastShifts = 0;
	if (HEAD) {
#pragma unroll
		for (int s = 0; s < lastSteps; s++)
			lastWeight[s] = lastWeights[s * 32 + lane];
		lastFirst = lastBias[2 * t], lastSecond = lastBias[2 * t + 1];
		lastShifts = lastShift[2 * t] | lastShift[2 * t + 1] << 16;
	}

	int inColumns = tileColumns + 2 * dilation, inRows = rows + 2 * dilation;
	int across = (w + tileColumns - 1) / tileColumns, tiles = across * ((last - first + rows - 1) / rows);
	for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
		int x0 = i % across * tileColumns, y0 = first + i / across * rows;
		int fromX = x0 - dilation, fromY = y0 - dilation;
		__syncthreads();
		const uint4 *from = (const uint4 *)src + ((i64)fromY * w + fromX) * quads;
#pragma unroll 4
		for (int k = threadIdx.x; k < inRows * inColumns * quads; k += blockDim.x) {
			int y = k / (inColumns * quads), x = k / quads - y * inColumns;
			uint4 v = make_uint4(0, 0, 0, 0);
			if (fromY + y >= 0 && fromY + y < h && fromX + x >= 0 && fromX + x < w)
				v = from[((i64)y * w + x) * quads + k % quads];
			*(uint4 *)(tile + k / quads * S + k % quads * 4) = v;
		}
		__syncthreads();
		for (int m = warp / parts * M; m < 2 * rows; m += warps / parts * M) {
			int y = m / 2, x = m % 2 * 16;
			if (y0 + y >= last || x0 + x >= w)
				continue;
			const u32 *at = tile + (y * inColumns + x) * S;
			int sum[M][NT][4];
#pragma unroll
			for (int k = 0; k < M; k++)
				out.begin(sum[k]);
#pragma unroll
			for (int s = 0; s < steps; s++) {
				// Beyond the last tap weights are 0.
				const int quad0 = 2 * s, quad1 = 2 * s + 1 < 9 * quads ? 2 * s + 1 : 0;
				const int tap0 = quad0 / quads, tap1 = quad1 / quads;
				u32 a[M][4];
#pragma unroll
				for (int k = 0; k < M; k++)
					fragment(a[k], at + 16 * k * S, S, (tap0 / 3 * inColumns + tap0 % 3) * dilation * S + quad0 % quads * 4,
						(tap1 / 3 * inColumns + tap1 % 3) * dilation * S + quad1 % quads * 4);
#pragma unroll
				for (int n = 0; n < NT; n++)
#pragma unroll
					for (int k = 0; k < M; k++)
						multiply(sum[k][n], a[k], weight[s][n]);
			}
			int mine = t % 2 ? q + 8 : q;
#pragma unroll
			for (int k = 0; k < M; k++)
#pragma unroll
				for (int n = 0; n < NT; n++)
					stage[(16 * k + mine) * words + 2 * n + t / 2] = out.word(sum[k][n], n);
			__syncwarp();
			if (HEAD) {
#pragma unroll
				for (int k = 0; k < M; k++) {
					int c[4] = {lastFirst, lastSecond, lastFirst, lastSecond};
#pragma unroll
					for (int s = 0; s < lastSteps; s++) {
						u32 a[4];
#pragma unroll
						for (int half = 0; half < 2; half++) {
							// Beyond the last group weights are 0.
							int group = 8 * s + 4 * half + t < words ? 8 * s + 4 * half + t : t;
							a[2 * half] = stage[(16 * k + q) * words + group];
							a[2 * half + 1] = stage[(16 * k + q + 8) * words + group];
						}
						multiply(c, a, lastWeight[s]);
					}
					int px = x0 + x + 16 * k + q;
					logits(end, c, lastShifts & 0xffff, lastShifts >> 16, t, px, px + 8, y0 + y, w);
				}
			}
			if (!HEAD || dst != nullptr) {
				u32 *to = dst + ((i64)(y0 + y) * w + x0 + x) * outGroups + part * words;
#pragma unroll
				for (int k = 0; k < M * words / 2; k++) {
					int pixel = (lane + 32 * k) / words, word = (lane + 32 * k) % words;
					if (x0 + x + pixel < w && part * words + word < outGroups)
						to[pixel * outGroups + word] = stage[lane + 32 * k];
				}
			}
			__syncwarp();
		}
	}
}

#define CONVOLVE(CG, NT)                                                                                               \
	extern "C" __global__ void __launch_bounds__(threads) networkConvolve##CG##x##NT(u32 *__restrict__ dst, int outGroups,     \
		const u32 *__restrict__ src, int w, int h, const uint2 *__restrict__ weights, const int *__restrict__ biases,      \
		const int *__restrict__ shifts, int dilation, int rows, int first, int last, int parts) {                      \
		head none = {nullptr, 0, nullptr, 0, 0};                                                                       \
		convolve<CG, NT, false>(dst, outGroups, src, w, h, weights, biases, shifts, dilation, parts, rows, first, last, \
			none, nullptr, nullptr, nullptr);                                                                          \
	}
#define CONVOLVE_END(CG, NT)                                                                                           \
	extern "C" __global__ void __launch_bounds__(threads) networkEnd##CG##x##NT(u32 *__restrict__ dst, int outGroups,          \
		const u32 *__restrict__ src, int w, int h, const uint2 *__restrict__ weights, const int *__restrict__ biases,      \
		const int *__restrict__ shifts, int dilation, int rows, int first, int last, u8 *logit, i64 pitch, u8 *kinds,       \
		i64 kindsPitch, int offset, const uint2 *__restrict__ lastWeights, const int *__restrict__ lastBias,                   \
		const int *__restrict__ lastShift) {                                                                           \
		head end = {logit, pitch, kinds, kindsPitch, offset};                                                          \
		convolve<CG, NT, true>(dst, outGroups, src, w, h, weights, biases, shifts, dilation, 1, rows, first, last, end, \
			lastWeights, lastBias, lastShift);                                                                         \
	}
CONVOLVE(4, 2)
CONVOLVE(4, 3)
CONVOLVE(4, 4)
CONVOLVE(8, 2)
CONVOLVE(8, 3)
CONVOLVE(8, 4)
CONVOLVE(12, 2)
CONVOLVE(12, 3)
CONVOLVE(16, 2)
CONVOLVE(16, 3)
CONVOLVE_END(4, 2)
CONVOLVE_END(8, 4)

// mix is a convolution of 1 × 1 over the groups of all sources, at most 4 × QUADS, for NT × 8 outputs a warp.
template <int QUADS, int NT>
__device__ __forceinline__ void mix(u32 *__restrict__ dst, int outGroups, const source *__restrict__ sources, int count,
	const uint2 *__restrict__ weights, const int *__restrict__ biases, const int *__restrict__ shifts, int parts, int w, int first,
	int last) {
	const int steps = QUADS / 2, words = 2 * NT;
	__shared__ u32 shared[threads / 32 * 16 * words];
	int warps = blockDim.x / 32;
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane / 4, t = lane % 4, part = warp % parts;
	u32 *stage = shared + warp * 16 * words;
	uint2 weight[steps][NT];
#pragma unroll
	for (int s = 0; s < steps; s++)
#pragma unroll
		for (int n = 0; n < NT; n++)
			weight[s][n] = weights[((part * steps + s) * NT + n) * 32 + lane];
	outputs<NT> out(biases, shifts, part * NT * 8, t);
	// The group of this lane in each quad. Beyond the last one weights are 0.
	const u32 *from[QUADS];
	int groups[QUADS], shift[QUADS], width[QUADS];
#pragma unroll
	for (int k = 0; k < QUADS; k++) {
		int s = 0, g = 4 * k + t;
		while (s < count && g >= sources[s].groups)
			g -= sources[s++].groups;
		if (s == count)
			s = 0, g = t;
		from[k] = sources[s].p + g;
		groups[k] = sources[s].groups, shift[k] = sources[s].shift, width[k] = sources[s].w;
	}
	int across = (w + 15) / 16;
	i64 all = (i64)across * (last - first);
	for (i64 i = blockIdx.x * (warps / parts) + warp / parts; i < all; i += (i64)gridDim.x * (warps / parts)) {
		int row = i / across, y = first + row, x0 = (int)(i - (i64)row * across) * 16, xa = min(x0 + q, w - 1), xb = min(x0 + q + 8, w - 1);
		u32 a[steps][4];
#pragma unroll
		for (int k = 0; k < QUADS; k++) {
			const u32 *row = from[k] + (i64)(y >> shift[k]) * width[k] * groups[k];
			a[k / 2][k % 2 * 2] = row[(xa >> shift[k]) * groups[k]];
			a[k / 2][k % 2 * 2 + 1] = row[(xb >> shift[k]) * groups[k]];
		}
		int sum[NT][4];
		out.begin(sum);
#pragma unroll
		for (int s = 0; s < steps; s++)
#pragma unroll
			for (int n = 0; n < NT; n++)
				multiply(sum[n], a[s], weight[s][n]);
		int mine = t % 2 ? q + 8 : q;
#pragma unroll
		for (int n = 0; n < NT; n++)
			stage[mine * words + 2 * n + t / 2] = out.word(sum[n], n);
		__syncwarp();
		u32 *to = dst + ((i64)y * w + x0) * outGroups + part * words;
#pragma unroll
		for (int k = 0; k < words / 2; k++) {
			int pixel = (lane + 32 * k) / words, word = (lane + 32 * k) % words;
			if (x0 + pixel < w && part * words + word < outGroups)
				to[pixel * outGroups + word] = stage[lane + 32 * k];
		}
		__syncwarp();
	}
}

#define MIX(QUADS, NT)                                                                                                 \
	extern "C" __global__ void __launch_bounds__(threads) networkMix##QUADS##x##NT(u32 *__restrict__ dst, int outGroups,       \
		const source *__restrict__ sources, int count, const uint2 *__restrict__ weights, const int *__restrict__ biases, \
		const int *__restrict__ shifts, int parts, int w, int first, int last) {                                       \
		mix<QUADS, NT>(dst, outGroups, sources, count, weights, biases, shifts, parts, w, first, last);                    \
	}
MIX(2, 2)
MIX(2, 3)
MIX(2, 4)
MIX(4, 2)
MIX(4, 3)
MIX(4, 4)
MIX(6, 2)
MIX(6, 3)
MIX(6, 4)
MIX(8, 2)
MIX(8, 3)
MIX(8, 4)
#endif
