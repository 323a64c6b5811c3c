// A driver library for tests: one GPU whose memory is the host's and whose kernels run on the CPU, by emulation.h. All
// calls are complete when they return. Device memory ends before a page that may not be touched, and begins poisoned.
// EMULATED_ORDER=backwards turns the order of blocks and threads round, EMULATED_THREADS=N runs blocks on N threads: what
// depends on either has a race.
#include "emulation.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace emulation {

thread_local place here;

namespace {

const size_t stackBytes = 128 << 10;

enum state { ready, atBarrier, atExchange, finished };

// fibre is a thread of a block.
struct fibre {
	void *stack = nullptr; // its saved stack pointer
	char *memory = nullptr;
	state is = finished;
	uint3 thread;
	bool vote = false;
	unsigned mask = 0;
	uint64_t value = 0;
	uint64_t seen[32];
	unsigned present = 0;
};

// worker runs blocks one after the other on a thread of the host.
struct worker {
	std::vector<fibre> fibres;
	int count = 0, current = 0;
	void *scheduler = nullptr;
	void (*body)(void *) = nullptr;
	void *argument = nullptr;
	int votes = 0, voters = 0;
	std::vector<char> shared;

	~worker() {
		for (fibre &f : fibres)
			munmap(f.memory, stackBytes);
	}
	void block(const launch &l, void (*body)(void *), void *argument, bool backwards);
	bool release();
};

thread_local worker self;

} // namespace

// emulation_switch saves the callee's registers on the present stack, whose pointer goes to *from, and goes on on to.
extern "C" void emulation_switch(void **from, void *to);
asm(R"(
	.text
	.globl emulation_switch
	.hidden emulation_switch
	.type emulation_switch, @function
emulation_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size emulation_switch, . - emulation_switch
)");

namespace {

void yield(state s) {
	fibre &f = self.fibres[self.current];
	f.is = s;
	emulation_switch(&f.stack, self.scheduler);
}

// first is where a fibre begins.
void first() {
	self.body(self.argument);
	yield(finished);
	abort();
}

void worker::block(const launch &l, void (*b)(void *), void *a, bool backwards) {
	body = b;
	argument = a;
	count = l.block.x * l.block.y * l.block.z;
	shared.assign(l.shared + 16, char(0xa5));
	while ((int)fibres.size() < count) {
		fibre f;
		f.memory = (char *)mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		fibres.push_back(f);
	}
	for (int i = 0; i < count; i++) {
		fibre &f = fibres[i];
		f.thread = {i % l.block.x, i / l.block.x % l.block.y, i / (l.block.x * l.block.y)};
		void **top = (void **)(f.memory + stackBytes - 64);
		*--top = nullptr; // keeps the stack aligned as after a call
		*--top = (void *)first;
		for (int k = 0; k < 6; k++)
			*--top = nullptr;
		f.stack = top;
		f.is = ready;
	}
	for (;;) {
		for (int i = 0; i < count; i++) {
			current = backwards ? count - 1 - i : i;
			fibre &f = fibres[current];
			if (f.is != ready)
				continue;
			here.thread = f.thread;
			emulation_switch(&scheduler, f.stack);
		}
		backwards = !backwards;
		if (!release())
			return;
	}
}

// release lets go on who has what it waited for; false when all have finished.
bool worker::release() {
	int waiting = 0, finishedCount = 0;
	bool released = false;
	for (int i = 0; i < count; i++) {
		waiting += fibres[i].is == atBarrier;
		finishedCount += fibres[i].is == finished;
	}
	if (finishedCount == count)
		return false;
	for (int warp = 0; warp < count; warp += 32) {
		int lanes = count - warp < 32 ? count - warp : 32;
		for (int i = 0; i < lanes; i++) {
			fibre &f = fibres[warp + i];
			if (f.is != atExchange)
				continue;
			bool all = true;
			unsigned present = 0;
			for (int k = 0; k < lanes; k++) {
				const fibre &g = fibres[warp + k];
				if (!(f.mask >> k & 1) || g.is == finished)
					continue;
				if (g.is != atExchange || g.mask != f.mask)
					all = false;
				present |= 1u << k;
			}
			if (!all)
				continue;
			uint64_t values[32] = {};
			for (int k = 0; k < lanes; k++)
				if (present >> k & 1)
					values[k] = fibres[warp + k].value;
			for (int k = 0; k < lanes; k++)
				if (present >> k & 1) {
					fibre &g = fibres[warp + k];
					memcpy(g.seen, values, sizeof values);
					g.present = present;
					g.is = ready;
				}
			released = true;
		}
	}
	if (released)
		return true;
	if (waiting + finishedCount == count) {
		votes = voters = 0;
		for (int i = 0; i < count; i++)
			if (fibres[i].is == atBarrier) {
				votes += fibres[i].vote;
				voters++;
				fibres[i].is = ready;
			}
		return true;
	}
	fprintf(stderr, "emulation: threads of block (%u, %u) wait for each other for ever\n", here.block.x, here.block.y);
	abort();
}

} // namespace

void *dynamicShared() { return (void *)(((uintptr_t)self.shared.data() + 15) & ~(uintptr_t)15); }

void vote(bool value, int &set, int &all) {
	self.fibres[self.current].vote = value;
	yield(atBarrier);
	set = self.votes;
	all = self.voters;
}

void barrier() {
	int set, all;
	vote(false, set, all);
}

const uint64_t *exchange(unsigned mask, uint64_t value, unsigned &present) {
	fibre &f = self.fibres[self.current];
	f.mask = mask;
	f.value = value;
	yield(atExchange);
	present = f.present;
	return f.seen;
}

int lane() { return self.current & 31; }

// order of blocks and fibres: EMULATED_ORDER=backwards turns it round, by which dependences on it show.
void run(const launch &l, void (*body)(void *), void *argument) {
	const char *order = getenv("EMULATED_ORDER");
	bool backwards = order != nullptr && strcmp(order, "backwards") == 0;
	size_t blocks = (size_t)l.grid.x * l.grid.y * l.grid.z;
	std::atomic<size_t> next{0};
	auto work = [&] {
		for (size_t n; (n = next++) < blocks;) {
			size_t i = backwards ? blocks - 1 - n : n;
			here.block = {(unsigned)(i % l.grid.x), (unsigned)(i / l.grid.x % l.grid.y), (unsigned)(i / l.grid.x / l.grid.y)};
			here.blockSize = l.block;
			here.gridSize = l.grid;
			self.block(l, body, argument, backwards);
		}
	};
	const char *asked = getenv("EMULATED_THREADS");
	unsigned threads = asked != nullptr ? atoi(asked) : 1;
	if (threads < 2 || blocks < 8) {
		work();
		return;
	}
	std::vector<std::thread> all;
	for (unsigned i = 0; i < threads; i++)
		all.emplace_back(work);
	for (auto &t : all)
		t.join();
}

} // namespace emulation

namespace {

typedef unsigned long long device_ptr;
typedef void (*emulated)(const emulation::launch *, void **);

std::mutex guard;
struct piece {
	void *base;
	size_t mapped, bytes;
};
std::map<device_ptr, piece> pieces;
size_t used;
const size_t total = (size_t)4 << 30;
char thing;

struct event {
	std::chrono::steady_clock::time_point at;
};

// symbol finds what build.sh exports of the kernels.
void *symbol(const char *prefix, const char *name) {
	static void *kernels = dlopen("libkernels.so", RTLD_NOW);
	return kernels == nullptr ? nullptr : dlsym(kernels, (prefix + std::string(name)).c_str());
}

} // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *d, int i) { return *d = i, i == 0 ? 0 : 101; }
int cuDeviceGetName(char *s, int n, int) { return snprintf(s, n, "Emulated GPU"), 0; }
int cuDeviceTotalMem_v2(size_t *n, int) { return *n = total, 0; }
int cuDeviceGetUuid(char *u, int) { return memset(u, 0, 16), 0; }
int cuDeviceGetAttribute(int *v, int what, int) {
	switch (what) {
	case 1: *v = 1024; break;  // threads in a block
	case 8: *v = 48 << 10; break; // shared memory of a block
	case 10: *v = 32; break;
	case 16: *v = 4; break; // multiprocessors
	case 38: *v = 1 << 20; break; // L2
	case 39: *v = 2048; break; // threads on a multiprocessor
	case 75: *v = 9; break;
	case 76: *v = 0; break;
	case 81: *v = 64 << 10; break;
	case 97: *v = 96 << 10; break;
	case 19: case 41: *v = 1; break; // mapped host memory, unified addresses
	default: *v = 0;
	}
	return 0;
}
int cuCtxCreate_v2(void **c, unsigned, int) { return *c = &thing, 0; }
int cuCtxDestroy_v2(void *) { return 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuCtxGetCurrent(void **c) { return *c = &thing, 0; }
int cuCtxPushCurrent_v2(void *) { return 0; }
int cuCtxPopCurrent_v2(void **c) { return *c = &thing, 0; }
int cuCtxSynchronize() { return 0; }
int cuCtxSetLimit(int, size_t) { return 0; }
int cuDevicePrimaryCtxRetain(void **c, int) { return *c = &thing, 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuStreamCreate(void **s, unsigned) { return *s = &thing, 0; }
int cuStreamCreateWithPriority(void **s, unsigned, int) { return *s = &thing, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamSynchronize(void *) { return 0; }
int cuStreamQuery(void *) { return 0; }
int cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
int cuModuleLoadData(void **m, const void *) { return *m = &thing, 0; }
int cuModuleLoadDataEx(void **m, const void *, unsigned, void *, void *) { return *m = &thing, 0; }
int cuModuleUnload(void *) { return 0; }
int cuModuleGetFunction(void **f, void *, const char *name) {
	*f = symbol("emulated_", name);
	if (*f == nullptr)
		fprintf(stderr, "emulation: no kernel %s\n", name);
	return *f == nullptr ? 500 : 0;
}
int cuModuleGetGlobal_v2(device_ptr *p, size_t *n, void *, const char *name) {
	void *(*at)() = (void *(*)())symbol("constant_", name);
	if (at == nullptr)
		return 500;
	if (p != nullptr)
		*p = (device_ptr)at();
	if (n != nullptr)
		*n = 64 << 10;
	return 0;
}
int cuFuncSetAttribute(void *, int, int) { return 0; }
int cuFuncGetAttribute(int *v, int, void *) { return *v = 0, 0; }
int cuFuncSetCacheConfig(void *, int) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *, int, size_t) { return *n = 2, 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *, void **p, void **) {
	if (gx == 0 || gy == 0 || gz == 0 || bx == 0 || by == 0 || bz == 0 || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || shared > 96u << 10) {
		fprintf(stderr, "emulation: launch of grid %u × %u × %u, block %u × %u × %u, %u bytes shared\n", gx, gy, gz, bx, by, bz, shared);
		return 1;
	}
	emulation::launch l = {{gx, gy, gz}, {bx, by, bz}, shared};
	((emulated)f)(&l, p);
	return 0;
}
int cuMemAlloc_v2(device_ptr *p, size_t n) {
	if (n == 0)
		return 1;
	size_t page = sysconf(_SC_PAGESIZE), room = (n + 255) / 256 * 256, mapped = (room + page - 1) / page * page + page;
	std::lock_guard<std::mutex> lock(guard);
	if (used + room > total)
		return 2;
	char *base = (char *)mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return 2;
	mprotect(base + mapped - page, page, PROT_NONE);
	char *at = base + mapped - page - room;
	memset(at, 0xa5, room);
	*p = (device_ptr)at;
	pieces[*p] = {base, mapped, room};
	used += room;
	return 0;
}
int cuMemFree_v2(device_ptr p) {
	std::lock_guard<std::mutex> lock(guard);
	auto i = pieces.find(p);
	if (i == pieces.end())
		return 1;
	used -= i->second.bytes;
	munmap(i->second.base, i->second.mapped);
	pieces.erase(i);
	return 0;
}
int cuMemGetInfo_v2(size_t *left, size_t *all) { return *left = total - used, *all = total, 0; }
int cuMemHostAlloc(void **p, size_t n, unsigned) { return *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096), *p == nullptr ? 2 : 0; }
int cuMemAllocHost_v2(void **p, size_t n) { return cuMemHostAlloc(p, n, 0); }
int cuMemFreeHost(void *p) { return free(p), 0; }
int cuMemHostRegister_v2(void *, size_t, unsigned) { return 0; }
int cuMemHostUnregister(void *) { return 0; }
int cuMemHostGetDevicePointer_v2(device_ptr *d, void *p, unsigned) { return *d = (device_ptr)p, 0; }
int cuMemcpyHtoD_v2(device_ptr d, const void *s, size_t n) { return memcpy((void *)d, s, n), 0; }
int cuMemcpyDtoH_v2(void *d, device_ptr s, size_t n) { return memcpy(d, (void *)s, n), 0; }
int cuMemcpyDtoD_v2(device_ptr d, device_ptr s, size_t n) { return memmove((void *)d, (void *)s, n), 0; }
int cuMemcpyHtoDAsync_v2(device_ptr d, const void *s, size_t n, void *) { return memcpy((void *)d, s, n), 0; }
int cuMemcpyDtoHAsync_v2(void *d, device_ptr s, size_t n, void *) { return memcpy(d, (void *)s, n), 0; }
int cuMemcpyDtoDAsync_v2(device_ptr d, device_ptr s, size_t n, void *) { return memmove((void *)d, (void *)s, n), 0; }
int cuMemcpy(device_ptr d, device_ptr s, size_t n) { return memmove((void *)d, (void *)s, n), 0; }
int cuMemcpyAsync(device_ptr d, device_ptr s, size_t n, void *) { return memmove((void *)d, (void *)s, n), 0; }
int cuMemsetD8_v2(device_ptr d, unsigned char v, size_t n) { return memset((void *)d, v, n), 0; }
int cuMemsetD8Async(device_ptr d, unsigned char v, size_t n, void *) { return memset((void *)d, v, n), 0; }
int cuMemsetD16Async(device_ptr d, unsigned short v, size_t n, void *) {
	for (size_t i = 0; i < n; i++)
		((unsigned short *)d)[i] = v;
	return 0;
}
int cuMemsetD32Async(device_ptr d, unsigned v, size_t n, void *) {
	for (size_t i = 0; i < n; i++)
		((unsigned *)d)[i] = v;
	return 0;
}
int cuMemsetD32_v2(device_ptr d, unsigned v, size_t n) { return cuMemsetD32Async(d, v, n, nullptr); }
int cuEventCreate(void **e, unsigned) { return *e = new event, 0; }
int cuEventDestroy_v2(void *e) { return delete (event *)e, 0; }
int cuEventRecord(void *e, void *) { return ((event *)e)->at = std::chrono::steady_clock::now(), 0; }
int cuEventSynchronize(void *) { return 0; }
int cuEventQuery(void *) { return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) {
	std::chrono::duration<float, std::milli> t = ((event *)b)->at - ((event *)a)->at;
	return *ms = t.count(), 0;
}
int cuLaunchHostFunc(void *, void (*f)(void *), void *p) { return f(p), 0; }

struct copy2d {
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

int cuMemcpy2DAsync_v2(const struct copy2d *c, void *) {
	const char *src = c->src_type == 1 ? c->src_host : (const char *)c->src_device;
	char *dst = c->dst_type == 1 ? c->dst_host : (char *)c->dst_device;
	for (size_t y = 0; y < c->height; y++)
		memcpy(dst + y * c->dst_pitch, src + y * c->src_pitch, c->width);
	return 0;
}
int cuMemcpy2D_v2(const struct copy2d *c) { return cuMemcpy2DAsync_v2(c, nullptr); }
int cuMemcpy2DUnaligned_v2(const struct copy2d *c) { return cuMemcpy2DAsync_v2(c, nullptr); }

} // extern "C"
