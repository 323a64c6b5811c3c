//go:build cuda && amd64

#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// CUDA_ERROR_NO_DEVICE: what every entry answers that the driver did not bring.
static int no_device(void) { return 100; }

#define ENTRY(name) __attribute__((visibility("hidden"))) void *slot_##name = (void *)no_device;
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

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver_state state = {0, "", 100};

// load keeps the library until the program ends: device memory and threads of the driver depend on it.
static void load(void) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		state.error = why == NULL ? "" : strdup(why);
		return;
	}
	state.loaded = 1;
	for (unsigned i = 0; i < sizeof entries / sizeof entries[0]; i++) {
		void *p = dlsym(library, entries[i].name);
		if (p != NULL)
			*entries[i].slot = p;
	}
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
	if (init != NULL)
		state.init = init(0);
}

// cuInit is called by gorgonia.org/cu when the program starts, which exits where it fails. So it never does; whoever
// uses the driver asks driver_state first.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
	(void)flags;
	pthread_once(&once, load);
	return 0;
}

struct driver_state driver_state(void) {
	pthread_once(&once, load);
	return state;
}

int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuMemHostAlloc(void **, unsigned long, unsigned);
int cuMemFreeHost(void *);
int cuFuncSetAttribute(void *, int, int);

int driver_version(int *version) { return cuDriverGetVersion(version); }
int driver_device_count(int *count) { return cuDeviceGetCount(count); }
int driver_host_alloc(void **p, unsigned long n) { return cuMemHostAlloc(p, n, 0); }
int driver_host_free(void *p) { return cuMemFreeHost(p); }

// 8 is CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
int driver_shared_memory(void *function, int bytes) { return cuFuncSetAttribute(function, 8, bytes); }
