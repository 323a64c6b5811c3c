// A driver library for tests: it finds two GPUs whose memory is the host's and whose kernels do nothing, and refuses calls
// from threads to which no context is bound, or another than the stream's. FAKE_CUDA says how it fails: "none" (cuInit finds no device), "empty" (no device is counted), "old" (version 10.2), "unwell" (cuInit
// fails with 999), "fail N CODE" (call N fails), "break N CODE" (call N and all after it fail), "launch N CODE" (the N-th
// start of a kernel fails), "memory N" (the N-th request for memory and all after it fail) or "hang N" (from call N on,
// nothing is ever done that was queued). Where FAKE_CUDA changes, counting begins anew. The file FAKE_CUDA_CALLS holds how
// many calls there were so far, of them requests for memory, and starts of kernels; and of how many things, contexts,
// streams, events, modules and pieces of memory, the end was not asked for.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _WIN32
static void pwrite(int file, const void *text, unsigned n, long at) {
	lseek(file, at, SEEK_SET);
	write(file, text, n);
}
#endif

enum kind { ANY, MEMORY, LAUNCH, QUERY };

static int calls[3], alive, at, code, file = -1;
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
	alive = 0;
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
		pwrite(file, text, sprintf(text, "%8d %8d %8d %8d", calls[ANY], calls[MEMORY], calls[LAUNCH], alive), 0);
	}
	if (is("fail") && calls[ANY] == at || is("break") && calls[ANY] >= at || is("launch") && k == LAUNCH && calls[LAUNCH] == at)
		return code;
	if (is("memory") && k == MEMORY && calls[MEMORY] >= at)
		return 2;
	if (is("hang") && k == QUERY && calls[ANY] >= at)
		return 600;
	return 0;
}

struct context {
	int device;
};

struct stream {
	struct context *of;
};

static __thread struct context *current;

// in_context is for calls that need one.
static int in_context(enum kind k, const struct stream *s) {
	int code = result(k);
	return code != 0 ? code : current == NULL || (s != NULL && s->of != current) ? 201 : 0;
}

#define AFTER(check, ...)     \
	do {                      \
		int code = check;     \
		if (code != 0)        \
			return code;      \
		__VA_ARGS__;          \
		return 0;             \
	} while (0)

#define DO(...) AFTER(result(ANY), __VA_ARGS__)
#define BOUND(kind, stream, ...) AFTER(in_context(kind, stream), __VA_ARGS__)

// made and ended are for calls that make a thing, once they have, and for those that end one, before they do.
static void made(void) { __sync_add_and_fetch(&alive, 1); }
static void ended(void) { __sync_sub_and_fetch(&alive, 1); }

typedef unsigned long long device_ptr;
static char thing;

int cuInit(unsigned flags) { return is("none") ? 100 : is("unwell") ? 999 : 0; }
int cuDriverGetVersion(int *v) { DO(*v = is("old") ? 10020 : 12080); }
int cuDeviceGetCount(int *n) { DO(*n = is("empty") ? 0 : 2); }
int cuDeviceGet(int *d, int i) { DO(*d = i); }
int cuDeviceGetName(char *s, int n, int d) { DO(snprintf(s, n, "Fake GPU")); }
int cuDeviceTotalMem_v2(size_t *n, int d) { DO(*n = (size_t)8 << 30); }
int cuDeviceGetAttribute(int *v, int what, int d) { DO(*v = what == 75 ? 9 : 0); }
int cuCtxCreate_v2(struct context **c, unsigned flags, int d) { DO(made(), *c = current = calloc(1, sizeof **c), current->device = d); }
int cuCtxDestroy_v2(struct context *c) { ended(); DO(current = current == c ? NULL : current, free(c)); }
int cuCtxSetCurrent(struct context *c) { DO(current = c); }
int cuStreamCreate(struct stream **s, unsigned flags) { BOUND(ANY, NULL, made(), *s = calloc(1, sizeof **s), (*s)->of = current); }
int cuStreamDestroy_v2(struct stream *s) { ended(); BOUND(ANY, s, free(s)); }
int cuStreamSynchronize(struct stream *s) { BOUND(ANY, s, ); }
int cuStreamQuery(struct stream *s) { BOUND(QUERY, s, ); }
int cuStreamWaitEvent(struct stream *s, void *e, unsigned flags) { BOUND(ANY, s, ); }
int cuModuleLoadData(void **m, const void *image) { BOUND(ANY, NULL, made(), *m = &thing); }
int cuModuleUnload(void *m) { ended(); BOUND(ANY, NULL, ); }
int cuModuleGetFunction(void **f, void *m, const char *name) { DO(*f = &thing); }
int cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared, struct stream *s, void **p, void **x) { BOUND(LAUNCH, s, ); }
int cuMemAlloc_v2(device_ptr *p, size_t n) { BOUND(MEMORY, NULL, made(), *p = (device_ptr)calloc(1, n)); }
int cuMemFree_v2(device_ptr p) { ended(); BOUND(ANY, NULL, free((void *)p)); }
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { BOUND(MEMORY, NULL, made(), *p = calloc(1, n)); }
int cuMemFreeHost(void *p) { ended(); BOUND(ANY, NULL, free(p)); }
int cuMemcpyHtoDAsync_v2(device_ptr d, const void *p, size_t n, struct stream *s) { BOUND(ANY, s, memcpy((void *)d, p, n)); }
int cuMemcpyDtoHAsync_v2(void *d, device_ptr p, size_t n, struct stream *s) { BOUND(ANY, s, memcpy(d, (void *)p, n)); }
int cuMemcpyDtoDAsync_v2(device_ptr d, device_ptr p, size_t n, struct stream *s) { BOUND(ANY, s, memcpy((void *)d, (void *)p, n)); }
int cuMemsetD8Async(device_ptr d, unsigned char v, size_t n, struct stream *s) { BOUND(ANY, s, memset((void *)d, v, n)); }
int cuEventCreate(void **e, unsigned flags) { DO(made(), *e = &thing); }
int cuEventDestroy_v2(void *e) { ended(); DO(); }
int cuEventRecord(void *e, struct stream *s) { BOUND(ANY, s, ); }
int cuEventQuery(void *e) { BOUND(QUERY, NULL, ); }
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

int cuMemcpy2DAsync_v2(const struct copy *c, struct stream *s) {
	int code = in_context(ANY, s);
	if (code != 0)
		return code;
	const char *src = c->src_type == 1 ? c->src_host : (const char *)c->src_device;
	char *dst = c->dst_type == 1 ? c->dst_host : (char *)c->dst_device;
	for (size_t y = 0; y < c->height; y++)
		memcpy(dst + y * c->dst_pitch, src + y * c->src_pitch, c->width);
	return 0;
}
