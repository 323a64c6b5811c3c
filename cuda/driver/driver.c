//go:build cuda && (linux || windows) && amd64

#include "driver.h"
#include "library.h"

// CUDA_ERROR_NO_DEVICE: what every entry answers that the driver did not bring.
static int no_device(void) { return 100; }

#define ENTRY(name) HIDDEN void *slot_##name = (void *)no_device;
#include "entries.h"
#undef ENTRY

static const struct {
	const char *name;
	void **slot;
} entries[] = {
#define ENTRY(name) {#name, &slot_##name},
#include "entries.h"
#undef ENTRY
};

static struct driver_state state = {0, "", 100};

// load keeps the library until the program ends: device memory and threads of the driver depend on it.
static void load(void) {
	void *library = library_open(&state.error);
	if (library == NULL)
		return;
	state.loaded = 1;
	for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++) {
		void *p = library_find(library, entries[i].name);
		if (p != NULL)
			*entries[i].slot = p;
	}
	int (*init)(unsigned) = (int (*)(unsigned))library_find(library, "cuInit");
	if (init != NULL)
		state.init = init(0);
}

// cuInit is called by gorgonia.org/cu when the program starts, which exits where it fails. So it never does, and starts
// nothing either: a driver takes some tenths of a second, which a program that needs no GPU does not wait for. Whoever
// uses the driver asks driver_state first.
HIDDEN int cuInit(unsigned flags) {
	(void)flags;
	return 0;
}

struct driver_state driver_state(void) {
	library_once(load);
	return state;
}

int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);

int driver_version(int *version) { return cuDriverGetVersion(version); }
int driver_device_count(int *count) { return cuDeviceGetCount(count); }
int driver_host_alloc(void **p, size_t n) { return cuMemHostAlloc(p, n, 0); }
int driver_host_free(void *p) { return cuMemFreeHost(p); }

// CUDA_MEMCPY2D of the driver's interface.
struct memcpy2d {
	size_t src_x, src_y;
	int src_type;
	const void *src_host;
	unsigned long long src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x, dst_y;
	int dst_type;
	void *dst_host;
	unsigned long long dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width, height;
};

enum { on_host = 1, on_device = 2 };

int cuMemcpy2DAsync_v2(const struct memcpy2d *, void *);

int driver_rows_up(unsigned long long dst, size_t pitch, void *src, size_t row, size_t rows, void *stream) {
	struct memcpy2d c = {.src_type = on_host, .src_host = src, .src_pitch = row,
		.dst_type = on_device, .dst_device = dst, .dst_pitch = pitch, .width = row, .height = rows};
	return cuMemcpy2DAsync_v2(&c, stream);
}

int driver_rows_down(void *dst, size_t row, size_t rows, unsigned long long src, size_t pitch, void *stream) {
	struct memcpy2d c = {.src_type = on_device, .src_device = src, .src_pitch = pitch,
		.dst_type = on_host, .dst_host = dst, .dst_pitch = row, .width = row, .height = rows};
	return cuMemcpy2DAsync_v2(&c, stream);
}
