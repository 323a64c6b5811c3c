#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Each thread takes 72 MiB: its stack and its arena in the C library. The runtime starts about a dozen and cannot do
// without; with less than this it also fails in the middle of its work.
#define NEEDED (2UL << 30)

__attribute__((constructor)) static void check(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= NEEDED) {
		return;
	}
	char text[200];
	int n = snprintf(text, sizeof text,
		"blik: the limit of the address space (ulimit -v) is %lu MiB; at least %lu MiB are needed\n",
		(unsigned long)limit.rlim_cur >> 20, NEEDED >> 20);
	// Nothing can be done if nobody reads it.
	if (n > 0 && write(2, text, (size_t)n) < n) {
		_exit(1);
	}
	_exit(1);
}
