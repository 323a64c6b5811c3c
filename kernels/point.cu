// Operations on each pixel by itself.
#include "common.cuh"

// The luminance weights of linear sRGB in 1/65536, as in processing.LumaTables.
static const u32 weightRed = 13933, weightGreen = 46871, weightBlue = 4732;

// whole makes a sample an index of the linear table.
__device__ __forceinline__ u32 whole(u8 v) { return v; }
__device__ __forceinline__ u32 whole(u16 v) { return v; }
__device__ __forceinline__ u32 whole(float v) {
	if (v >= 1.0f)
		return 65535;
	return v > 0.0f ? (u32)((double)v * 65535.0 + 0.5) : 0;
}

__device__ __forceinline__ u32 full(u8) { return 255; }
__device__ __forceinline__ u32 full(u16) { return 65535; }
__device__ __forceinline__ u32 full(float) { return 65535; }

// filtered is what ink and black leave of a colour, as if they were perfect filters.
__device__ __forceinline__ u32 filtered(u32 ink, u32 paper, u32 most) {
	return ((most - ink) * paper + most / 2) / most;
}

// colours are the planes for the network, or null; display has what they get for a sample.
struct colours {
	u8 *red, *green, *blue;
	i64 redPitch, greenPitch, bluePitch;
	const u8 *display;
};

template <class T>
__device__ __forceinline__ void luma(u16 *yp, i64 yPitch, u8 *vp, i64 vPitch, const colours &c, const T *src, int channels,
	const u16 *linear, const u8 *encode, int w, int h) {
	PIXEL(x, y, w, h);
	const T *p = src + ((i64)y * w + x) * channels;
	u32 r = whole(p[0]), g = r, b = r, light = 0, low = 0;
	if (channels == 1) {
		light = linear[r];
		low = light;
	} else {
		g = whole(p[1]), b = whole(p[2]);
		if (channels == 4) {
			u32 most = full(p[0]), paper = most - whole(p[3]);
			r = filtered(r, paper, most);
			g = filtered(g, paper, most);
			b = filtered(b, paper, most);
		}
		if (yp != nullptr) {
			light = (weightRed * linear[r] + weightGreen * linear[g] + weightBlue * linear[b] + 32768) >> 16;
			low = linear[min(r, min(g, b))];
		}
	}
	if (yp != nullptr) {
		rowOf(yp, yPitch, y)[x] = light;
		rowOf(vp, vPitch, y)[x] = ((u32)encode[light] + encode[low]) >> 1;
	}
	if (c.red != nullptr) {
		rowOf(c.red, c.redPitch, y)[x] = c.display[r];
		rowOf(c.green, c.greenPitch, y)[x] = c.display[g];
		rowOf(c.blue, c.bluePitch, y)[x] = c.display[b];
	}
}

#define LUMA(name, T)                                                                                                  \
	extern "C" __global__ void name(u16 *yp, i64 yPitch, u8 *vp, i64 vPitch, u8 *red, i64 redPitch, u8 *green,          \
		i64 greenPitch, u8 *blue, i64 bluePitch, const T *__restrict__ src, int channels,                              \
		const u16 *__restrict__ linear, const u8 *__restrict__ encode, const u8 *__restrict__ display, int w, int h) { \
		colours c = {red, green, blue, redPitch, greenPitch, bluePitch, display};                                      \
		luma(yp, yPitch, vp, vPitch, c, src, channels, linear, encode, w, h);                                          \
	}
LUMA(lumaU8, u8)
LUMA(lumaU16, u16)
LUMA(lumaF32, float)

static const u8 classWide = 1, classSeed = 2, classCore = 4, classGrow = 8;

// lumaRGB8 is lumaU8 of three channels, four pixels a thread. The tables of 256 entries are in shared memory, the level of a
// sample as one look-up; a block goes down lumaRows rows. A thread's 12 bytes begin anywhere in a word.
static const int lumaThreads = 128, lumaRows = 16;

extern "C" __global__ void __launch_bounds__(lumaThreads) lumaRGB8(u16 *__restrict__ yp, i64 yPitch, u8 *__restrict__ vp, i64 vPitch,
	u8 *__restrict__ red, i64 redPitch, u8 *__restrict__ green, i64 greenPitch, u8 *__restrict__ blue, i64 bluePitch,
	const u8 *__restrict__ src, const u16 *__restrict__ linear, const u8 *__restrict__ encode, const u8 *__restrict__ display,
	int w, int h) {
	__shared__ u32 light[256], level[256], shown[256];
	for (int i = threadIdx.x; i < 256; i += lumaThreads) {
		light[i] = linear[i];
		level[i] = encode[linear[i]];
		shown[i] = red == nullptr ? 0 : display[i];
	}
	__syncthreads();
	int x = (blockIdx.x * lumaThreads + threadIdx.x) * 4;
	if (x >= w)
		return;
	for (int y = blockIdx.y * lumaRows; y < min((int)(blockIdx.y + 1) * lumaRows, h); y++) {
		const u8 *p = src + ((i64)y * w + x) * 3;
		u32 v[3];
		if (x + 4 <= w) {
			int shift = (int)((size_t)p & 3) * 8;
			const u32 *q = (const u32 *)(p - shift / 8);
			u32 last = q[2], next = shift ? q[3] : 0;
			v[0] = __funnelshift_r(q[0], q[1], shift);
			v[1] = __funnelshift_r(q[1], last, shift);
			v[2] = __funnelshift_r(last, next, shift);
		} else {
			v[0] = v[1] = v[2] = 0;
			for (int i = 0; i < (w - x) * 3; i++)
				v[i / 4] |= (u32)p[i] << i % 4 * 8;
		}
		u32 lights[4], levels = 0, reds = 0, greens = 0, blues = 0;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			u32 r = v[3 * i / 4] >> 3 * i % 4 * 8 & 255, g = v[(3 * i + 1) / 4] >> (3 * i + 1) % 4 * 8 & 255, b = v[(3 * i + 2) / 4] >> (3 * i + 2) % 4 * 8 & 255;
			if (yp != nullptr) {
				lights[i] = (weightRed * light[r] + weightGreen * light[g] + weightBlue * light[b] + 32768) >> 16;
				levels |= (encode[lights[i]] + level[min(r, min(g, b))]) >> 1 << 8 * i;
			}
			reds |= shown[r] << 8 * i, greens |= shown[g] << 8 * i, blues |= shown[b] << 8 * i;
		}
		// Beyond the row lies its padding.
		if (yp != nullptr) {
			*(uint2 *)(rowOf(yp, yPitch, y) + x) = make_uint2(lights[0] | lights[1] << 16, lights[2] | lights[3] << 16);
			*(u32 *)(rowOf(vp, vPitch, y) + x) = levels;
		}
		if (red != nullptr) {
			*(u32 *)(rowOf(red, redPitch, y) + x) = reds;
			*(u32 *)(rowOf(green, greenPitch, y) + x) = greens;
			*(u32 *)(rowOf(blue, bluePitch, y) + x) = blues;
		}
	}
}

// Where planes of bytes and of 16-bit samples meet, a thread takes eight pixels, so that all of them are read whole; what
// lies beyond the row is its padding.
#define EIGHT(x, y, w, h)                                                                                              \
	int x = (blockIdx.x * blockDim.x + threadIdx.x) * 8, y = blockIdx.y * blockDim.y + threadIdx.y;                    \
	if (x >= (w) || y >= (h))                                                                                          \
	return

struct bytes8 {
	u32 v[2];
	__device__ __forceinline__ bytes8(const u8 *p) {
		uint2 q = *(const uint2 *)p;
		v[0] = q.x;
		v[1] = q.y;
	}
	__device__ __forceinline__ bytes8() { v[0] = v[1] = 0; }
	__device__ __forceinline__ u32 get(int i) const { return v[i / 4] >> i % 4 * 8 & 255; }
	// add sets a byte that is still 0, or more of its bits.
	__device__ __forceinline__ void add(int i, u32 b) { v[i / 4] |= b << i % 4 * 8; }
	__device__ __forceinline__ void store(u8 *p) const { *(uint2 *)p = make_uint2(v[0], v[1]); }
};

struct words8 {
	u32 v[4];
	__device__ __forceinline__ words8(const u16 *p) {
		uint4 q = *(const uint4 *)p;
		v[0] = q.x;
		v[1] = q.y;
		v[2] = q.z;
		v[3] = q.w;
	}
	__device__ __forceinline__ words8() { v[0] = v[1] = v[2] = v[3] = 0; }
	__device__ __forceinline__ u32 get(int i) const { return v[i / 2] >> i % 2 * 16 & 65535; }
	__device__ __forceinline__ void add(int i, u32 b) { v[i / 2] |= b << i % 2 * 16; }
	__device__ __forceinline__ void store(u16 *p) const { *(uint4 *)p = make_uint4(v[0], v[1], v[2], v[3]); }
};

extern "C" __global__ void contrast(u8 *clsP, i64 clsPitch, u16 *seedP, i64 seedPitch, const u16 *__restrict__ yP,
	i64 yPitch, const u16 *__restrict__ bP, i64 bPitch, const u8 *__restrict__ vP, i64 vPitch, int absolute, u32 relative,
	int seedAbsolute, u32 seedRelative, int seedLevel, int w, int h) {
	EIGHT(x, y, w, h);
	words8 light(rowOf(yP, yPitch, y) + x), ground(rowOf(bP, bPitch, y) + x), seed;
	bytes8 v(rowOf(vP, vPitch, y) + x), cls;
#pragma unroll
	for (int i = 0; i < 8; i++) {
		int b = ground.get(i), d = (int)light.get(i) - b;
		if (d <= absolute)
			continue;
		u64 scaled = (u64)d << 16;
		if (scaled <= (u64)relative * (u64)b)
			continue;
		cls.add(i, classWide);
		if (d > seedAbsolute && (int)v.get(i) >= seedLevel &&
			(seedRelative == 0 || scaled > (u64)seedRelative * (u64)(65535 - b))) {
			cls.add(i, classSeed);
			seed.add(i, d);
		}
	}
	cls.store(rowOf(clsP, clsPitch, y) + x);
	seed.store(rowOf(seedP, seedPitch, y) + x);
}

extern "C" __global__ void cores(u8 *clsP, i64 clsPitch, const u16 *__restrict__ yP, i64 yPitch,
	const u16 *__restrict__ bP, i64 bPitch, const u16 *__restrict__ mP, i64 mPitch, u32 core, u32 grow, int w, int h) {
	EIGHT(x, y, w, h);
	bytes8 cls(rowOf(clsP, clsPitch, y) + x);
	if (((cls.v[0] | cls.v[1]) & (classWide | classSeed) * 0x01010101) == 0)
		return;
	words8 light(rowOf(yP, yPitch, y) + x), ground(rowOf(bP, bPitch, y) + x), peak(rowOf(mP, mPitch, y) + x);
#pragma unroll
	for (int i = 0; i < 8; i++) {
		u32 c = cls.get(i);
		if (!(c & (classWide | classSeed)))
			continue;
		u64 d = (u64)max((int)light.get(i) - (int)ground.get(i), 0) << 16, m = peak.get(i);
		if ((c & classSeed) && d >= core * m)
			cls.add(i, classCore);
		if ((c & classWide) && d > grow * m)
			cls.add(i, classGrow);
	}
	cls.store(rowOf(clsP, clsPitch, y) + x);
}

extern "C" __global__ void excess(u8 *dst, i64 dstPitch, const u16 *__restrict__ yP, i64 yPitch,
	const u16 *__restrict__ bP, i64 bPitch, const u8 *vP, i64 vPitch, int over, int level, int w, int h) {
	EIGHT(x, y, w, h);
	words8 light(rowOf(yP, yPitch, y) + x), ground(rowOf(bP, bPitch, y) + x);
	bytes8 v(rowOf(vP, vPitch, y) + x), out;
#pragma unroll
	for (int i = 0; i < 8; i++)
		if ((int)light.get(i) - (int)ground.get(i) > over && (int)v.get(i) >= level)
			out.add(i, 255);
	out.store(rowOf(dst, dstPitch, y) + x);
}

extern "C" __global__ void gatherU32(u32 *__restrict__ dst, const u32 *__restrict__ src, i64 srcPitch,
	const u32 *__restrict__ index, int n, int w) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		dst[i] = rowOf(src, srcPitch, index[i] / (u32)w)[index[i] % (u32)w];
}
