//go:build goexperiment.simd && amd64

#include "textflag.h"

// Bytes 0, 4, 8, 12, 1, 5, …: four channels after each other become those of four cells.
DATA order<>+0(SB)/8, $0x0d0905010c080400
DATA order<>+8(SB)/8, $0x0f0b07030e0a0602
GLOBL order<>(SB), RODATA|NOPTR, $16

// The first four of eight numbers, and the last, each twice.
DATA twice<>+0(SB)/8, $0x0000000000000000
DATA twice<>+8(SB)/8, $0x0000000100000001
DATA twice<>+16(SB)/8, $0x0000000200000002
DATA twice<>+24(SB)/8, $0x0000000300000003
DATA twice<>+32(SB)/8, $0x0000000400000004
DATA twice<>+40(SB)/8, $0x0000000500000005
DATA twice<>+48(SB)/8, $0x0000000600000006
DATA twice<>+56(SB)/8, $0x0000000700000007
GLOBL twice<>(SB), RODATA|NOPTR, $64

// Y0 to Y7 hold the 16-bit sums of a group: two vectors of cells for each of four outputs. The 32-bit sums of the block
// stay in memory at R12.

// The cells of a tap. AX points to its offset and is moved to the next.
#define CELLS \
	MOVLQSX (AX), BX         \
	VMOVDQU (SI)(BX*1), Y8   \
	VMOVDQU 32(SI)(BX*1), Y9 \
	ADDQ    $4, AX

// Products of the cells with the weights of an output: the first of a group, and further ones.
#define FIRST(at, a, b) \
	VPBROADCASTD at(DX), Y12 \
	VPMADDUBSW   Y12, Y8, a  \
	VPMADDUBSW   Y12, Y9, b

#define NEXT(at, a, b) \
	VPBROADCASTD at(DX), Y12  \
	VPMADDUBSW   Y12, Y8, Y10 \
	VPMADDUBSW   Y12, Y9, Y11 \
	VPADDW       Y10, a, a    \
	VPADDW       Y11, b, b

// Adds the 16-bit sums of a group to the 32-bit sums.
#define WIDEN(at, a) \
	VPMADDWD Y15, a, a     \
	VPADDD   at(R12), a, a \
	VMOVDQU  a, at(R12)

// Stores the bias of an output.
#define BEGIN(at, to) \
	VPBROADCASTD at(R13), Y0 \
	VMOVDQU      Y0, to(R12) \
	VMOVDQU      Y0, to+32(R12)

// Stores the sums of an output that each count for two cells, from BX.
#define SHARED(to) \
	VMOVDQU (BX), Y0         \
	VPERMD  Y0, Y1, Y3       \
	VPERMD  Y0, Y2, Y4       \
	VMOVDQU Y3, to(R12)      \
	VMOVDQU Y4, to+32(R12)   \
	ADDQ    R14, BX

// Stores the sums of an output at BX.
#define RAW(from) \
	VMOVDQU from(R12), Y0    \
	VMOVDQU from+32(R12), Y1 \
	VMOVDQU Y0, (BX)         \
	VMOVDQU Y1, 32(BX)       \
	ADDQ    R14, BX

// Divides, clamps and packs the sums of a vector of cells.
#define FINISH(at) \
	VMOVDQU   at(R12), Y4     \
	VMOVDQU   at+64(R12), Y5  \
	VMOVDQU   at+128(R12), Y6 \
	VMOVDQU   at+192(R12), Y7 \
	VPSRAVD   Y0, Y4, Y4      \
	VPSRAVD   Y1, Y5, Y5      \
	VPSRAVD   Y2, Y6, Y6      \
	VPSRAVD   Y3, Y7, Y7      \
	VPADDD    Y8, Y4, Y4      \
	VPACKSSDW Y5, Y4, Y4      \
	VPACKSSDW Y7, Y6, Y6      \
	VPACKUSWB Y6, Y4, Y4      \
	VPMINUB   Y14, Y4, Y4     \
	VPSHUFB   Y13, Y4, Y4     \
	VMOVDQU   Y4, at(DI)

// func pairs256(dst, src unsafe.Pointer, taps, weights, sizes *int32, groups int, sums unsafe.Pointer,
//	bias, shift *[4]int32, add, top int32, blocks int, shared unsafe.Pointer, apart int, raw bool)
TEXT ·pairs256(SB), NOSPLIT, $0-105
	MOVQ           dst+0(FP), DI
	MOVQ           src+8(FP), SI
	MOVQ           taps+16(FP), R8
	MOVQ           weights+24(FP), R9
	MOVQ           sizes+32(FP), R10
	MOVQ           groups+40(FP), R11
	LEAQ           (R10)(R11*4), R11
	MOVQ           sums+48(FP), R12
	MOVQ           bias+56(FP), R13
	MOVQ           blocks+80(FP), CX
	MOVQ           apart+96(FP), R14
	VBROADCASTI128 order<>(SB), Y13
	MOVL           top+76(FP), AX
	VMOVD          AX, X14
	VPBROADCASTB   X14, Y14
	VPCMPEQW       Y15, Y15, Y15
	VPSRLW         $15, Y15, Y15

block:
	TESTQ CX, CX
	JZ    done
	MOVQ  shared+88(FP), BX
	TESTQ BX, BX
	JZ    bias
	VMOVDQU twice<>+0(SB), Y1
	VMOVDQU twice<>+32(SB), Y2
	SHARED(0)
	SHARED(64)
	SHARED(128)
	SHARED(192)
	ADDQ  $32, shared+88(FP)
	JMP   begin

bias:
	BEGIN(0, 0)
	BEGIN(4, 64)
	BEGIN(8, 128)
	BEGIN(12, 192)

begin:
	MOVQ  R8, AX
	MOVQ  R9, DX
	MOVQ  sizes+32(FP), R10

group:
	CMPQ R10, R11
	JEQ  finish
	MOVL (R10), R15
	ADDQ $4, R10
	CELLS
	FIRST(0, Y0, Y1)
	FIRST(4, Y2, Y3)
	FIRST(8, Y4, Y5)
	FIRST(12, Y6, Y7)
	ADDQ $16, DX
	DECQ R15
	JZ   widen

tap:
	CELLS
	NEXT(0, Y0, Y1)
	NEXT(4, Y2, Y3)
	NEXT(8, Y4, Y5)
	NEXT(12, Y6, Y7)
	ADDQ $16, DX
	DECQ R15
	JNZ  tap

widen:
	WIDEN(0, Y0)
	WIDEN(32, Y1)
	WIDEN(64, Y2)
	WIDEN(96, Y3)
	WIDEN(128, Y4)
	WIDEN(160, Y5)
	WIDEN(192, Y6)
	WIDEN(224, Y7)
	JMP group

finish:
	CMPB         raw+104(FP), $0
	JNE          raw
	MOVQ         shift+64(FP), BX
	VPBROADCASTD 0(BX), Y0
	VPBROADCASTD 4(BX), Y1
	VPBROADCASTD 8(BX), Y2
	VPBROADCASTD 12(BX), Y3
	MOVL         add+72(FP), AX
	VMOVD        AX, X8
	VPBROADCASTD X8, Y8
	FINISH(0)
	FINISH(32)

next:
	ADDQ         $64, SI
	ADDQ         $64, DI
	DECQ         CX
	JMP          block

raw:
	MOVQ DI, BX
	RAW(0)
	RAW(64)
	RAW(128)
	RAW(192)
	JMP  next

done:
	VZEROUPPER
	RET
