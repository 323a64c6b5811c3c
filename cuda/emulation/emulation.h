// Lets the C++ compiler of the host compile the kernels (*.cu) and run them on the CPU: a block's threads are fibres that
// take turns at barriers and warp operations, blocks run one after the other in each of a few threads. It is for tests
// of what kernels compute on machines without a GPU; it knows what the kernels use of CUDA, and times mean nothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

// EMULATED_GLOBAL marks the kernels where their names are looked for, else it is empty.
#define __global__ EMULATED_GLOBAL
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __grid_constant__
#define __restrict__
// Blocks of one thread of the host follow each other, so what they share may lie in the thread's own memory.
#define __shared__ static thread_local

struct uint3 {
	unsigned x, y, z;
};
struct dim3 {
	unsigned x, y, z;
	dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#define EMULATED_VECTOR(T, name, align)                                                                                \
	struct name##1 { T x; };                                                                                           \
	struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                                 \
	struct name##3 { T x, y, z; };                                                                                     \
	struct alignas(align) name##4 { T x, y, z, w; };                                                                   \
	inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                         \
	inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                                 \
	inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMULATED_VECTOR(unsigned char, uchar, 4)
EMULATED_VECTOR(signed char, char, 4)
EMULATED_VECTOR(unsigned short, ushort, 8)
EMULATED_VECTOR(short, short, 8)
EMULATED_VECTOR(int, int, 16)
EMULATED_VECTOR(float, float, 16)
EMULATED_VECTOR(double, double, 16)
EMULATED_VECTOR(long long, longlong, 16)
EMULATED_VECTOR(unsigned long long, ulonglong, 16)
struct uint1 { unsigned x; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace emulation {

// Where a thread of the grid is; the scheduler sets it whenever it turns to another.
struct place {
	uint3 thread, block;
	dim3 blockSize, gridSize;
};
extern thread_local place here;

// What a thread waits for, with the value that it brings.
void *dynamicShared();
void barrier();
// vote waits for all threads of the block and returns how many of them bring a value that is not 0, and of how many.
void vote(bool value, int &set, int &all);
// exchange waits for the lanes of mask and gives the values of all lanes.
const uint64_t *exchange(unsigned mask, uint64_t value, unsigned &present);
int lane();

struct launch {
	dim3 grid, block;
	size_t shared;
};
void run(const launch &l, void (*body)(void *), void *argument);

template <class F> struct kernel;
template <class... A> struct kernel<void (*)(A...)> {
	struct bound {
		void (*f)(A...);
		void **params;
	};
	template <size_t... i> static void call(const bound &b, std::index_sequence<i...>) {
		b.f(*static_cast<std::remove_reference_t<A> *>(b.params[i])...);
	}
	static void body(void *p) { call(*static_cast<bound *>(p), std::index_sequence_for<A...>()); }
	static void start(void (*f)(A...), const launch &l, void **params) {
		bound b = {f, params};
		run(l, body, &b);
	}
};

} // namespace emulation

// EMULATED_ENTRY lets the driver find a kernel by its name.
#define EMULATED_ENTRY(name)                                                                                                   \
	extern "C" void emulated_##name(const emulation::launch *l, void **params) {                                       \
		emulation::kernel<decltype(&name)>::start(&name, *l, params);                                                  \
	}

#define threadIdx (emulation::here.thread)
#define blockIdx (emulation::here.block)
#define blockDim (emulation::here.blockSize)
#define gridDim (emulation::here.gridSize)
#define warpSize 32

inline void __syncthreads() { emulation::barrier(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline int __syncthreads_or(int v) {
	int set, all;
	emulation::vote(v != 0, set, all);
	return set > 0;
}
inline int __syncthreads_and(int v) {
	int set, all;
	emulation::vote(v != 0, set, all);
	return set == all;
}
inline int __syncthreads_count(int v) {
	int set, all;
	emulation::vote(v != 0, set, all);
	return set;
}

inline void __syncwarp(unsigned mask = 0xffffffffu) {
	unsigned present;
	emulation::exchange(mask, 0, present);
}

template <class T> inline T emulatedShuffle(unsigned mask, T v, int from, bool inside) {
	uint64_t bits = 0;
	unsigned present;
	std::memcpy(&bits, &v, sizeof v);
	const uint64_t *all = emulation::exchange(mask, bits, present);
	if (inside)
		std::memcpy(&v, &all[from], sizeof v);
	return v;
}
template <class T> inline T __shfl_sync(unsigned mask, T v, int from, int width = 32) {
	int l = emulation::lane();
	return emulatedShuffle(mask, v, (l & ~(width - 1)) | (from & (width - 1)), true);
}
template <class T> inline T __shfl_up_sync(unsigned mask, T v, unsigned by, int width = 32) {
	int l = emulation::lane();
	return emulatedShuffle(mask, v, l - (int)by, (int)(l & (width - 1)) >= (int)by);
}
template <class T> inline T __shfl_down_sync(unsigned mask, T v, unsigned by, int width = 32) {
	int l = emulation::lane();
	return emulatedShuffle(mask, v, l + (int)by, (int)(l & (width - 1)) + (int)by < width);
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T v, int by, int width = 32) {
	int l = emulation::lane(), from = l ^ by;
	return emulatedShuffle(mask, v, from, (from & ~(width - 1)) <= (l & ~(width - 1)));
}
inline unsigned __ballot_sync(unsigned mask, int v) {
	unsigned present, bits = 0;
	const uint64_t *all = emulation::exchange(mask, v != 0, present);
	for (int i = 0; i < 32; i++)
		if (present >> i & 1 && all[i] != 0)
			bits |= 1u << i;
	return bits;
}
inline int __any_sync(unsigned mask, int v) { return __ballot_sync(mask, v) != 0; }
inline int __all_sync(unsigned mask, int v) { return __ballot_sync(mask, v == 0) == 0; }
template <class T> inline unsigned __match_any_sync(unsigned mask, T v) {
	uint64_t bits = 0;
	unsigned present, same = 0;
	std::memcpy(&bits, &v, sizeof v);
	const uint64_t *all = emulation::exchange(mask, bits, present);
	for (int i = 0; i < 32; i++)
		if (present >> i & 1 && all[i] == bits)
			same |= 1u << i;
	return same;
}
template <class T, class F> inline T emulatedReduce(unsigned mask, T v, F f) {
	uint64_t bits = 0;
	unsigned present;
	std::memcpy(&bits, &v, sizeof v);
	const uint64_t *all = emulation::exchange(mask, bits, present);
	bool first = true;
	T result = v;
	for (int i = 0; i < 32; i++)
		if (present >> i & 1) {
			T other;
			std::memcpy(&other, &all[i], sizeof other);
			result = first ? other : f(result, other);
			first = false;
		}
	return result;
}
template <class T> inline T __reduce_add_sync(unsigned mask, T v) { return emulatedReduce(mask, v, [](T a, T b) { return T(a + b); }); }
template <class T> inline T __reduce_min_sync(unsigned mask, T v) { return emulatedReduce(mask, v, [](T a, T b) { return a < b ? a : b; }); }
template <class T> inline T __reduce_max_sync(unsigned mask, T v) { return emulatedReduce(mask, v, [](T a, T b) { return a < b ? b : a; }); }
template <class T> inline T __reduce_or_sync(unsigned mask, T v) { return emulatedReduce(mask, v, [](T a, T b) { return T(a | b); }); }
template <class T> inline T __reduce_and_sync(unsigned mask, T v) { return emulatedReduce(mask, v, [](T a, T b) { return T(a & b); }); }

template <class T, class F> inline T emulatedUpdate(T *p, F f) {
	T old, next;
	__atomic_load(p, &old, __ATOMIC_SEQ_CST);
	do
		next = f(old);
	while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return old;
}
template <class T> using emulatedSame = std::common_type_t<T>;
template <class T> inline T atomicAdd(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return T(o + v); }); }
template <class T> inline T atomicSub(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return T(o - v); }); }
template <class T> inline T atomicMin(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return v < o ? v : o; }); }
template <class T> inline T atomicMax(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return o < v ? v : o; }); }
template <class T> inline T atomicOr(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return T(o | v); }); }
template <class T> inline T atomicAnd(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return T(o & v); }); }
template <class T> inline T atomicXor(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T o) { return T(o ^ v); }); }
template <class T> inline T atomicExch(T *p, emulatedSame<T> v) { return emulatedUpdate(p, [v](T) { return v; }); }
template <class T> inline T atomicCAS(T *p, emulatedSame<T> is, emulatedSame<T> v) {
	__atomic_compare_exchange(p, &is, &v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return is;
}
inline unsigned atomicInc(unsigned *p, unsigned most) { return emulatedUpdate(p, [most](unsigned o) { return o >= most ? 0 : o + 1; }); }

#define EMULATED_MINMAX(T)                                                                                             \
	inline T min(T a, T b) { return b < a ? b : a; }                                                                   \
	inline T max(T a, T b) { return a < b ? b : a; }
EMULATED_MINMAX(int)
EMULATED_MINMAX(unsigned)
EMULATED_MINMAX(long)
EMULATED_MINMAX(unsigned long)
EMULATED_MINMAX(long long)
EMULATED_MINMAX(unsigned long long)
#undef EMULATED_MINMAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
inline long long min(long long a, int b) { return min(a, (long long)b); }
inline long long min(int a, long long b) { return min((long long)a, b); }
inline long long max(long long a, int b) { return max(a, (long long)b); }
inline long long max(int a, long long b) { return max((long long)a, b); }
inline unsigned long long min(unsigned long long a, unsigned b) { return min(a, (unsigned long long)b); }
inline unsigned long long max(unsigned long long a, unsigned b) { return max(a, (unsigned long long)b); }
using std::abs;

template <class To, class From> inline To emulatedBits(From v) {
	To to;
	static_assert(sizeof to == sizeof v, "");
	std::memcpy(&to, &v, sizeof to);
	return to;
}
inline float __int_as_float(int v) { return emulatedBits<float>(v); }
inline int __float_as_int(float v) { return emulatedBits<int>(v); }
inline float __uint_as_float(unsigned v) { return emulatedBits<float>(v); }
inline unsigned __float_as_uint(float v) { return emulatedBits<unsigned>(v); }
inline double __longlong_as_double(long long v) { return emulatedBits<double>(v); }
inline long long __double_as_longlong(double v) { return emulatedBits<long long>(v); }
inline double __hiloint2double(int hi, int lo) { return emulatedBits<double>((uint64_t)(uint32_t)hi << 32 | (uint32_t)lo); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
// What the GPU only approximates is here wrong by up to two units in the last place, so that nobody relies on more.
inline float emulatedApproximate(float v) {
	uint32_t bits = emulatedBits<uint32_t>(v);
	int error = (int)(bits * 2654435761u >> 16) % 5 - 2;
	return std::isfinite(v) && (bits & 0x7fffff) > 2 && (bits & 0x7fffff) < 0x7ffffd ? emulatedBits<float>(bits + error) : v;
}
inline float rsqrtf(float v) { return emulatedApproximate(1 / sqrtf(v)); }
inline float __fdividef(float a, float b) { return emulatedApproximate(a / b); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline int __float2int_rn(float v) { return (int)nearbyintf(v); }
inline int __float2int_rd(float v) { return (int)floorf(v); }
inline int __float2int_rz(float v) { return (int)v; }
inline unsigned __float2uint_rn(float v) { return (unsigned)nearbyintf(v); }
inline float __uint2float_rn(unsigned v) { return (float)v; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned)v); }
inline int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
	unsigned r = 0;
	for (int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
inline int __mulhi(int a, int b) { return (int64_t)a * b >> 32; }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? (unsigned)b - a : (unsigned)a - b); }
template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *p; }
template <class T> inline void __stcs(T *p, T v) { *p = v; }
template <class T> inline void __stcg(T *p, T v) { *p = v; }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { return ((uint64_t)hi << 32 | lo) << (n & 31) >> 32; }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { return ((uint64_t)hi << 32 | lo) >> (n & 31); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
	uint64_t from = (uint64_t)b << 32 | a;
	unsigned r = 0;
	for (int i = 0; i < 4; i++) {
		// Of a selector's four bits the intrinsic ignores the highest, unlike the instruction.
		r |= (unsigned)(from >> ((s >> (4 * i) & 7) * 8) & 255) << (8 * i);
	}
	return r;
}
template <int width, class F> inline unsigned emulatedLanes(unsigned a, unsigned b, F f) {
	const unsigned mask = (1u << width) - 1;
	unsigned r = 0;
	for (int i = 0; i < 32; i += width)
		r |= (f(a >> i & mask, b >> i & mask) & mask) << i;
	return r;
}
inline unsigned __vmaxu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x < y ? y : x; }); }
inline unsigned __vminu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; }); }
inline unsigned __vmaxu2(unsigned a, unsigned b) { return emulatedLanes<16>(a, b, [](unsigned x, unsigned y) { return x < y ? y : x; }); }
inline unsigned __vminu2(unsigned a, unsigned b) { return emulatedLanes<16>(a, b, [](unsigned x, unsigned y) { return x < y ? x : y; }); }
inline unsigned __vadd4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x + y; }); }
inline unsigned __vsub4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x - y; }); }
inline unsigned __vadd2(unsigned a, unsigned b) { return emulatedLanes<16>(a, b, [](unsigned x, unsigned y) { return x + y; }); }
inline unsigned __vsub2(unsigned a, unsigned b) { return emulatedLanes<16>(a, b, [](unsigned x, unsigned y) { return x - y; }); }
inline unsigned __vcmpeq4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x == y ? 255u : 0u; }); }
inline unsigned __vcmpne4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x != y ? 255u : 0u; }); }
inline unsigned __vcmpgtu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x > y ? 255u : 0u; }); }
inline unsigned __vcmpgeu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x >= y ? 255u : 0u; }); }
inline unsigned __vabsdiffu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x < y ? y - x : x - y; }); }
inline unsigned __vsetgtu4(unsigned a, unsigned b) { return emulatedLanes<8>(a, b, [](unsigned x, unsigned y) { return x > y ? 1u : 0u; }); }
inline unsigned emulatedDot(unsigned a, unsigned b, unsigned c) {
	for (int i = 0; i < 32; i += 8)
		c += (a >> i & 255) * (b >> i & 255);
	return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return emulatedDot(a, b, c); }
// emulatedMultiply is mma.m16n8k32 of unsigned and signed bytes, whose operands are spread over the lanes of a warp.
inline void emulatedMultiply(int c[4], const unsigned a[4], uint2 b) {
	const unsigned warp = 0xffffffffu;
	const int lane = emulation::lane(), q = lane / 4, t = lane % 4;
	const unsigned own[6] = {a[0], a[1], a[2], a[3], b.x, b.y};
	unsigned all[6][32], present;
	for (int i = 0; i < 6; i += 2) {
		const uint64_t *seen = emulation::exchange(warp, own[i] | (uint64_t)own[i + 1] << 32, present);
		for (int l = 0; l < 32; l++) {
			all[i][l] = (unsigned)seen[l];
			all[i + 1][l] = (unsigned)(seen[l] >> 32);
		}
	}
	for (int i = 0; i < 4; i++) {
		const int column = 2 * t + i % 2;
		for (int k = 0; k < 32; k++) {
			const unsigned x = all[i / 2 + 2 * (k / 16)][4 * q + k % 16 / 4], y = all[4 + k / 16][4 * column + k % 16 / 4];
			c[i] += (int)(x >> k % 4 * 8 & 255) * (int)(int8_t)(y >> k % 4 * 8);
		}
	}
}
inline void __nanosleep(unsigned) {}
