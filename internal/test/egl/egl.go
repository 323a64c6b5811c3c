//go:build linux && cgo

// Package egl makes OpenGL contexts without a window or a screen, for measurements on graphics cards in servers. It
// loads libEGL when it is called, so that nothing needs the library to build.
package egl

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

typedef void *(*get_proc)(const char *);
typedef unsigned (*query_devices)(int, void **, int *);
typedef void *(*get_display)(unsigned, void *, const int *);
typedef unsigned (*initialize)(void *, int *, int *);
typedef unsigned (*bind_api)(unsigned);
typedef unsigned (*choose_config)(void *, const int *, void **, int, int *);
typedef void *(*create_pbuffer)(void *, void *, const int *);
typedef void *(*create_context)(void *, void *, void *, const int *);
typedef unsigned (*make_current)(void *, void *, void *, void *);

// Constants of egl.h and of EGL_EXT_platform_device.
enum { none = 0x3038, surface_type = 0x3033, pbuffer_bit = 1, renderable_type = 0x3040, opengl_bit = 8, width = 0x3057,
	height = 0x3056, opengl_api = 0x30A2, platform_device = 0x313F };

// blik_egl_current makes a context of the first device that has one current on this thread, and returns 0 or the number
// of the step that failed.
static int blik_egl_current(void) {
	void *lib = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (lib == NULL) return 1;
	get_proc proc = (get_proc)dlsym(lib, "eglGetProcAddress");
	if (proc == NULL) return 2;
	query_devices devices = (query_devices)proc("eglQueryDevicesEXT");
	get_display display = (get_display)proc("eglGetPlatformDisplayEXT");
	if (devices == NULL || display == NULL) return 3;
	void *device[16];
	int n = 0;
	if (!devices(16, device, &n)) return 4;
	int failed = 5;
	for (int i = 0; i < n; i++) {
		void *d = display(platform_device, device[i], NULL), *config = NULL;
		const int wanted[] = { surface_type, pbuffer_bit, renderable_type, opengl_bit, none };
		const int size[] = { width, 16, height, 16, none };
		int found = 0;
		failed = 6;
		if (d == NULL || !((initialize)proc("eglInitialize"))(d, NULL, NULL)) continue;
		failed = 7;
		if (!((bind_api)proc("eglBindAPI"))(opengl_api)) continue;
		failed = 8;
		if (!((choose_config)proc("eglChooseConfig"))(d, wanted, &config, 1, &found) || found < 1) continue;
		void *surface = ((create_pbuffer)proc("eglCreatePbufferSurface"))(d, config, size);
		void *context = ((create_context)proc("eglCreateContext"))(d, config, NULL, NULL);
		failed = 9;
		if (surface != NULL && context != NULL && ((make_current)proc("eglMakeCurrent"))(d, surface, surface, context))
			return 0;
	}
	return failed;
}
*/
import "C"

import "fmt"

// MakeCurrent makes an OpenGL context of the first graphics card current on this thread, which the caller has locked.
// It stays until the process ends.
func MakeCurrent() error {
	if step := C.blik_egl_current(); step != 0 {
		return fmt.Errorf("no OpenGL context from EGL: step %d failed", step)
	}
	return nil
}
