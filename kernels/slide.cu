// The recursive sliding window: column sums slide down by a row, and the window's sum is the difference of two prefix sums along them,
// so that the cost does not depend on the window (McDonnell 1981). A block of threads takes a strip of columns, eight a thread,
// and runs down some rows of it; nothing but samples and results passes through device memory. The column sums to
// begin with are put together from the sums of segments of 16 rows, made before, and the rows that are left. Of small windows
// each warp slides one of its own.
#include "common.cuh"

static const int threads = 128, each = 8, strip = threads * each, segment = 16;

// eight are the samples of a thread's columns in one row.
template <class T> struct eight;

template <> struct eight<u8> {
	uint2 v;
	__device__ __forceinline__ void load(const u8 *p) { v = *(const uint2 *)p; }
	__device__ __forceinline__ void none() { v = make_uint2(0, 0); }
	template <int i> __device__ __forceinline__ u32 get() const { return (i < 4 ? v.x : v.y) >> (i % 4 * 8) & 255; }
	// keep clears all but the first n samples.
	__device__ __forceinline__ void keep(int n) {
		v.x = n >= 4 ? v.x : v.x & ((1u << 8 * n) - 1);
		v.y = n >= 8 ? v.y : n > 4 ? v.y & ((1u << 8 * (n - 4)) - 1) : 0;
	}
};

template <> struct eight<u16> {
	uint4 v;
	__device__ __forceinline__ void load(const u16 *p) { v = *(const uint4 *)p; }
	__device__ __forceinline__ void none() { v = make_uint4(0, 0, 0, 0); }
	template <int i> __device__ __forceinline__ u32 get() const {
		return (i < 2 ? v.x : i < 4 ? v.y : i < 6 ? v.z : v.w) >> (i % 2 * 16) & 65535;
	}
	__device__ __forceinline__ void keep(int n) {
		v.x = n >= 2 ? v.x : n == 1 ? v.x & 65535 : 0;
		v.y = n >= 4 ? v.y : n == 3 ? v.y & 65535 : 0;
		v.z = n >= 6 ? v.z : n == 5 ? v.z & 65535 : 0;
		v.w = n >= 8 ? v.w : n == 7 ? v.w & 65535 : 0;
	}
};

// reader reads eight samples from column x on, x a multiple of 8; rows and columns outside the picture are 0.
template <class T> struct reader {
	typedef eight<T> samples;
	const T *p;
	i64 pitch;
	int x, w, h;
	__device__ __forceinline__ void from(int column) { x = column; }
	__device__ __forceinline__ const eight<T> &settled(const eight<T> &s) const { return s; }
	__device__ __forceinline__ eight<T> row(int y) const {
		eight<T> e;
		e.none();
		if (x < 0 || x >= w || (unsigned)y >= (unsigned)h)
			return e;
		e.load(rowOf(p, pitch, y) + x);
		if (x + each > w)
			e.keep(w - x);
		return e;
	}
};

// open are eight 16-bit samples, 0 where they do not count, and 1 for each that does: two to a word.
struct open {
	u32 v[4], ones[4];
	template <int i> __device__ __forceinline__ u32 counts() const { return i % 2 ? ones[i / 2] >> 16 : ones[i / 2] & 1; }
	template <int i> __device__ __forceinline__ u32 get() const { return i % 2 ? v[i / 2] >> 16 : v[i / 2] & 65535; }
	// packed is a sample with its count above bit 24. The upper byte of each of the ones is 0.
	template <int i> __device__ __forceinline__ u32 packed() const { return __byte_perm(v[i / 2], ones[i / 2], i % 2 ? 0x6532 : 0x4510); }
};

// raw are they as they are read: eight samples, and a byte for each that is 0 if it counts; beyond is ~0 in a row outside.
struct raw {
	uint4 v;
	uint2 out;
	u32 beyond;
	__device__ __forceinline__ void none() {
		v = make_uint4(0, 0, 0, 0);
		out = make_uint2(~0u, ~0u);
		beyond = ~0u;
	}
};

// openReader reads samples and exclusion; what lies outside the picture does not count. It reads something for every row and
// column and does not look at it, so that neither a branch nor the memory's answer holds up what reads ahead.
struct openReader {
	typedef raw samples;
	const u16 *p;
	i64 pitch;
	const u8 *exclude;
	i64 excludePitch;
	int w, h;
	// edge excludes the columns outside.
	uint2 edge;
	__device__ __forceinline__ openReader(const u16 *p, i64 pitch, const u8 *exclude, i64 excludePitch, int w, int h)
		: p(p), pitch(pitch), exclude(exclude), excludePitch(excludePitch), w(w), h(h) {}
	__device__ __forceinline__ void from(int x) {
		eight<u8> inside;
		inside.v = make_uint2(~0u, ~0u);
		inside.keep(x < 0 ? 0 : min(max(w - x, 0), each));
		edge = make_uint2(~inside.v.x, ~inside.v.y);
		x = min(max(x, 0), (w - 1) & ~(each - 1));
		p += x;
		exclude += x;
	}
	__device__ __forceinline__ raw row(int y) const {
		int at = min(max(y, 0), h - 1);
		raw o;
		o.v = *(const uint4 *)rowOf(p, pitch, at);
		o.out = *(const uint2 *)rowOf(exclude, excludePitch, at);
		o.beyond = at == y ? 0 : ~0u;
		return o;
	}
	// counting has 1 in each byte that is 0.
	static __device__ __forceinline__ u32 counting(u32 out) { return (~(((out & 0x7f7f7f7f) + 0x7f7f7f7f) | out) & 0x80808080) >> 7; }
	__device__ __forceinline__ open settled(const raw &s) const {
		u32 a = counting(s.out.x | edge.x | s.beyond), b = counting(s.out.y | edge.y | s.beyond);
		open o;
		o.ones[0] = __byte_perm(a, 0, 0x4140);
		o.ones[1] = __byte_perm(a, 0, 0x4342);
		o.ones[2] = __byte_perm(b, 0, 0x4140);
		o.ones[3] = __byte_perm(b, 0, 0x4342);
		o.v[0] = s.v.x & o.ones[0] * 65535;
		o.v[1] = s.v.y & o.ones[1] * 65535;
		o.v[2] = s.v.z & o.ones[2] * 65535;
		o.v[3] = s.v.w & o.ones[3] * 65535;
		return o;
	}
};

// columns are the sums of a thread's eight columns.
struct columns {
	u32 sum[each];
	__device__ __forceinline__ void clear() {
#pragma unroll
		for (int i = 0; i < each; i++)
			sum[i] = 0;
	}
	// slide takes in the samples a and gives up the samples b.
	template <class T> __device__ __forceinline__ void slide(const eight<T> &a, const eight<T> &b) {
		sum[0] += a.template get<0>() - b.template get<0>();
		sum[1] += a.template get<1>() - b.template get<1>();
		sum[2] += a.template get<2>() - b.template get<2>();
		sum[3] += a.template get<3>() - b.template get<3>();
		sum[4] += a.template get<4>() - b.template get<4>();
		sum[5] += a.template get<5>() - b.template get<5>();
		sum[6] += a.template get<6>() - b.template get<6>();
		sum[7] += a.template get<7>() - b.template get<7>();
	}
};

// store and accumulate move the sums of eight columns by 16 bytes.
__device__ __forceinline__ void store(u32 *p, const u32 *v) {
	((uint4 *)p)[0] = make_uint4(v[0], v[1], v[2], v[3]);
	((uint4 *)p)[1] = make_uint4(v[4], v[5], v[6], v[7]);
}

__device__ __forceinline__ void accumulate(u32 *v, const u32 *p) {
#pragma unroll
	for (int i = 0; i < 2; i++) {
		uint4 q = ((const uint4 *)p)[i];
		v[4 * i] += q.x;
		v[4 * i + 1] += q.y;
		v[4 * i + 2] += q.z;
		v[4 * i + 3] += q.w;
	}
}

// segments writes, for each run of 16 rows, the sums down each column; `stride` is the sums a row of them takes.
template <class R> __device__ __forceinline__ void segments(const R &in, u32 *sums, int stride) {
	if (in.x >= in.w)
		return;
	columns c;
	c.clear();
	typename R::samples none;
	none.none();
	int top = blockIdx.y * segment;
#pragma unroll 1
	for (int i = 0; i < segment; i += 8) {
		typename R::samples v[8];
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] = in.row(top + i + j);
#pragma unroll
		for (int j = 0; j < 8; j++)
			c.slide(v[j], none);
	}
	store(sums + (i64)blockIdx.y * stride + in.x, c.sum);
}

// begin makes the column sums of rows y0 … y1−1 as far as they lie in the picture.
template <class R> __device__ __forceinline__ void begin(columns &c, const R &in, const u32 *sums, int stride, int y0, int y1) {
	c.clear();
	typename R::samples none;
	none.none();
	y0 = max(y0, 0);
	y1 = min(y1, in.h);
	if (y1 - y0 <= 2 * segment) {
#pragma unroll 2
		for (int y = y0; y < y1; y++)
			c.slide(in.row(y), none);
		return;
	}
	// From the nearest border of a segment on either side; the rows between are taken in or given up.
	int a = (y0 + segment / 2) / segment, b = (y1 + segment / 2) / segment;
#pragma unroll 1
	for (int y = y0; y < a * segment; y++)
		c.slide(in.row(y), none);
#pragma unroll 1
	for (int y = a * segment; y < y0; y++)
		c.slide(none, in.row(y));
#pragma unroll 1
	for (int y = b * segment; y < y1; y++)
		c.slide(in.row(y), none);
#pragma unroll 1
	for (int y = y1; y < b * segment; y++)
		c.slide(none, in.row(y));
	if (in.x < 0 || in.x >= in.w)
		return;
#pragma unroll 1
	for (int s = a; s < b; s++)
		accumulate(c.sum, sums + (i64)s * stride + in.x);
}

__device__ __forceinline__ u32 scanWarp(u32 v) {
#pragma unroll
	for (int step = 1; step < 32; step *= 2) {
		u32 other = __shfl_up_sync(0xffffffff, v, step);
		if (threadIdx.x % 32 >= step)
			v += other;
	}
	return v;
}

// Four words before the prefixes, the last of them 0: a prefix before the first column.
static const int lead = 4;

struct shared {
	u32 prefix[lead + strip];
	u32 total[threads / 32];
};

// prefixes leaves in shared memory the prefix sums along the strip of the column sums.
__device__ __forceinline__ void prefixes(shared &m, const columns &c) {
	u32 p[each], own = 0;
#pragma unroll
	for (int i = 0; i < each; i++) {
		own += c.sum[i];
		p[i] = own;
	}
	int warp = threadIdx.x / 32;
	u32 before = scanWarp(own);
	if (threadIdx.x % 32 == 31)
		m.total[warp] = before;
	before -= own;
	__syncthreads();
#pragma unroll
	for (int k = 0; k < threads / 32 - 1; k++)
		if (k < warp)
			before += m.total[k];
	u32 *out = m.prefix + lead + threadIdx.x * each;
#pragma unroll
	for (int i = 0; i < each; i++)
		out[i] = before + p[i];
	__syncthreads();
}

// place is where a block works: output columns x0 … x1−1, rows y0 … y1−1, from column `origin` on.
struct place {
	int x0, x1, y0, y1, origin;
	__device__ place(int r, int width, int rows, int w, int h) {
		x0 = blockIdx.x * width;
		x1 = min(x0 + width, w);
		y0 = blockIdx.y * rows;
		y1 = min(y0 + rows, h);
		// Rounded down also below 0.
		origin = (x0 - r) & ~(each - 1);
	}
};

// rounded is v / n rounded down, exact: the quotient of floats is within one unit of the integer, at most 65535, and is put
// right.
__device__ __forceinline__ u32 whole(u32 v, u32 n, float inverse) {
	u32 q = (u32)((float)v * inverse);
	u32 rest = v - q * n;
	if ((int)rest < 0)
		return q - 1;
	return rest >= n ? q + 1 : q;
}

template <class T>
__device__ __forceinline__ void slideMean(T *dst, i64 dstPitch, const T *src, i64 pitch, const u32 *sums, int stride, int r, int width, int rows, int w, int h) {
	__shared__ shared m;
	place o(r, width, rows, w, h);
	reader<T> in = {src, pitch, o.origin + (int)threadIdx.x * each, w, h};
	columns c;
	begin(c, in, sums, stride, o.y0 - r - 1, o.y0 + r);
	if (threadIdx.x == 0)
		m.prefix[lead - 1] = 0;
	eight<T> enter = in.row(o.y0 + r), leave = in.row(o.y0 - r - 1);
	for (int y = o.y0; y < o.y1; y++) {
		c.slide(enter, leave);
		if (y + 1 < o.y1) {
			enter = in.row(y + 1 + r);
			leave = in.row(y - r);
		}
		prefixes(m, c);
		int ny = min(y + r, h - 1) - max(y - r, 0) + 1;
		u32 full = ny * (2 * r + 1);
		float inverse = 1.0f / full;
		T *out = rowOf(dst, dstPitch, y);
#pragma unroll
		for (int k = 0; k < each; k++) {
			int x = o.x0 + k * threads + threadIdx.x;
			if (x >= o.x1)
				break;
			int i = lead + x - o.origin;
			u32 s = m.prefix[i + r] - m.prefix[i - r - 1];
			u32 n = ny * (min(x + r, w - 1) - max(x - r, 0) + 1);
			out[x] = n == full ? whole(s + n / 2, n, inverse) : (s + n / 2) / n;
		}
	}
}

#define SLIDE(name, T)                                                                                                 \
	extern "C" __global__ void segmentsOf##name(u32 *sums, int stride, const T *__restrict__ src, i64 pitch, int w, int h) {  \
		reader<T> in = {src, pitch, (int)(blockIdx.x * blockDim.x + threadIdx.x) * each, w, h};                        \
		segments(in, sums, stride);                                                                                    \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(threads) slideMean##name(T *__restrict__ dst, i64 dstPitch,           \
		const T *__restrict__ src, i64 pitch, const u32 *__restrict__ sums, int stride, int r, int width, int rows, int w, int h) { \
		slideMean(dst, dstPitch, src, pitch, sums, stride, r, width, rows, w, h);                                      \
	}
SLIDE(U8, u8)
SLIDE(U16, u16)

// Small windows need no more than the 256 columns that a warp has: it then runs down its rows by itself, held up by no
// barrier of a block. What is summed down the columns are one of these.

// plain is the sum of all samples.
struct plain {
	u32 all;
	__device__ __forceinline__ void clear() { all = 0; }
	template <int i, class T> __device__ __forceinline__ void slide(const eight<T> &a, const eight<T> &b) {
		all += a.template get<i>() - b.template get<i>();
	}
	__device__ __forceinline__ void add(const plain &o) { all += o.all; }
	__device__ __forceinline__ void subtract(const plain &o) { all -= o.all; }
	__device__ __forceinline__ plain above(int lanes) const { return plain{__shfl_up_sync(0xffffffff, all, lanes)}; }
};

// few packs sum and number of up to 15 × 15 samples into a word, the number above bit 24.
struct few {
	u32 all;
	// inverses[n] is ⌊2³²/n⌋ + 1, by which the upper word of the product is the quotient, rounded down: as v ≤ 65536·n, what it
	// is too large by is below 1/n for n < 256. All threads of the block take part in making them.
	struct inverses {
		u32 of[256];
		__device__ __forceinline__ void make() {
			for (int n = threadIdx.x; n < 256; n += threads)
				of[n] = n > 1 ? ~0u / n + 1 : 0;
			__syncthreads();
		}
	};
	__device__ __forceinline__ u32 mean(const inverses &i) const {
		u32 n = count(), q = __umulhi(total() + n / 2, i.of[n]);
		return n > 1 ? q : total();
	}
	__device__ __forceinline__ void clear() { all = 0; }
	template <int i> __device__ __forceinline__ void slide(const open &a, const open &b) { all += a.packed<i>() - b.packed<i>(); }
	__device__ __forceinline__ void add(const few &o) { all += o.all; }
	__device__ __forceinline__ void subtract(const few &o) { all -= o.all; }
	__device__ __forceinline__ few above(int lanes) const { return few{__shfl_up_sync(0xffffffff, all, lanes)}; }
	__device__ __forceinline__ u32 count() const { return all >> 24; }
	__device__ __forceinline__ u32 total() const { return all & 0xffffff; }
};

// many are sum and number of samples.
struct __align__(8) many {
	u32 sum, number;
	struct inverses {
		__device__ __forceinline__ void make() {}
	};
	__device__ __forceinline__ u32 mean(const inverses &) const { return whole(sum + number / 2, number, __fdividef(1.0f, number)); }
	__device__ __forceinline__ void clear() { sum = number = 0; }
	template <int i> __device__ __forceinline__ void slide(const open &a, const open &b) {
		sum += a.get<i>() - b.get<i>();
		number += a.counts<i>() - b.counts<i>();
	}
	__device__ __forceinline__ void add(const many &o) {
		sum += o.sum;
		number += o.number;
	}
	__device__ __forceinline__ void subtract(const many &o) {
		sum -= o.sum;
		number -= o.number;
	}
	__device__ __forceinline__ many above(int lanes) const {
		return many{__shfl_up_sync(0xffffffff, sum, lanes), __shfl_up_sync(0xffffffff, number, lanes)};
	}
	__device__ __forceinline__ u32 count() const { return number; }
	__device__ __forceinline__ u32 total() const { return sum; }
};

// put stores the sums of eight columns by 16 bytes.
template <class S> __device__ __forceinline__ void put(S *to, const S *p) {
	((uint4 *)to)[0] = make_uint4(p[0].all, p[1].all, p[2].all, p[3].all);
	((uint4 *)to)[1] = make_uint4(p[4].all, p[5].all, p[6].all, p[7].all);
}

__device__ __forceinline__ void put(many *to, const many *p) {
#pragma unroll
	for (int i = 0; i < each; i += 2)
		((uint4 *)to)[i / 2] = make_uint4(p[i].sum, p[i].number, p[i + 1].sum, p[i + 1].number);
}

// take reads the sums of a column at once.
template <class S> __device__ __forceinline__ S take(const S *from) { return *from; }

__device__ __forceinline__ many take(const many *from) {
	uint2 q = *(const uint2 *)from;
	return many{q.x, q.y};
}

// prefixRow are the prefix sums along the columns of a warp, those before the first column included. Sums of several words
// are spread so that the lanes' stores fall into different banks.
//
// Behind them is room for what lanes beyond the strip read and do not use, for radii up to widestWarp.
static const int widestWarp = 48, warpColumns = 32 * each;

template <class S> struct prefixRow {
	static const int gap = sizeof(S) > 4 ? 16 / sizeof(S) : 0, groups = (warpColumns + 2 * widestWarp) / each + 2;
	__align__(16) S at[groups * (each + gap)];
	static __device__ __forceinline__ int place(int column) { return column + each + (column + each) / each * gap; }
};

// warpWindow is a window of a warp that slides down over what a reader R reads.
template <class S, class R> struct warpWindow {
	S column[each];
	R in;
	prefixRow<S> &m;
	// A window about column x0 + lane lies between the prefixes at upper and lower.
	const S *upper, *lower;
	int x0, x1, y0, y1, r;
	typename R::samples enter, leave;

	// The strips are `width` columns wide; each is cut into pieces of some rows.
	__device__ __forceinline__ warpWindow(prefixRow<S> &m, const R &in, int r, int strips, int width, int rows, int w, int h) : in(in), m(m), r(r) {
		int i = blockIdx.x * (threads / 32) + threadIdx.x / 32;
		x0 = i % strips * width;
		x1 = min(x0 + width, w);
		y0 = i / strips * rows;
		y1 = min(y0 + rows, h);
		int lane = threadIdx.x % 32, origin = (x0 - r) & ~(each - 1);
		this->in.from(origin + lane * each);
		upper = m.at + prefixRow<S>::place(x0 + lane + r - origin);
		lower = m.at + prefixRow<S>::place(x0 + lane - r - 1 - origin);
	}

	// step takes in a row and gives up another.
	template <class E> __device__ __forceinline__ void step(const E &a, const E &b) {
		column[0].template slide<0>(a, b);
		column[1].template slide<1>(a, b);
		column[2].template slide<2>(a, b);
		column[3].template slide<3>(a, b);
		column[4].template slide<4>(a, b);
		column[5].template slide<5>(a, b);
		column[6].template slide<6>(a, b);
		column[7].template slide<7>(a, b);
	}

	// begin sums the rows above the last one of the first window.
	__device__ __forceinline__ void begin() {
#pragma unroll
		for (int i = 0; i < each; i++)
			column[i].clear();
		if (threadIdx.x % 32 == 0)
			m.at[prefixRow<S>::place(-1)].clear();
		leave.none();
#pragma unroll 4
		for (int y = max(y0 - r - 1, 0); y < min(y0 + r, in.h); y++)
			step(in.settled(in.row(y)), in.settled(leave));
		enter = in.row(y0 + r);
		leave = in.row(y0 - r - 1);
	}

	// next leaves in m the prefixes of row y.
	__device__ __forceinline__ void next(int y) {
		step(in.settled(enter), in.settled(leave));
		if (y + 1 < y1) {
			enter = in.row(y + 1 + r);
			leave = in.row(y - r);
		}
		S p[each], before;
		p[0] = column[0];
#pragma unroll
		for (int i = 1; i < each; i++) {
			p[i] = p[i - 1];
			p[i].add(column[i]);
		}
		before = p[each - 1];
#pragma unroll
		for (int lanes = 1; lanes < 32; lanes *= 2) {
			S other = before.above(lanes);
			if (threadIdx.x % 32 >= lanes)
				before.add(other);
		}
		before.subtract(p[each - 1]);
		// What the row before has left was read by all.
		__syncwarp();
#pragma unroll
		for (int i = 0; i < each; i++)
			p[i].add(before);
		put(m.at + prefixRow<S>::place(threadIdx.x % 32 * each), p);
		__syncwarp();
	}

	// sums are those of the window about column x0 + 32·k + lane, where that is one of the strip.
	__device__ __forceinline__ S sums(int k) const {
		const int step = 32 + 32 / each * prefixRow<S>::gap;
		S s = take(upper + k * step);
		s.subtract(take(lower + k * step));
		return s;
	}
};

template <class T>
__device__ __forceinline__ void warpMean(T *dst, i64 dstPitch, const T *src, i64 pitch, int r, int strips, int width, int rows, int w, int h) {
	__shared__ prefixRow<plain> all[threads / 32];
	reader<T> in = {src, pitch, 0, w, h};
	warpWindow<plain, reader<T> > o(all[threadIdx.x / 32], in, r, strips, width, rows, w, h);
	if (o.y0 >= h)
		return;
	o.begin();
	int x0 = o.x0 + threadIdx.x % 32;
	for (int y = o.y0; y < o.y1; y++) {
		o.next(y);
		int ny = min(y + r, h - 1) - max(y - r, 0) + 1;
		u32 full = ny * (2 * r + 1);
		float inverse = 1.0f / full;
		T *out = rowOf(dst, dstPitch, y) + x0;
#pragma unroll
		for (int k = 0; k < each; k++) {
			int x = x0 + k * 32;
			u32 s = o.sums(k).all, mean = whole(s + full / 2, full, inverse);
			if (x >= o.x1)
				continue;
			u32 n = ny * (min(x + r, w - 1) - max(x - r, 0) + 1);
			out[k * 32] = n == full ? mean : (s + n / 2) / n;
		}
	}
}

#define WARPMEAN(name, T)                                                                                              \
	extern "C" __global__ void __launch_bounds__(threads) name(T *__restrict__ dst, i64 dstPitch, const T *__restrict__ src, i64 pitch, \
		int r, int strips, int width, int rows, int w, int h) {                                                        \
		warpMean(dst, dstPitch, src, pitch, r, strips, width, rows, w, h);                                             \
	}
WARPMEAN(warpMeanU8, u8)
WARPMEAN(warpMeanU16, u16)

// The pixels whose window holds fewer samples than it needs are left to openCells: `wanting` has a bit for each, a word for 32
// columns of a strip, and `list` the cells of 32 × 32 pixels with any, `listed` their number. Cell c is column c % 8 of
// strip c / 8 % strips.
static const int cellSide = 32;

// openMean takes the mean of the samples that count in a window, where at least `need` do. rows is a multiple of cellSide.
template <class S>
__device__ __forceinline__ void openMean(u16 *dst, i64 dstPitch, const u16 *src, i64 pitch, const u8 *exclude, i64 excludePitch,
	u32 *wanting, u32 *list, u32 *listed, u32 need, int r, int strips, int width, int rows, int w, int h) {
	__shared__ prefixRow<S> all[threads / 32];
	__shared__ typename S::inverses inverse;
	inverse.make();
	warpWindow<S, openReader> o(all[threadIdx.x / 32], openReader(src, pitch, exclude, excludePitch, w, h), r, strips, width, rows, w, h);
	if (o.y0 >= h)
		return;
	o.begin();
	int lane = threadIdx.x % 32, strip = o.x0 / width, x0 = o.x0 + lane;
	u32 poor = 0;
	for (int y = o.y0; y < o.y1; y++) {
		o.next(y);
		u16 *out = rowOf(dst, dstPitch, y) + x0;
		u32 own = 0;
#pragma unroll
		for (int k = 0; k < each; k++) {
			S s = o.sums(k);
			u32 mean = s.mean(inverse);
			bool inside = x0 + k * 32 < o.x1, enough = s.count() >= need;
			u32 votes = __ballot_sync(0xffffffff, inside && !enough);
			if (inside && enough)
				out[k * 32] = mean;
			own = lane == k ? votes : own;
		}
		if (lane < each)
			wanting[((i64)y * strips + strip) * each + lane] = own;
		poor |= own;
		if (y % cellSide == cellSide - 1 || y == o.y1 - 1) {
			if (poor)
				list[atomicAdd(listed, 1)] = (y / cellSide * strips + strip) * each + lane;
			poor = 0;
		}
	}
}

#define OPENMEAN(name, S)                                                                                              \
	extern "C" __global__ void __launch_bounds__(threads) name(u16 *__restrict__ dst, i64 dstPitch, const u16 *__restrict__ src, i64 pitch, \
		const u8 *__restrict__ exclude, i64 excludePitch, u32 *wanting, u32 *list, u32 *listed, int need, int r, int strips, int width, int rows, int w, int h) { \
		openMean<S>(dst, dstPitch, src, pitch, exclude, excludePitch, wanting, list, listed, need, r, strips, width, rows, w, h);  \
	}
OPENMEAN(openMeanFew, few)
OPENMEAN(openMeanMany, many)

// openColumn reads a column of samples of which some count.
struct openColumn {
	const u16 *p;
	const u8 *exclude;
	i64 pitch, excludePitch;
	bool inside;
	// load reads rows y … y+7, those outside the picture and from `end` on as some that do not count.
	__device__ __forceinline__ void load(u32 *v, u32 *out, int y, int end) const {
#pragma unroll
		for (int i = 0; i < 8; i++) {
			bool in = inside && y + i >= 0 && y + i < end;
			v[i] = in ? *rowOf(p, pitch, y + i) : 0;
			out[i] = in ? *rowOf(exclude, excludePitch, y + i) : 1;
		}
	}
};

// openCells does the cells listed, a block one after the other: where one window is too poor, the next. The radii are the bytes
// of a word, the smallest lowest. The last takes what there is, and the pixel itself where that is nothing. A thread has
// `shares` columns.
static const int cellBatch = 8;

template <int shares>
__device__ __forceinline__ void openCells(u16 *dst, i64 dstPitch, const u16 *src, i64 pitch, const u8 *exclude, i64 excludePitch, const u32 *wanting, const u32 *list,
	const u32 *listed, u64 radii, int levels, int strips, int width, int w, int h) {
	// The sums down the columns of some rows, and then their prefixes, behind one that is 0.
	__shared__ many sums[cellBatch][shares * threads + 1];
	__shared__ u32 any;
	const int perWarp = cellBatch / (threads / 32);
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	u32 number = *listed;
	for (u32 item = blockIdx.x; item < number; item += gridDim.x) {
		u32 cell = list[item], k = cell % each, strip = cell / each % strips;
		int left = strip * width + k * cellSide, top = cell / each / strips * cellSide;
		// A thread's pixels that are left: one column of two rows of each batch.
		u32 bits = 0;
		for (int i = 0; i < cellSide / cellBatch * perWarp; i++) {
			int y = top + i / perWarp * cellBatch + warp * perWarp + i % perWarp;
			if (y < h)
				bits |= (wanting[((i64)y * strips + strip) * each + k] >> lane & 1) << i;
		}
		for (int level = 0; level < levels; level++) {
			__syncthreads();
			if (threadIdx.x == 0)
				any = 0;
			__syncthreads();
			if (bits)
				atomicOr(&any, bits);
			__syncthreads();
			if (!any)
				break;
			int first = (__ffs(any) - 1) / perWarp, last = (31 - __clz(any)) / perWarp;
			int r = (int)(radii >> 8 * level) & 255, side = 2 * r + 1, n = cellSide + 2 * r, share = (n + 31) / 32, begin = top + first * cellBatch;
			u32 need = (side * side + 3) / 4;
			many column[shares];
			openColumn in[shares];
#pragma unroll
			for (int j = 0; j < shares; j++) {
				int c = threadIdx.x + j * threads, x = left - r + c;
				bool inside = c < n && (unsigned)x < (unsigned)w;
				in[j] = {src + x, exclude + x, pitch, excludePitch, inside};
				column[j].clear();
				for (int y = max(begin - r - 1, 0); y < begin + r; y += 8) {
					u32 v[8], out[8];
					in[j].load(v, out, y, min(begin + r, h));
#pragma unroll
					for (int i = 0; i < 8; i++)
						column[j].add(out[i] ? many{0, 0} : many{v[i], 1});
				}
			}
			for (int batch = first; batch <= last; batch++) {
				int y0 = top + batch * cellBatch;
				__syncthreads();
#pragma unroll
				for (int j = 0; j < shares; j++) {
					u32 v[8], out[8], gone[8], goneOut[8];
					in[j].load(v, out, y0 + r, h);
					in[j].load(gone, goneOut, y0 - r - 1, h);
#pragma unroll
					for (int i = 0; i < cellBatch; i++) {
						column[j].add(out[i] ? many{0, 0} : many{v[i], 1});
						column[j].subtract(goneOut[i] ? many{0, 0} : many{gone[i], 1});
						sums[i][threadIdx.x + j * threads + 1] = column[j];
					}
				}
				__syncthreads();
#pragma unroll
				for (int i = 0; i < perWarp; i++) {
					int bit = batch * perWarp + i;
					if (!__any_sync(0xffffffff, bits >> bit & 1))
						continue;
					many *row = sums[warp * perWarp + i];
					int from = 1 + lane * share, to = min(from + share, n + 1);
					many run = {0, 0};
					for (int c = from; c < to; c++) {
						run.add(row[c]);
						row[c] = run;
					}
					many before = run;
#pragma unroll
					for (int lanes = 1; lanes < 32; lanes *= 2) {
						many other = before.above(lanes);
						if (lane >= lanes)
							before.add(other);
					}
					before.subtract(run);
					for (int c = from; c < to; c++)
						row[c].add(before);
					if (lane == 0)
						row[0].clear();
					__syncwarp();
					int x = left + lane, y = y0 + warp * perWarp + i;
					if (!(bits >> bit & 1))
						continue;
					many s = row[lane + side];
					s.subtract(row[lane]);
					u32 m = s.count();
					if (m < need && level < levels - 1)
						continue;
					bits &= ~(1u << bit);
					rowOf(dst, dstPitch, y)[x] = m ? whole(s.total() + m / 2, m, __fdividef(1.0f, m)) : rowOf(src, pitch, y)[x];
				}
			}
		}
	}
}

#define OPENCELLS(name, shares)                                                                                        \
	extern "C" __global__ void __launch_bounds__(threads) name(u16 *__restrict__ dst, i64 dstPitch, const u16 *__restrict__ src, i64 pitch, \
		const u8 *__restrict__ exclude, i64 excludePitch, const u32 *__restrict__ wanting, const u32 *__restrict__ list, const u32 *__restrict__ listed, \
		u64 radii, int levels, int strips, int width, int w, int h) {                                                  \
		openCells<shares>(dst, dstPitch, src, pitch, exclude, excludePitch, wanting, list, listed, radii, levels, strips, width, w, h);  \
	}
OPENCELLS(openCellsNear, 1)
OPENCELLS(openCellsFar, 3)
