// What the kernels share. Planes are rows of samples, each row beginning at a multiple of the plane's pitch in bytes.
// Nothing here or in the kernels lets the compiler fuse a product and a sum (-fmad=false): both backends round alike.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

template <class T> __device__ __forceinline__ T *rowOf(T *p, i64 pitch, int y) {
	return (T *)((char *)p + (i64)y * pitch);
}

template <class T> __device__ __forceinline__ const T *rowOf(const T *p, i64 pitch, int y) {
	return (const T *)((const char *)p + (i64)y * pitch);
}

// mirrored is the sample that stands for index i of n: the picture is mirrored at its border without repeating the
// edge, again and again if need be.
__device__ __forceinline__ int mirrored(int i, int n) {
	if ((unsigned)i < (unsigned)n)
		return i;
	if (n == 1)
		return 0;
	int period = 2 * (n - 1);
	i %= period;
	if (i < 0)
		i += period;
	return i < period - i ? i : period - i;
}

// PIXEL is the pixel of a thread of a grid of blocks of any shape over a picture of w × h.
#define PIXEL(x, y, w, h)                                                                                              \
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;                          \
	if (x >= (w) || y >= (h))                                                                                          \
	return
