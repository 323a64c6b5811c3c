//go:build cuda && amd64

#include "library.h"

#include <windows.h>

// explain returns "nvcuda.dll: " and what Windows says about an error, in UTF-8.
static const char *explain(DWORD code) {
	static const wchar_t name[] = L"nvcuda.dll: ";
	static wchar_t wide[512];
	static char text[2048];
	const int head = sizeof name / sizeof name[0] - 1;
	memcpy(wide, name, sizeof name);
	int n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0, wide + head,
		sizeof wide / sizeof wide[0] - head, NULL);
	n += head;
	while (n > 0 && wide[n - 1] <= L' ')
		wide[--n] = 0;
	WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, sizeof text, NULL, NULL);
	return text;
}

// The driver is looked for only where its installer puts it, never beside a picture that was opened.
void *library_open(const char **error) {
	HMODULE library = LoadLibraryExW(L"nvcuda.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	if (library == NULL)
		*error = explain(GetLastError());
	return library;
}

void *library_find(void *library, const char *name) { return (void *)GetProcAddress(library, name); }

static BOOL CALLBACK call(PINIT_ONCE once, PVOID f, PVOID *context) {
	(void)once;
	(void)context;
	((void (*)(void))f)();
	return TRUE;
}

void library_once(void (*f)(void)) {
	static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
	InitOnceExecuteOnce(&once, call, (PVOID)f, NULL);
}
