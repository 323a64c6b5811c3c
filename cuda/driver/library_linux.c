//go:build cuda && amd64

#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

void *library_open(const char **error) {
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		*error = why == NULL ? "" : strdup(why);
	}
	return library;
}

void *library_find(void *library, const char *name) { return dlsym(library, name); }

static pthread_once_t once = PTHREAD_ONCE_INIT;

void library_once(void (*f)(void)) { pthread_once(&once, f); }
