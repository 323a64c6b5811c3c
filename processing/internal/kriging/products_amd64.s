//go:build goexperiment.simd && amd64

#include "textflag.h"

// The products of a column of eight rows, in Y8 and Y9, with the values at two rows of d. A vector is the same sum of
// four rows.
#define COLUMN(at, a, b, c, e) \
	VMOVUPD      at(SI), Y8         \
	VMOVUPD      at(BX), Y9         \
	VBROADCASTSD at(DX), Y10        \
	VBROADCASTSD at+8(DX), Y11      \
	VMULPD       Y10, Y8, Y12       \
	VMULPD       Y10, Y9, Y13       \
	VMULPD       Y11, Y8, Y14       \
	VMULPD       Y11, Y9, Y15       \
	VADDPD       Y12, a, a          \
	VADDPD       Y13, b, b          \
	VADDPD       Y14, c, c          \
	VADDPD       Y15, e, e

// func addProducts256(first, second *[2][4][4]float64, p, p2, d *float64, q int)
//
// Adds up the products in the first q squares of panels p and p2 with two rows of panel d. It takes the first two of the
// four sums together, and then the others, so that all eight sums have a register.
TEXT ·addProducts256(SB), NOSPLIT, $0-48
	MOVQ first+0(FP), DI
	MOVQ second+8(FP), R8
	MOVQ $2, R9

pass:
	MOVQ   p+16(FP), SI
	MOVQ   p2+24(FP), BX
	MOVQ   d+32(FP), DX
	MOVQ   q+40(FP), CX
	MOVQ   $2, AX
	SUBQ   R9, AX
	SHLQ   $6, AX
	ADDQ   AX, SI
	ADDQ   AX, BX
	ADDQ   AX, DX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	TESTQ  CX, CX
	JZ     store

square:
	COLUMN(0, Y0, Y1, Y2, Y3)
	COLUMN(32, Y4, Y5, Y6, Y7)
	ADDQ $128, SI
	ADDQ $128, BX
	ADDQ $128, DX
	DECQ CX
	JNZ  square

store:
	VMOVUPD Y0, (DI)
	VMOVUPD Y4, 32(DI)
	VMOVUPD Y2, 128(DI)
	VMOVUPD Y6, 160(DI)
	VMOVUPD Y1, (R8)
	VMOVUPD Y5, 32(R8)
	VMOVUPD Y3, 128(R8)
	VMOVUPD Y7, 160(R8)
	ADDQ    $64, DI
	ADDQ    $64, R8
	DECQ    R9
	JNZ     pass
	VZEROUPPER
	RET

// An entry of column c is its value less the four sums, over the value on the diagonal. The first sum is in x.
#define ENTRY(c, x) \
	VADDPD       128*c+32(DI), x, x   \
	VMOVUPD      128*c+64(DI), Y8     \
	VADDPD       128*c+96(DI), Y8, Y8 \
	VADDPD       Y8, x, x             \
	VMOVUPD      32*c(SI), Y9         \
	VSUBPD       x, Y9, x             \
	VBROADCASTSD 40*c(DX), Y10        \
	VDIVPD       Y10, x, x            \
	VMOVUPD      x, 32*c(SI)

// Adds the product of an entry with a value of d to the first sum of a later column.
#define LATER(at, x, sum) \
	VBROADCASTSD at(DX), Y11 \
	VMULPD       Y11, x, Y12 \
	VADDPD       Y12, sum, sum

// func finish256(sums *[4][4][4]float64, p, d *float64)
//
// Computes the entries of a square of panel p, whose rows are in the lanes, from those of the square d on the diagonal.
TEXT ·finish256(SB), NOSPLIT, $0-24
	MOVQ    sums+0(FP), DI
	MOVQ    p+8(FP), SI
	MOVQ    d+16(FP), DX
	VMOVUPD (DI), Y0
	VMOVUPD 128(DI), Y1
	VMOVUPD 256(DI), Y2
	VMOVUPD 384(DI), Y3
	ENTRY(0, Y0)
	LATER(8, Y0, Y1)
	LATER(16, Y0, Y2)
	LATER(24, Y0, Y3)
	ENTRY(1, Y1)
	LATER(48, Y1, Y2)
	LATER(56, Y1, Y3)
	ENTRY(2, Y2)
	LATER(88, Y2, Y3)
	ENTRY(3, Y3)
	VZEROUPPER
	RET
