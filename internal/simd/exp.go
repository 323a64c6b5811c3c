package simd

import "math"

// Exp is math.Exp, but always runs at its normal speed.
//
// Where GOEXPERIMENT=simd is set, the scheduler restores whole vector registers after it has interrupted a loop. On
// some processors math.Exp, whose instructions are of the older SSE kind, then takes twenty times as long, until an
// instruction clears the upper halves. Loops that do little else call this function.
func Exp(x float64) float64 {
	clearUpper()
	return math.Exp(x)
}
