//go:build cuda

// Each entry jumps through its slot, which driver.c fills. They are hidden: the libraries that the driver brings along
// must find its own entries, not these.
#define ENTRY(name)        \
	.globl name;           \
	.hidden name;          \
	.type name, @function; \
	.balign 16;            \
	name:                  \
	endbr64;               \
	jmp *slot_##name(%rip);\
	.size name, . - name;

	.text
#include "entries.h"

	.section .note.GNU-stack, "", @progbits
