// Operations of correction on tiles: a block of threads solves a tile, in device memory, with a barrier between the steps.
// Each arithmetic operation is rounded by itself, in the order of processing.Backend's formulas.
#include "common.cuh"

static const int tileThreads = 256;

// tile is a rectangle of the planes and what belongs to it: where its scratch begins, in floats for each plane of scratch,
// sweeps and relaxation.
struct tile {
	int x, y, w, h;
	i64 at;
	int sweeps;
	float omega;
	__device__ __forceinline__ int size() const { return w * h; }
};

static const u8 stateKnown = 0, stateLost = 2;

// view is a plane's part under a tile.
template <class T> struct view {
	T *p;
	i64 pitch;
	__device__ view(T *plane, i64 pitch, const tile &t) : p(rowOf(plane, pitch, t.y) + t.x), pitch(pitch) {}
	__device__ __forceinline__ T &at(int x, int y) const { return rowOf(p, pitch, y)[x]; }
};

// dense is scratch of a tile, rows without padding.
template <class T> struct dense {
	T *p;
	int w;
	__device__ dense(T *p, int w) : p(p), w(w) {}
	__device__ __forceinline__ T &at(int x, int y) const { return p[y * w + x]; }
};

// around is the sum over the neighbours of a pixel within w × h, and n their number.
template <class V> __device__ __forceinline__ float around(const V &v, int x, int y, int w, int h, int &n) {
	float l = 0, r = 0, u = 0, d = 0;
	n = 0;
	if (x > 0) {
		l = v.at(x - 1, y);
		n++;
	}
	if (x < w - 1) {
		r = v.at(x + 1, y);
		n++;
	}
	if (y > 0) {
		u = v.at(x, y - 1);
		n++;
	}
	if (y < h - 1) {
		d = v.at(x, y + 1);
		n++;
	}
	return (l + r) + (u + d);
}

// part is 1/n for a number of neighbours; a tile of one pixel has none.
__device__ __forceinline__ float part(int n) {
	return n == 4 ? 1.0f / 4 : n == 3 ? 1.0f / 3 : n == 2 ? 1.0f / 2 : n;
}

// knownIn counts the known pixels of a tile; every thread gets the number.
__device__ int knownIn(const view<const u8> &state, const tile &t) {
	__shared__ int total;
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	int own = 0;
	for (int i = threadIdx.x; i < t.size(); i += tileThreads)
		own += state.at(i % t.w, i / t.w) == stateKnown;
	if (own)
		atomicAdd(&total, own);
	__syncthreads();
	return total;
}

// pullPush starts Harmonic: coarser and coarser levels lie one behind the other in scratch, values and then whether there are any.
extern "C" __global__ void __launch_bounds__(tileThreads) pullPush(float *dst, i64 dstPitch, const u8 *stateP, i64 statePitch,
	const tile *__restrict__ tiles, float *scratch, u8 *missing) {
	tile t = tiles[blockIdx.x];
	view<float> p(dst, dstPitch, t);
	view<const u8> state(stateP, statePitch, t);
	int known = knownIn(state, t);
	if (known == 0 || known == t.size())
		return;
	float *values = scratch + t.at;
	u8 *unknown = missing + t.at;
	int w = t.w, h = t.h, from = 0, to = 0;
	for (bool finest = true; w > 1 || h > 1; finest = false) {
		int cw = (w + 1) / 2, ch = (h + 1) / 2;
		for (int i = threadIdx.x; i < cw * ch; i += tileThreads) {
			int x = i % cw, y = i / cw, n = 0;
			float v[4];
#pragma unroll
			for (int j = 0; j < 4; j++) {
				int u = 2 * x + j % 2, z = 2 * y + j / 2;
				v[j] = 0;
				if (u < w && z < h && (finest ? state.at(u, z) : unknown[from + z * w + u]) == stateKnown) {
					v[j] = finest ? p.at(u, z) : values[from + z * w + u];
					n++;
				}
			}
			// Diagonal pairs first.
			values[to + i] = n > 0 ? ((v[0] + v[3]) + (v[1] + v[2])) / n : 0;
			unknown[to + i] = n > 0 ? stateKnown : 1;
		}
		__syncthreads();
		from = to;
		to += cw * ch;
		w = cw;
		h = ch;
	}
	// Back down: `from` is the level of one pixel.
	while (w != t.w || h != t.h) {
		// The size of the next finer level, by going down to it from the finest.
		int fw = t.w, fh = t.h, at = -1, end = 0;
		while ((fw + 1) / 2 != w || (fh + 1) / 2 != h) {
			fw = (fw + 1) / 2;
			fh = (fh + 1) / 2;
			at = end;
			end += fw * fh;
		}
		for (int i = threadIdx.x; i < fw * fh; i += tileThreads) {
			int x = i % fw, y = i / fw;
			float coarse = values[from + y / 2 * w + x / 2];
			if (at < 0) {
				if (state.at(x, y) != stateKnown)
					p.at(x, y) = coarse;
			} else if (unknown[at + i] != stateKnown) {
				values[at + i] = coarse;
			}
		}
		__syncthreads();
		from = at;
		w = fw;
		h = fh;
	}
}

// harmonic does the sweeps from `first` on, at most `count`.
extern "C" __global__ void __launch_bounds__(tileThreads) harmonic(float *dst, i64 dstPitch, const u8 *stateP, i64 statePitch,
	const tile *__restrict__ tiles, int first, int count) {
	tile t = tiles[blockIdx.x];
	if (first >= t.sweeps)
		return;
	view<float> p(dst, dstPitch, t);
	view<const u8> state(stateP, statePitch, t);
	int known = knownIn(state, t);
	if (known == 0 || known == t.size())
		return;
	count = min(count, t.sweeps - first);
	for (int s = 0; s < 2 * count; s++) {
		for (int i = threadIdx.x; i < t.size(); i += tileThreads) {
			int x = i % t.w, y = i / t.w, n;
			if ((x + y) % 2 != s % 2 || state.at(x, y) == stateKnown)
				continue;
			float sum = around(p, x, y, t.w, t.h, n), own = p.at(x, y);
			p.at(x, y) = own + t.omega * (sum * part(n) - own);
		}
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(tileThreads) detail(float *dst, i64 dstPitch, const float *src, i64 srcPitch,
	const u8 *stateP, i64 statePitch, const tile *__restrict__ tiles, float *scratch) {
	const float taps[5] = {1, 4, 6, 4, 1};
	tile t = tiles[blockIdx.x];
	view<float> out(dst, dstPitch, t);
	view<const float> in(src, srcPitch, t);
	view<const u8> state(stateP, statePitch, t);
	dense<float> smooth(scratch + 3 * t.at, t.w), value(smooth.p + t.size(), t.w), weight(value.p + t.size(), t.w);
	for (int i = threadIdx.x; i < t.size(); i += tileThreads)
		smooth.p[i] = in.at(i % t.w, i / t.w);
	for (int gap = 1; gap <= 2; gap++) {
		__syncthreads();
		for (int i = threadIdx.x; i < t.size(); i += tileThreads) {
			int x = i % t.w, y = i / t.w;
			float v = 0, m = 0;
#pragma unroll
			for (int k = 0; k < 5; k++) {
				int u = x + (k - 2) * gap;
				if (u >= 0 && u < t.w && state.at(u, y) == stateKnown) {
					v += taps[k] * smooth.at(u, y);
					m += taps[k];
				}
			}
			value.p[i] = v;
			weight.p[i] = m;
		}
		__syncthreads();
		for (int i = threadIdx.x; i < t.size(); i += tileThreads) {
			int x = i % t.w, y = i / t.w;
			if (state.at(x, y) != stateKnown)
				continue;
			float v = 0, m = 0;
#pragma unroll
			for (int k = 0; k < 5; k++) {
				int u = y + (k - 2) * gap;
				if (u >= 0 && u < t.h) {
					v += taps[k] * value.at(x, u);
					m += taps[k] * weight.at(x, u);
				}
			}
			smooth.p[i] = v / m;
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < t.size(); i += tileThreads) {
		int x = i % t.w, y = i / t.w;
		out.at(x, y) = state.at(x, y) == stateKnown ? in.at(x, y) - smooth.p[i] : 0;
	}
}

// separation is processing.Separation.
struct separation {
	float axes[4][4], variance[4], light[4], noise, mismatch;
	int sweeps;
};

// separate does the sweeps from `first` on, at most `count`. All planes of floats have one pitch.
extern "C" __global__ void __launch_bounds__(tileThreads) separate(float *p0, float *p1, float *p2, float *p3, float *lightP,
	const float *s0, const float *s1, const float *s2, const float *s3, const float *expectedP, i64 pitch, const u8 *stateP,
	i64 statePitch, const tile *__restrict__ tiles, const separation *__restrict__ models, int channels, int first, int count) {
	__shared__ separation m;
	tile t = tiles[blockIdx.x];
	if (threadIdx.x == 0)
		m = models[blockIdx.x];
	view<const u8> state(stateP, statePitch, t);
	// Its barriers part the write of m from the reads.
	if (knownIn(state, t) == 0 || first >= m.sweeps)
		return;
	view<float> paint[4] = {{p0, pitch, t}, {p1, pitch, t}, {p2, pitch, t}, {p3, pitch, t}};
	view<const float> seen[4] = {{s0, pitch, t}, {s1, pitch, t}, {s2, pitch, t}, {s3, pitch, t}};
	view<float> light(lightP, pitch, t);
	view<const float> expected(expectedP, pitch, t);
	count = min(count, m.sweeps - first);
	for (int s = 0; s < 2 * count; s++) {
		for (int i = threadIdx.x; i < t.size(); i += tileThreads) {
			int x = i % t.w, y = i / t.w, n = 0;
			if ((x + y) % 2 != s % 2 || state.at(x, y) == stateKnown)
				continue;
			float guess[4], rest[4], gain[4], slope = 0;
#pragma unroll
			for (int k = 0; k < 4; k++)
				if (k < channels) {
					float sum = around(paint[k], x, y, t.w, t.h, n);
					guess[k] = sum * part(n);
					slope += guess[k];
				}
			if (state.at(x, y) == stateLost) {
#pragma unroll
				for (int k = 0; k < 4; k++)
					if (k < channels)
						paint[k].at(x, y) = guess[k];
				continue;
			}
			slope = slope * 2 / channels + 0.01f;
			float spread = slope * slope * part(n), off = light.at(x, y);
			float noise = m.noise + m.mismatch * off * (m.mismatch * off), along = 0, sure = 0;
#pragma unroll
			for (int k = 0; k < 4; k++)
				if (k < channels) {
					rest[k] = 0;
#pragma unroll
					for (int c = 0; c < 4; c++)
						if (c < channels)
							rest[k] += m.axes[k][c] * (seen[c].at(x, y) - guess[c] * guess[c]);
					float g = m.variance[k] * spread, q = 1 / (g + noise), lq = m.light[k] * q;
					gain[k] = g * q;
					along += lq * rest[k];
					sure += lq * m.light[k];
				}
			float mu = (along - 1 / expected.at(x, y)) / sure;
			float l = (mu + sqrtf(mu * mu + 2.5464791f / sure)) * 0.5f;
			light.at(x, y) = l;
#pragma unroll
			for (int k = 0; k < 4; k++)
				if (k < channels)
					gain[k] = gain[k] * (rest[k] - l * m.light[k]);
#pragma unroll
			for (int c = 0; c < 4; c++)
				if (c < channels) {
					float v = guess[c] * guess[c];
#pragma unroll
					for (int k = 0; k < 4; k++)
						if (k < channels)
							v += m.axes[k][c] * gain[k];
					paint[c].at(x, y) = sqrtf(v != v ? v : fmaxf(v, 0));
				}
		}
		__syncthreads();
	}
}
