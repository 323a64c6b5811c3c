//go:build goexperiment.simd && amd64

#include "textflag.h"

// Bytes 0, 4, 8, 12, 1, 5, …: four channels after each other become those of four cells.
DATA order<>+0(SB)/8, $0x0d0905010c080400
DATA order<>+8(SB)/8, $0x0f0b07030e0a0602
GLOBL order<>(SB), RODATA|NOPTR, $16

// The first four numbers, each twice.
DATA twice<>+0(SB)/8, $0x0000000000000000
DATA twice<>+8(SB)/8, $0x0000000100000001
DATA twice<>+16(SB)/8, $0x0000000200000002
DATA twice<>+24(SB)/8, $0x0000000300000003
GLOBL twice<>(SB), RODATA|NOPTR, $32

// Y0 to Y11 hold the sums of a block: three vectors of cells for each of four outputs.

// vpdpbusd with the weights in Y15, in the encoding without AVX-512 (VEX), which Go's assembler lacks. LOW adds to Y0
// to Y7, HIGH to Y8 to Y11. cells is the third byte, which holds a vector of cells; to is the last one, which holds the
// sums.
#define LOW(cells, to) \
	BYTE $0xC4  \
	BYTE $0xC2  \
	BYTE $cells \
	BYTE $0x50  \
	BYTE $to

#define HIGH(cells, to) \
	BYTE $0xC4  \
	BYTE $0x42  \
	BYTE $cells \
	BYTE $0x50  \
	BYTE $to

// The third byte for cells in Y12, Y13 and Y14.
#define FIRST 0x1D
#define SECOND 0x15
#define THIRD 0x0D

// The sums of an output, from its bias.
#define BIAS(at, a, b, c) \
	VPBROADCASTD at(R11), a \
	VMOVDQA      a, b       \
	VMOVDQA      a, c

// The sums of an output, from those of two cells each at BX.
#define SHARED(a, b, c) \
	VBROADCASTI128 0(BX), a  \
	VBROADCASTI128 16(BX), b \
	VBROADCASTI128 32(BX), c \
	VPERMD         a, Y12, a \
	VPERMD         b, Y12, b \
	VPERMD         c, Y12, c \
	ADDQ           R14, BX

// Stores the sums of an output at BX.
#define RAW(a, b, c) \
	VMOVDQU a, 0(BX)  \
	VMOVDQU b, 32(BX) \
	VMOVDQU c, 64(BX) \
	ADDQ    R14, BX

// Divides the sums of an output.
#define SHIFT(at, a, b, c) \
	VPBROADCASTD at(R12), Y12 \
	VPSRAVD      Y12, a, a    \
	VPSRAVD      Y12, b, b    \
	VPSRAVD      Y12, c, c

// Clamps and packs the divided sums of a vector of cells.
#define FINISH(at, a, b, c, d) \
	VPADDD    Y12, a, a \
	VPACKSSDW b, a, a   \
	VPACKSSDW d, c, c   \
	VPACKUSWB c, a, a   \
	VPMINUB   Y13, a, a \
	VPSHUFB   Y14, a, a \
	VMOVDQU   a, at(DI)

// func dots256(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32, blocks int,
//	shared unsafe.Pointer, apart int, raw bool)
TEXT ·dots256(SB), NOSPLIT, $0-89
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ taps+16(FP), R8
	MOVQ weights+24(FP), R9
	MOVQ n+32(FP), R10
	LEAQ (R8)(R10*4), R10
	MOVQ bias+40(FP), R11
	MOVQ shift+48(FP), R12
	MOVQ blocks+64(FP), CX
	MOVQ shared+72(FP), R13
	MOVQ apart+80(FP), R14
	MOVBLZX raw+88(FP), R15

block:
	TESTQ CX, CX
	JZ    done
	TESTQ R13, R13
	JZ    bias
	VMOVDQU twice<>(SB), Y12
	MOVQ  R13, BX
	SHARED(Y0, Y1, Y2)
	SHARED(Y3, Y4, Y5)
	SHARED(Y6, Y7, Y8)
	SHARED(Y9, Y10, Y11)
	ADDQ  $48, R13
	JMP   begin

bias:
	BIAS(0, Y0, Y1, Y2)
	BIAS(4, Y3, Y4, Y5)
	BIAS(8, Y6, Y7, Y8)
	BIAS(12, Y9, Y10, Y11)

begin:
	MOVQ R8, AX
	MOVQ R9, DX
	CMPQ AX, R10
	JEQ  finish

tap:
	MOVLQSX (AX), BX
	VMOVDQU (SI)(BX*1), Y12
	VMOVDQU 32(SI)(BX*1), Y13
	VMOVDQU 64(SI)(BX*1), Y14
	VPBROADCASTD 0(DX), Y15
	LOW(FIRST, 0xC7)
	LOW(SECOND, 0xCF)
	LOW(THIRD, 0xD7)
	VPBROADCASTD 4(DX), Y15
	LOW(FIRST, 0xDF)
	LOW(SECOND, 0xE7)
	LOW(THIRD, 0xEF)
	VPBROADCASTD 8(DX), Y15
	LOW(FIRST, 0xF7)
	LOW(SECOND, 0xFF)
	HIGH(THIRD, 0xC7)
	VPBROADCASTD 12(DX), Y15
	HIGH(FIRST, 0xCF)
	HIGH(SECOND, 0xD7)
	HIGH(THIRD, 0xDF)
	ADDQ    $4, AX
	ADDQ    $16, DX
	CMPQ    AX, R10
	JNE     tap

finish:
	TESTL R15, R15
	JNZ   raw
	SHIFT(0, Y0, Y1, Y2)
	SHIFT(4, Y3, Y4, Y5)
	SHIFT(8, Y6, Y7, Y8)
	SHIFT(12, Y9, Y10, Y11)
	MOVL           add+56(FP), AX
	VMOVD          AX, X12
	VPBROADCASTD   X12, Y12
	MOVL           top+60(FP), AX
	VMOVD          AX, X13
	VPBROADCASTB   X13, Y13
	VBROADCASTI128 order<>(SB), Y14
	FINISH(0, Y0, Y3, Y6, Y9)
	FINISH(32, Y1, Y4, Y7, Y10)
	FINISH(64, Y2, Y5, Y8, Y11)

next:
	ADDQ $96, SI
	ADDQ $96, DI
	DECQ CX
	JMP  block

raw:
	MOVQ DI, BX
	RAW(Y0, Y1, Y2)
	RAW(Y3, Y4, Y5)
	RAW(Y6, Y7, Y8)
	RAW(Y9, Y10, Y11)
	JMP  next

done:
	VZEROUPPER
	RET
