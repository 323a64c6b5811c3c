//go:build goexperiment.simd && amd64

#include "textflag.h"

// Bytes 0, 4, 8, 12, 1, 5, …: four channels after each other become those of four cells.
DATA order<>+0(SB)/8, $0x0d0905010c080400
DATA order<>+8(SB)/8, $0x0f0b07030e0a0602
GLOBL order<>(SB), RODATA|NOPTR, $16

// The first eight of sixteen numbers, and the last, each twice.
DATA twice<>+0(SB)/8, $0x0000000000000000
DATA twice<>+8(SB)/8, $0x0000000100000001
DATA twice<>+16(SB)/8, $0x0000000200000002
DATA twice<>+24(SB)/8, $0x0000000300000003
DATA twice<>+32(SB)/8, $0x0000000400000004
DATA twice<>+40(SB)/8, $0x0000000500000005
DATA twice<>+48(SB)/8, $0x0000000600000006
DATA twice<>+56(SB)/8, $0x0000000700000007
DATA twice<>+64(SB)/8, $0x0000000800000008
DATA twice<>+72(SB)/8, $0x0000000900000009
DATA twice<>+80(SB)/8, $0x0000000a0000000a
DATA twice<>+88(SB)/8, $0x0000000b0000000b
DATA twice<>+96(SB)/8, $0x0000000c0000000c
DATA twice<>+104(SB)/8, $0x0000000d0000000d
DATA twice<>+112(SB)/8, $0x0000000e0000000e
DATA twice<>+120(SB)/8, $0x0000000f0000000f
GLOBL twice<>(SB), RODATA|NOPTR, $128

// One vector of cells times four weights for each of four outputs.
#define CELLS(at, x, a, b, c, d) \
	VMOVDQU32 at(BX), x     \
	VPDPBUSD  Z24, x, a     \
	VPDPBUSD  Z25, x, b     \
	VPDPBUSD  Z26, x, c     \
	VPDPBUSD  Z27, x, d

// The weights of a tap, and where its cells are.
#define TAP \
	MOVLQSX      (R8)(AX*4), BX \
	VPBROADCASTD 0(DX), Z24     \
	VPBROADCASTD 4(DX), Z25     \
	VPBROADCASTD 8(DX), Z26     \
	VPBROADCASTD 12(DX), Z27    \
	ADDQ         SI, BX         \
	ADDQ         $16, DX        \
	INCQ         AX

// What finishing a block needs. Z30 and Z31 stay as they are.
#define SHIFTS \
	VPBROADCASTD 0(R12), Z24   \
	VPBROADCASTD 4(R12), Z25   \
	VPBROADCASTD 8(R12), Z26   \
	VPBROADCASTD 12(R12), Z27  \
	VPBROADCASTD add+56(FP), Z28

// Sums for two vectors of cells from those of a vector of two cells each, at BX.
#define TWICE \
	VMOVDQU32 twice<>+0(SB), Z28 \
	VMOVDQU32 twice<>+64(SB), Z29

#define SHARED(at, a, b) \
	VMOVDQU32 at(BX), Z24  \
	VPERMD    Z24, Z28, a  \
	VPERMD    Z24, Z29, b

// Divides, cuts and packs the sums of a vector of cells.
#define FINISH(at, a, b, c, d) \
	VPSRAVD   Z24, a, a \
	VPSRAVD   Z25, b, b \
	VPSRAVD   Z26, c, c \
	VPSRAVD   Z27, d, d \
	VPADDD    Z28, a, a \
	VPACKSSDW b, a, a   \
	VPACKSSDW d, c, c   \
	VPACKUSWB c, a, a   \
	VPMINUB   Z31, a, a \
	VPSHUFB   Z30, a, a \
	VMOVDQU32 a, at(DI)

// func dots512(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32, blocks int,
//	shared unsafe.Pointer, apart int, raw bool)
TEXT ·dots512(SB), NOSPLIT, $0-89
	MOVQ            dst+0(FP), DI
	MOVQ            src+8(FP), SI
	MOVQ            taps+16(FP), R8
	MOVQ            weights+24(FP), R9
	MOVQ            n+32(FP), R10
	MOVQ            bias+40(FP), R11
	MOVQ            shift+48(FP), R12
	MOVQ            blocks+64(FP), CX
	VBROADCASTI32X4 order<>(SB), Z30
	MOVL            top+60(FP), R13
	VPBROADCASTB    R13, Z31
	MOVQ            shared+72(FP), R13
	MOVQ            apart+80(FP), R14
	MOVBLZX         raw+88(FP), R15

six:
	CMPQ CX, $3
	JLT  two
	MOVQ R9, DX
	XORQ AX, AX
	TESTQ R13, R13
	JZ   sixBias
	TWICE
	MOVQ R13, BX
	SHARED(0, Z0, Z1)
	SHARED(64, Z2, Z3)
	SHARED(128, Z4, Z5)
	ADDQ R14, BX
	SHARED(0, Z6, Z7)
	SHARED(64, Z8, Z9)
	SHARED(128, Z10, Z11)
	ADDQ R14, BX
	SHARED(0, Z12, Z13)
	SHARED(64, Z14, Z15)
	SHARED(128, Z16, Z17)
	ADDQ R14, BX
	SHARED(0, Z18, Z19)
	SHARED(64, Z20, Z21)
	SHARED(128, Z22, Z23)
	ADDQ $192, R13
	JMP  sixBegin

sixBias:
	VPBROADCASTD 0(R11), Z0
	VPBROADCASTD 0(R11), Z1
	VPBROADCASTD 0(R11), Z2
	VPBROADCASTD 0(R11), Z3
	VPBROADCASTD 0(R11), Z4
	VPBROADCASTD 0(R11), Z5
	VPBROADCASTD 4(R11), Z6
	VPBROADCASTD 4(R11), Z7
	VPBROADCASTD 4(R11), Z8
	VPBROADCASTD 4(R11), Z9
	VPBROADCASTD 4(R11), Z10
	VPBROADCASTD 4(R11), Z11
	VPBROADCASTD 8(R11), Z12
	VPBROADCASTD 8(R11), Z13
	VPBROADCASTD 8(R11), Z14
	VPBROADCASTD 8(R11), Z15
	VPBROADCASTD 8(R11), Z16
	VPBROADCASTD 8(R11), Z17
	VPBROADCASTD 12(R11), Z18
	VPBROADCASTD 12(R11), Z19
	VPBROADCASTD 12(R11), Z20
	VPBROADCASTD 12(R11), Z21
	VPBROADCASTD 12(R11), Z22
	VPBROADCASTD 12(R11), Z23

sixBegin:
	TESTQ R10, R10
	JZ   sixDone

sixTap:
	TAP
	CELLS(0, Z28, Z0, Z6, Z12, Z18)
	CELLS(64, Z29, Z1, Z7, Z13, Z19)
	CELLS(128, Z28, Z2, Z8, Z14, Z20)
	CELLS(192, Z29, Z3, Z9, Z15, Z21)
	CELLS(256, Z28, Z4, Z10, Z16, Z22)
	CELLS(320, Z29, Z5, Z11, Z17, Z23)
	CMPQ AX, R10
	JLT  sixTap

sixDone:
	TESTL R15, R15
	JNZ  sixRaw
	SHIFTS
	FINISH(0, Z0, Z6, Z12, Z18)
	FINISH(64, Z1, Z7, Z13, Z19)
	FINISH(128, Z2, Z8, Z14, Z20)
	FINISH(192, Z3, Z9, Z15, Z21)
	FINISH(256, Z4, Z10, Z16, Z22)
	FINISH(320, Z5, Z11, Z17, Z23)

sixNext:
	ADDQ $384, SI
	ADDQ $384, DI
	SUBQ $3, CX
	JMP  six

sixRaw:
	MOVQ DI, BX
	VMOVDQU32 Z0, 0(BX)
	VMOVDQU32 Z1, 64(BX)
	VMOVDQU32 Z2, 128(BX)
	VMOVDQU32 Z3, 192(BX)
	VMOVDQU32 Z4, 256(BX)
	VMOVDQU32 Z5, 320(BX)
	ADDQ R14, BX
	VMOVDQU32 Z6, 0(BX)
	VMOVDQU32 Z7, 64(BX)
	VMOVDQU32 Z8, 128(BX)
	VMOVDQU32 Z9, 192(BX)
	VMOVDQU32 Z10, 256(BX)
	VMOVDQU32 Z11, 320(BX)
	ADDQ R14, BX
	VMOVDQU32 Z12, 0(BX)
	VMOVDQU32 Z13, 64(BX)
	VMOVDQU32 Z14, 128(BX)
	VMOVDQU32 Z15, 192(BX)
	VMOVDQU32 Z16, 256(BX)
	VMOVDQU32 Z17, 320(BX)
	ADDQ R14, BX
	VMOVDQU32 Z18, 0(BX)
	VMOVDQU32 Z19, 64(BX)
	VMOVDQU32 Z20, 128(BX)
	VMOVDQU32 Z21, 192(BX)
	VMOVDQU32 Z22, 256(BX)
	VMOVDQU32 Z23, 320(BX)
	JMP  sixNext

two:
	CMPQ CX, $1
	JLT  done
	MOVQ R9, DX
	XORQ AX, AX
	TESTQ R13, R13
	JZ   twoBias
	TWICE
	MOVQ R13, BX
	SHARED(0, Z0, Z1)
	ADDQ R14, BX
	SHARED(0, Z2, Z3)
	ADDQ R14, BX
	SHARED(0, Z4, Z5)
	ADDQ R14, BX
	SHARED(0, Z6, Z7)
	ADDQ $64, R13
	JMP  twoBegin

twoBias:
	VPBROADCASTD 0(R11), Z0
	VPBROADCASTD 0(R11), Z1
	VPBROADCASTD 4(R11), Z2
	VPBROADCASTD 4(R11), Z3
	VPBROADCASTD 8(R11), Z4
	VPBROADCASTD 8(R11), Z5
	VPBROADCASTD 12(R11), Z6
	VPBROADCASTD 12(R11), Z7

twoBegin:
	TESTQ R10, R10
	JZ   twoDone

twoTap:
	TAP
	CELLS(0, Z28, Z0, Z2, Z4, Z6)
	CELLS(64, Z29, Z1, Z3, Z5, Z7)
	CMPQ AX, R10
	JLT  twoTap

twoDone:
	TESTL R15, R15
	JNZ  twoRaw
	SHIFTS
	FINISH(0, Z0, Z2, Z4, Z6)
	FINISH(64, Z1, Z3, Z5, Z7)

twoNext:
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $1, CX
	JMP  two

twoRaw:
	MOVQ DI, BX
	VMOVDQU32 Z0, 0(BX)
	VMOVDQU32 Z1, 64(BX)
	ADDQ R14, BX
	VMOVDQU32 Z2, 0(BX)
	VMOVDQU32 Z3, 64(BX)
	ADDQ R14, BX
	VMOVDQU32 Z4, 0(BX)
	VMOVDQU32 Z5, 64(BX)
	ADDQ R14, BX
	VMOVDQU32 Z6, 0(BX)
	VMOVDQU32 Z7, 64(BX)
	JMP  twoNext

done:
	VZEROUPPER
	RET

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
#define SHARED256(a, b, c) \
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
#define FINISH256(at, a, b, c, d) \
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
	VMOVDQU twice<>+0(SB), Y12
	MOVQ  R13, BX
	SHARED256(Y0, Y1, Y2)
	SHARED256(Y3, Y4, Y5)
	SHARED256(Y6, Y7, Y8)
	SHARED256(Y9, Y10, Y11)
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
	FINISH256(0, Y0, Y3, Y6, Y9)
	FINISH256(32, Y1, Y4, Y7, Y10)
	FINISH256(64, Y2, Y5, Y8, Y11)

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
