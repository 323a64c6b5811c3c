// A driver library for tests: it finds one GPU whose memory is the host's and whose kernels do nothing. FAKE_CUDA says
// how it fails: "none" (cuInit finds no device), "empty" (no device is counted), "old" (version 10.2), "unwell" (cuInit
// fails with 999), "fail N CODE" (call N fails), "break N CODE" (call N and all after it fail), "launch N CODE" (the N-th
// start of a kernel fails), "memory N" (the N-th request for memory and all after it fail) or "hang N" (from call N on,
// nothing is ever done that was queued). Where FAKE_CUDA changes, counting begins anew. The file FAKE_CUDA_CALLS holds how
// many calls there were so far, of them requests for memory, and starts of kernels.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { ANY, MEMORY, LAUNCH, QUERY };

static int calls[3], at, code, file = -1;
static char mode[64] = "", word[16] = "";

static int is(const char *w) { return strcmp(word, w) == 0; }

static void look(void) {
	const char *now = getenv("FAKE_CUDA");
	if (now == NULL)
		now = "";
	if (strcmp(now, mode) == 0)
		return;
	snprintf(mode, sizeof mode, "%s", now);
	word[0] = 0;
	at = code = 0;
	memset(calls, 0, sizeof calls);
	sscanf(mode, "%15s %d %d", word, &at, &code);
}

__attribute__((constructor)) static void begin(void) {
	if (getenv("FAKE_CUDA_CALLS") != NULL)
		file = open(getenv("FAKE_CUDA_CALLS"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
	look();
}

static int result(enum kind k) {
	look();
	calls[ANY]++;
	if (k == MEMORY || k == LAUNCH)
		calls[k]++;
	if (file >= 0) {
		char text[64];
		pwrite(file, text, sprintf(text, "%8d %8d %8d", calls[ANY], calls[MEMORY], calls[LAUNCH]), 0);
	}
	if (is("fail") && calls[ANY] == at || is("break") && calls[ANY] >= at || is("launch") && k == LAUNCH && calls[LAUNCH] == at)
		return code;
	if (is("memory") && k == MEMORY && calls[MEMORY] >= at)
		return 2;
	if (is("hang") && k == QUERY && calls[ANY] >= at)
		return 600;
	return 0;
}

#define AS(kind, what)            \
	do {                          \
		int code = result(kind);  \
		if (code != 0)            \
			return code;          \
		what;                     \
		return 0;                 \
	} while (0)

#define DO(what) AS(ANY, what)

typedef unsigned long long device_ptr;
static char thing;

int cuInit(unsigned flags) { return is("none") ? 100 : is("unwell") ? 999 : 0; }
int cuDriverGetVersion(int *v) { DO(*v = is("old") ? 10020 : 12080); }
int cuDeviceGetCount(int *n) { DO(*n = !is("empty")); }
int cuDeviceGet(int *d, int i) { DO(*d = i); }
int cuDeviceGetName(char *s, int n, int d) { DO(snprintf(s, n, "Fake GPU")); }
int cuDeviceTotalMem_v2(size_t *n, int d) { DO(*n = (size_t)8 << 30); }
int cuDeviceGetAttribute(int *v, int what, int d) { DO(*v = what == 75 ? 9 : 0); }
int cuCtxCreate_v2(void **c, unsigned flags, int d) { DO(*c = &thing); }
int cuCtxDestroy_v2(void *c) { DO(); }
int cuCtxSetCurrent(void *c) { DO(); }
int cuStreamCreate(void **s, unsigned flags) { DO(*s = &thing); }
int cuStreamDestroy_v2(void *s) { DO(); }
int cuStreamSynchronize(void *s) { DO(); }
int cuStreamQuery(void *s) { AS(QUERY, ); }
int cuModuleLoadData(void **m, const void *image) { DO(*m = &thing); }
int cuModuleUnload(void *m) { DO(); }
int cuModuleGetFunction(void **f, void *m, const char *name) { DO(*f = &thing); }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared, void *s, void **p, void **x) { AS(LAUNCH, ); }
int cuMemAlloc_v2(device_ptr *p, size_t n) { AS(MEMORY, *p = (device_ptr)calloc(1, n)); }
int cuMemFree_v2(device_ptr p) { DO(free((void *)p)); }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { AS(MEMORY, *p = calloc(1, n)); }
int cuMemFreeHost(void *p) { DO(free(p)); }
int cuMemcpyHtoDAsync_v2(device_ptr d, const void *s, size_t n, void *stream) { DO(memcpy((void *)d, s, n)); }
int cuMemcpyDtoHAsync_v2(void *d, device_ptr s, size_t n, void *stream) { DO(memcpy(d, (void *)s, n)); }
int cuMemcpyDtoDAsync_v2(device_ptr d, device_ptr s, size_t n, void *stream) { DO(memcpy((void *)d, (void *)s, n)); }
int cuMemsetD8Async(device_ptr d, unsigned char v, size_t n, void *stream) { DO(memset((void *)d, v, n)); }
int cuEventCreate(void **e, unsigned flags) { DO(*e = &thing); }
int cuEventDestroy_v2(void *e) { DO(); }
int cuEventRecord(void *e, void *s) { DO(); }
int cuEventQuery(void *e) { AS(QUERY, ); }
int cuEventElapsedTime(float *ms, void *a, void *b) { DO(*ms = 1); }

struct copy {
	size_t src_x, src_y;
	int src_type;
	const char *src_host;
	device_ptr src_device;
	void *src_array;
	size_t src_pitch, dst_x, dst_y;
	int dst_type;
	char *dst_host;
	device_ptr dst_device;
	void *dst_array;
	size_t dst_pitch, width, height;
};

int cuMemcpy2DAsync_v2(const struct copy *c, void *stream) {
	int code = result(ANY);
	if (code != 0)
		return code;
	const char *src = c->src_type == 1 ? c->src_host : (const char *)c->src_device;
	char *dst = c->dst_type == 1 ? c->dst_host : (char *)c->dst_device;
	for (size_t y = 0; y < c->height; y++)
		memcpy(dst + y * c->dst_pitch, src + y * c->src_pitch, c->width);
	return 0;
}
