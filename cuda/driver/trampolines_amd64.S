//go:build cuda && (linux || windows)

// Each entry jumps through its slot, which driver.c fills. They are hidden: the libraries that the driver brings along
// must find its own entries, not these. Windows lets no library find them anyway. A jump leaves stack and registers as
// they are, whatever the system's calling convention, and so needs no unwinding.
#ifdef _WIN32

#define ENTRY(name)        \
	.globl name;           \
	.balign 16;            \
	name:                  \
	jmp *slot_##name(%rip);

#else

#define ENTRY(name)        \
	.globl name;           \
	.hidden name;          \
	.type name, @function; \
	.balign 16;            \
	name:                  \
	endbr64;               \
	jmp *slot_##name(%rip);\
	.size name, . - name;

#endif

	.text
#include "entries.h"

#ifndef _WIN32
	.section .note.GNU-stack, "", @progbits
#endif
