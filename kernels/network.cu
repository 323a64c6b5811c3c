// The network that finds glints: its input planes and its layers. Activations are bytes of 0...127, channels innermost
// and padded with zeros to a multiple of 8, rows without padding; four of a pixel's channels are a group, one word. GPUs
// from compute capability 8.0 on have tensor cores for bytes, on which the usual layers run. Everything is exact in integers;
// training/integer.py and planes.py define it.
#include "common.cuh"

// source is an earlier layer, or the input: `groups` words a pixel, rows of w pixels, each for 2^shift × 2^shift of the finest.
struct source {
	const u32 *p;
	int groups, shift, w;
};

// logitOf is a logit as the result has it: cut to 16 bits, moved by offset, and cut to those of the result.
__device__ __forceinline__ u32 logitOf(int v, int offset) { return min(max(min(max(v, -32768), 32767) + offset, 0), 255); }

// The surroundings of a cell are the cells at most this far away in both directions.
static const int reach = 8;
static const int planeGroups = 6;
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

// normalised are four pixels of a channel against their surroundings, whose n pixels add up to sum.
__device__ __forceinline__ u32 normalised(const u32 *v, u32 n, u32 sum, u32 gain) {
	const int shift = 20;
	u32 word = 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int difference = (int)(v[i] * n) - (int)sum;
		int normal = (difference * (int)gain + (1 << (shift - 1))) >> shift;
		word |= (u32)min(max(32 + normal, 0), 127) << 8 * i;
	}
	return word;
}

// networkInput writes the input planes of the cells: planeGroups words each. The sums of the columns slide down the picture;
// those of the windows are added up from them.
extern "C" __global__ void __launch_bounds__(inputThreads) networkInput(u32 *__restrict__ dst, const u8 *__restrict__ r, i64 rPitch,
	const u8 *__restrict__ g, i64 gPitch, const u8 *__restrict__ b, i64 bPitch, int w, int h) {
	__shared__ uint4 columns[2][inputThreads];
	const int gain20 = 8 << 20, ease = 8;
	int cw = (w + 1) / 2, ch = (h + 1) / 2;
	int x = blockIdx.x * (inputThreads - 2 * reach) + (int)threadIdx.x - reach;
	bool in = x >= 0 && x < cw, out = in && (int)threadIdx.x >= reach && (int)threadIdx.x < inputThreads - reach;
	int top = blockIdx.y * inputRows, bottom = min(top + inputRows, ch);
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
		u32 red = 0, green = 0, blue = 0, low = 0, light = 0, square = 0;
#pragma unroll
		for (int i = -reach; i <= reach; i++) {
			uint4 c = row[(int)threadIdx.x + i];
			red += c.x & 0xffff, green += c.x >> 16;
			blue += c.y & 0xffff, low += c.y >> 16;
			light += c.z, square += c.w;
		}
		u32 n = 4 * across * (min(at + reach, ch - 1) - max(at - reach, 0) + 1);
		u32 deviation = rootOf((u64)n * square - (u64)light * light);
		u32 gain = gain20 / (deviation + ease * n);
		quad q = quadAt(r, rPitch, g, gPitch, b, bPitch, x, at, w, h);
		cell c = sumOf(q);
		u32 *to = dst + ((i64)at * cw + x) * planeGroups;
		to[0] = normalised(q.r, n, red, gain);
		to[1] = normalised(q.g, n, green, gain);
		to[2] = normalised(q.b, n, blue, gain);
		to[3] = normalised(q.low, n, low, gain);
		to[4] = (c.redGreen & 0xffff) >> 3 | c.redGreen >> 19 << 8 | (c.blueLow & 0xffff) >> 3 << 16 | c.blueLow >> 19 << 24;
		to[5] = red / (2 * n) | green / (2 * n) << 8 | blue / (2 * n) << 16 | min(2 * deviation / n, 127u) << 24;
	}
}

__device__ __forceinline__ int dot4(u32 a, u32 q, int sum) {
#pragma unroll
	for (int i = 0; i < 32; i += 8)
		sum += (int)(a >> i & 255) * (int)(signed char)(q >> i);
	return sum;
}

// layer is the sums of four output channels of a pixel: of a convolution of side × side (1 or 3) over the groups of all sources,
// or of each channel by itself where depth is set. The sources have w × h pixels at the finest.
__device__ __forceinline__ void layer(int sum[4], const source *__restrict__ sources, int count, int w, int h,
	const u32 *__restrict__ weights, const int *__restrict__ bias, int side, int dilation, int stride, int depth, int groups,
	int group, int x, int y) {
#pragma unroll
	for (int o = 0; o < 4; o++)
		sum[o] = bias[4 * group + o];
	int taps = side * side;
	for (int tap = 0; tap < taps; tap++) {
		int px = x * stride + (tap % side - side / 2) * dilation, py = y * stride + (tap / side - side / 2) * dilation;
		if (px < 0 || px >= w || py < 0 || py >= h)
			continue;
		if (depth) {
			u32 a = sources[0].p[((i64)py * sources[0].w + px) * sources[0].groups + group], q = weights[group * taps + tap];
#pragma unroll
			for (int o = 0; o < 4; o++)
				sum[o] += (int)(a >> 8 * o & 255) * (int)(signed char)(q >> 8 * o);
			continue;
		}
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

// networkLayer writes outGroups words a pixel of ow × oh; a thread writes one. Biases have what rounds added already.
extern "C" __global__ void networkLayer(u32 *__restrict__ dst, const source *__restrict__ sources, int count, int w, int h,
	const u32 *__restrict__ weights, const int *__restrict__ bias, const int *__restrict__ shift, int side, int dilation,
	int stride, int depth, int groups, int outGroups, int ow, int oh) {
	int i = blockIdx.x * blockDim.x + threadIdx.x, x = i / outGroups, group = i % outGroups, y = blockIdx.y;
	if (x >= ow)
		return;
	int sum[4];
	layer(sum, sources, count, w, h, weights, bias, side, dilation, stride, depth, groups, group, x, y);
	u32 word = 0;
#pragma unroll
	for (int o = 0; o < 4; o++)
		word |= (u32)min(max(sum[o] >> shift[4 * group + o], 0), 127) << 8 * o;
	dst[((i64)y * ow + x) * outGroups + group] = word;
}

// networkLogits is the last layer, whose four channels are the logits of a cell's pixels. What is written, into rows from…to
// of pw pixels, is the logit plus offset.
extern "C" __global__ void networkLogits(u8 *__restrict__ dst, i64 pitch, const source *__restrict__ sources, int count, int w,
	int h, const u32 *__restrict__ weights, const int *__restrict__ bias, const int *__restrict__ shift, int side, int dilation,
	int stride, int depth, int groups, int offset, int pw, int from, int to, int cw, int ch) {
	PIXEL(x, y, cw, ch);
	int sum[4];
	layer(sum, sources, count, w, h, weights, bias, side, dilation, stride, depth, groups, 0, x, y);
#pragma unroll
	for (int o = 0; o < 4; o++) {
		int px = 2 * x + o % 2, py = 2 * y + o / 2;
		if (px < pw && py >= from && py < to)
			rowOf(dst, pitch, py)[px] = logitOf(sum[o] >> shift[o], offset);
	}
}

// What follows are the same layers as products of matrices on tensor cores. A warp takes 16 pixels at a time (rows of the
// matrix), 32 of their inputs (columns) and 8 outputs: mma.m16n8k32. Four inputs of one lane are a group of channels, so a step
// takes eight groups: two quads, of which a lane holds one group each. Weights stay in registers while a block goes from tile
// to tile. __CUDA_ARCH__ is what the compiler makes PTX for.
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

// head is a last layer of 1 × 1 with four outputs, the logits of a cell's pixels.
struct head {
	u8 *dst;
	i64 pitch;
	int w, from, to; // columns of the picture, and the rows that are written
	int offset;
};

// logits writes what the lanes with t < 2 hold: the row t of the cells at px0 and px1 of the rows q and q + 8 of a matrix.
__device__ __forceinline__ void logits(const head &to, const int c[4], u32 shift0, u32 shift1, int t, int x0, int x1, int y, int w) {
	if (t >= 2 || 2 * y + t < to.from || 2 * y + t >= to.to)
		return;
	u8 *row = rowOf(to.dst, to.pitch, 2 * y + t);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		int x = i ? x1 : x0;
		if (x >= w)
			continue;
		u32 first = logitOf(c[2 * i] >> shift0, to.offset), second = logitOf(c[2 * i + 1] >> shift1, to.offset);
		if (2 * x + 1 < to.w)
			*(u16 *)(row + 2 * x) = first | second << 8;
		else
			row[2 * x] = first;
	}
}

// convolve is a convolution of 3 × 3 over one source with CG groups a pixel, for NT × 8 outputs a warp. `parts` warps share a
// matrix where there are more outputs. With HEAD a last layer follows at once, and dst may be null. A block keeps a tile of
// the source in shared memory, S words a pixel; the rows of a matrix are pixels whose words lie in different banks.
template <int CG, int NT, bool HEAD>
__device__ __forceinline__ void convolve(u32 *__restrict__ dst, int outGroups, const u32 *__restrict__ src, int w, int h,
	const uint2 *__restrict__ weights, const int *__restrict__ biases, const int *__restrict__ shifts, int dilation, int stride,
	int parts, int rows, int ow, int oh, const head &last, const uint2 *__restrict__ lastWeights, const int *__restrict__ lastBias,
	const int *__restrict__ lastShift) {
	const int S = CG == 8 ? 12 : CG, steps = (9 * CG + 7) / 8, words = 2 * NT;
	extern __shared__ __align__(16) u32 shared[];
	int warps = blockDim.x / 32;
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane / 4, t = lane % 4, part = warp % parts;
	u32 *stage = shared + warp * 16 * words, *tile = shared + warps * 16 * words;

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

	int inColumns = (tileColumns - 1) * stride + 2 * dilation + 1, inRows = (rows - 1) * stride + 2 * dilation + 1;
	int across = (ow + tileColumns - 1) / tileColumns, tiles = across * ((oh + rows - 1) / rows);
	// Rows of a matrix that follow each other are pixels two apart where the words of neighbours would lie in the same banks.
	bool apart = S * stride % 8 != 4;
	int first = apart ? 2 * q : q, second = apart ? 2 * q + 1 : q + 8;
	for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
		int x0 = i % across * tileColumns, y0 = i / across * rows;
		int fromX = x0 * stride - dilation, fromY = y0 * stride - dilation;
		__syncthreads();
		for (int y = warp; y < inRows; y += warps) {
			int sy = fromY + y;
			bool inside = sy >= 0 && sy < h;
			const uint2 *from = (const uint2 *)(src + ((i64)sy * w + fromX) * CG);
			u32 *to = tile + y * inColumns * S;
#pragma unroll 4
			for (int k = lane; k < inColumns * (CG / 2); k += 32) {
				int x = k / (CG / 2);
				bool there = inside && fromX + x >= 0 && fromX + x < w;
				uint2 v = make_uint2(0, 0);
				if (there)
					v = from[k];
				*(uint2 *)(to + x * S + k % (CG / 2) * 2) = v;
			}
		}
		__syncthreads();
		for (int m = warp / parts; m < 2 * rows; m += warps / parts) {
			int y = m / 2, x = m % 2 * 16;
			if (y0 + y >= oh || x0 + x >= ow)
				continue;
			const u32 *at = tile + (y * stride * inColumns + (x + first) * stride) * S + t;
			int next = (second - first) * stride * S;
			int sum[NT][4];
			out.begin(sum);
#pragma unroll
			for (int s = 0; s < steps; s++) {
				u32 a[4];
#pragma unroll
				for (int half = 0; half < 2; half++) {
					// The groups of a quad follow each other unless it goes from one tap to the next, in its middle. Beyond the
					// last tap weights are 0.
					const int slot = 8 * s + 4 * half;
					const int tap0 = slot / CG < 9 ? slot / CG : 8, tap1 = (slot + 2) / CG < 9 ? (slot + 2) / CG : 8;
					const int g0 = slot / CG < 9 ? slot % CG : 0, g1 = (slot + 2) / CG < 9 ? (slot + 2) % CG : 0;
					int offset = (tap0 / 3 * inColumns + tap0 % 3) * dilation * S + g0;
					if (tap1 != tap0 || g1 != g0 + 2)
						offset = t < 2 ? offset : (tap1 / 3 * inColumns + tap1 % 3) * dilation * S + g1 - 2;
					a[2 * half] = at[offset];
					a[2 * half + 1] = at[offset + next];
				}
#pragma unroll
				for (int n = 0; n < NT; n++)
					multiply(sum[n], a, weight[s][n]);
			}
			int mine = t % 2 ? second : first;
#pragma unroll
			for (int n = 0; n < NT; n++)
				stage[mine * words + 2 * n + t / 2] = out.word(sum[n], n);
			__syncwarp();
			if (HEAD) {
				int c[4] = {lastFirst, lastSecond, lastFirst, lastSecond};
#pragma unroll
				for (int s = 0; s < lastSteps; s++) {
					u32 a[4];
#pragma unroll
					for (int half = 0; half < 2; half++) {
						// Beyond the last group weights are 0.
						int group = 8 * s + 4 * half + t < words ? 8 * s + 4 * half + t : t;
						a[2 * half] = stage[first * words + group];
						a[2 * half + 1] = stage[second * words + group];
					}
					multiply(c, a, lastWeight[s]);
				}
				logits(last, c, lastShifts & 0xffff, lastShifts >> 16, t, x0 + x + first, x0 + x + second, y0 + y, ow);
			}
			if (!HEAD || dst != nullptr) {
				u32 *to = dst + ((i64)(y0 + y) * ow + x0 + x) * outGroups + part * words;
#pragma unroll
				for (int k = 0; k < words / 2; k++) {
					int pixel = (lane + 32 * k) / words, word = (lane + 32 * k) % words;
					if (x0 + x + pixel < ow && part * words + word < outGroups)
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
		const int *__restrict__ shifts, int dilation, int stride, int parts, int rows, int ow, int oh) {                   \
		head none = {nullptr, 0, 0, 0, 0, 0};                                                                                \
		convolve<CG, NT, false>(dst, outGroups, src, w, h, weights, biases, shifts, dilation, stride, parts, rows, ow, oh, none,  \
			nullptr, nullptr, nullptr);                                                                                    \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(threads) networkEnd##CG##x##NT(u32 *__restrict__ dst, int outGroups,          \
		const u32 *__restrict__ src, int w, int h, const uint2 *__restrict__ weights, const int *__restrict__ biases,      \
		const int *__restrict__ shifts, int dilation, int stride, int rows, int ow, int oh, u8 *logit, i64 pitch, int pw,   \
		int from, int to, int offset, const uint2 *__restrict__ lastWeights, const int *__restrict__ lastBias,                               \
		const int *__restrict__ lastShift) {                                                                           \
		head last = {logit, pitch, pw, from, to, offset};                                                                            \
		convolve<CG, NT, true>(dst, outGroups, src, w, h, weights, biases, shifts, dilation, stride, 1, rows, ow, oh, last,       \
			lastWeights, lastBias, lastShift);                                                                             \
	}
CONVOLVE(4, 2)
CONVOLVE(6, 3)
CONVOLVE(8, 2)
CONVOLVE(12, 3)

// mix is a convolution of 1 × 1 over the groups of all sources, at most 4 × QUADS, for NT × 8 outputs a warp.
template <int QUADS, int NT>
__device__ __forceinline__ void mix(u32 *__restrict__ dst, int outGroups, const source *__restrict__ sources, int count,
	const uint2 *__restrict__ weights, const int *__restrict__ biases, const int *__restrict__ shifts, int parts, int w, int h) {
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
			s = g = 0;
		from[k] = sources[s].p + g;
		groups[k] = sources[s].groups, shift[k] = sources[s].shift, width[k] = sources[s].w;
	}
	int across = (w + 15) / 16;
	i64 all = (i64)across * h;
	for (i64 i = blockIdx.x * (warps / parts) + warp / parts; i < all; i += (i64)gridDim.x * (warps / parts)) {
		int y = i / across, x0 = (int)(i - (i64)y * across) * 16, xa = min(x0 + q, w - 1), xb = min(x0 + q + 8, w - 1);
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
		const int *__restrict__ shifts, int parts, int w, int h) {                                                     \
		mix<QUADS, NT>(dst, outGroups, sources, count, weights, biases, shifts, parts, w, h);                              \
	}
MIX(2, 2)
MIX(2, 3)
MIX(4, 2)
MIX(4, 3)
MIX(6, 2)
MIX(6, 3)
#endif
