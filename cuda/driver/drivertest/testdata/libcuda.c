// A driver library for tests: it finds one GPU whose memory is the host's and whose kernels do nothing. FAKE_CUDA says
// how it fails: "none" (cuInit finds no device), "empty" (no device is counted), "old" (version 10.2), "unwell"
// (cuInit fails with 999), "fail N CODE" (call N fails) or "break N CODE" (call N and all after it fail). The file
// FAKE_CUDA_CALLS holds the number of calls so far.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls, fail_at, fail_code, sticky, count = -1;
static const char *mode = "";

__attribute__((constructor)) static void begin(void) {
	char word[16] = "";
	if (getenv("FAKE_CUDA") != NULL)
		mode = getenv("FAKE_CUDA");
	if (getenv("FAKE_CUDA_CALLS") != NULL)
		count = open(getenv("FAKE_CUDA_CALLS"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (sscanf(mode, "%15s %d %d", word, &fail_at, &fail_code) == 3)
		sticky = strcmp(word, "break") == 0;
}

static int result(void) {
	int n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
	if (count >= 0) {
		char text[16];
		pwrite(count, text, sprintf(text, "%d", n), 0);
	}
	return fail_at > 0 && (n == fail_at || (sticky && n > fail_at)) ? fail_code : 0;
}

#define DO(what)            \
	do {                    \
		int code = result();\
		if (code != 0)      \
			return code;    \
		what;               \
		return 0;           \
	} while (0)

typedef unsigned long long device_ptr;
static char thing;

int cuInit(unsigned flags) { return strcmp(mode, "none") == 0 ? 100 : strcmp(mode, "unwell") == 0 ? 999 : 0; }
int cuDriverGetVersion(int *v) { DO(*v = strcmp(mode, "old") == 0 ? 10020 : 12080); }
int cuDeviceGetCount(int *n) { DO(*n = strcmp(mode, "empty") != 0); }
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
int cuStreamQuery(void *s) { DO(); }
int cuModuleLoadData(void **m, const void *image) { DO(*m = &thing); }
int cuModuleUnload(void *m) { DO(); }
int cuModuleGetFunction(void **f, void *m, const char *name) { DO(*f = &thing); }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared, void *s, void **p, void **x) { DO(); }
int cuMemAlloc_v2(device_ptr *p, size_t n) { DO(*p = (device_ptr)calloc(1, n)); }
int cuMemFree_v2(device_ptr p) { DO(free((void *)p)); }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { DO(*p = calloc(1, n)); }
int cuMemFreeHost(void *p) { DO(free(p)); }
int cuMemcpyHtoDAsync_v2(device_ptr d, const void *s, size_t n, void *stream) { DO(memcpy((void *)d, s, n)); }
int cuMemcpyDtoHAsync_v2(void *d, device_ptr s, size_t n, void *stream) { DO(memcpy(d, (void *)s, n)); }
int cuMemcpyDtoDAsync_v2(device_ptr d, device_ptr s, size_t n, void *stream) { DO(memcpy((void *)d, (void *)s, n)); }
int cuMemsetD8Async(device_ptr d, unsigned char v, size_t n, void *stream) { DO(memset((void *)d, v, n)); }
int cuEventCreate(void **e, unsigned flags) { DO(*e = &thing); }
int cuEventDestroy_v2(void *e) { DO(); }
int cuEventRecord(void *e, void *s) { DO(); }
int cuEventQuery(void *e) { DO(); }
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
	int code = result();
	if (code != 0)
		return code;
	const char *src = c->src_type == 1 ? c->src_host : (const char *)c->src_device;
	char *dst = c->dst_type == 1 ? c->dst_host : (char *)c->dst_device;
	for (size_t y = 0; y < c->height; y++)
		memcpy(dst + y * c->dst_pitch, src + y * c->src_pitch, c->width);
	return 0;
}
