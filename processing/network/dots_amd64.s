//go:build goexperiment.simd && amd64

#include "textflag.h"

// Bytes 0, 4, 8, 12, 1, 5, …: four channels after each other become those of four cells.
DATA order<>+0(SB)/8, $0x0d0905010c080400
DATA order<>+8(SB)/8, $0x0f0b07030e0a0602
GLOBL order<>(SB), RODATA|NOPTR, $16

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

// func dots512(dst, src unsafe.Pointer, taps, weights *int32, n int, bias, shift *[4]int32, add, top int32, blocks int)
TEXT ·dots512(SB), NOSPLIT, $0-72
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


six:
	CMPQ CX, $3
	JLT  two
	MOVQ R9, DX
	XORQ AX, AX
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
	SHIFTS
	FINISH(0, Z0, Z6, Z12, Z18)
	FINISH(64, Z1, Z7, Z13, Z19)
	FINISH(128, Z2, Z8, Z14, Z20)
	FINISH(192, Z3, Z9, Z15, Z21)
	FINISH(256, Z4, Z10, Z16, Z22)
	FINISH(320, Z5, Z11, Z17, Z23)
	ADDQ $384, SI
	ADDQ $384, DI
	SUBQ $3, CX
	JMP  six

two:
	CMPQ CX, $1
	JLT  done
	MOVQ R9, DX
	XORQ AX, AX
	VPBROADCASTD 0(R11), Z0
	VPBROADCASTD 0(R11), Z1
	VPBROADCASTD 4(R11), Z2
	VPBROADCASTD 4(R11), Z3
	VPBROADCASTD 8(R11), Z4
	VPBROADCASTD 8(R11), Z5
	VPBROADCASTD 12(R11), Z6
	VPBROADCASTD 12(R11), Z7
	TESTQ R10, R10
	JZ   twoDone

twoTap:
	TAP
	CELLS(0, Z28, Z0, Z2, Z4, Z6)
	CELLS(64, Z29, Z1, Z3, Z5, Z7)
	CMPQ AX, R10
	JLT  twoTap

twoDone:
	SHIFTS
	FINISH(0, Z0, Z2, Z4, Z6)
	FINISH(64, Z1, Z3, Z5, Z7)
	ADDQ $128, SI
	ADDQ $128, DI
	SUBQ $1, CX
	JMP  two

done:
	VZEROUPPER
	RET
