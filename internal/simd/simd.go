// Package simd decides once which kernels the loops over samples run on: plain Go, or those that use the processor's
// vector instructions. All give the same results.
//
// Vector kernels are written with the standard library's simd/archsimd, which exists for amd64 where GOEXPERIMENT=simd
// was set when the program was built. Their files have the build tag goexperiment.simd && amd64.
package simd

import (
	"os"
	"slices"
	"sync"

	"blik/internal/message"
)

// Level is a set of vector instructions that kernels are written for; each includes those before it, but AVX512 and
// VNNI do without AVXVNNI.
type Level uint8

// The levels.
const (
	// Plain is Go without vector instructions.
	Plain Level = iota
	// AVX2 needs AVX2 and FMA: vectors of 256 bits.
	AVX2
	// AVXVNNI also needs AVX-VNNI: sums of products of bytes, for processors without AVX-512.
	AVXVNNI
	// AVX512 also needs AVX-512 F, CD, BW, DQ and VL: vectors of 512 bits.
	AVX512
	// VNNI also needs AVX-512 VNNI: sums of products of bytes.
	VNNI
)

// String returns the name of the level, as Variable takes it.
func (l Level) String() string {
	return [...]string{"plain", "avx2", "avxvnni", "avx512", "vnni"}[min(l, VNNI)]
}

// Variable is the environment variable that forces a lower level than the processor's.
const Variable = "BLIK_KERNELS"

// choice is a level and why it is not a higher one.
type choice struct {
	level, processor Level
	forced           string
}

// choose returns the highest of the processor's levels that is not above the one that the variable names. A value that
// names no level selects the slowest.
func choose(processor []Level, forced string) choice {
	highest := processor[len(processor)-1]
	c := choice{level: highest, processor: highest, forced: forced}
	if forced == "" {
		return c
	}
	named := Plain
	for l := range VNNI + 1 {
		if l.String() == forced {
			named = l
		}
	}
	for _, l := range processor {
		if l <= named {
			c.level = l
		}
	}
	return c
}

var chosen = sync.OnceValue(func() choice { return choose(processor(), os.Getenv(Variable)) })

// Chosen returns the level of this process. It does not change while the process runs.
func Chosen() Level { return chosen().level }

// Levels returns the levels that this process could run on, from Plain to Chosen.
func Levels() []Level {
	return slices.DeleteFunc(processor(), func(l Level) bool { return l > Chosen() })
}

// Why explains why no faster kernels run; it is empty at the highest level.
func Why() message.Message { return chosen().why() }

func (c choice) why() message.Message {
	switch {
	case c.level < c.processor:
		return message.Of("%s is %q; the processor has %s", Variable, c.forced, c.processor.String())
	case !built:
		return message.Of("the program was built without vector kernels")
	case c.level == Plain:
		return message.Of("the processor has no AVX2")
	case c.level < AVX512:
		return message.Of("the processor has no AVX-512")
	case c.level == AVX512:
		return message.Of("the processor has no AVX-512 VNNI")
	}
	return message.Message{}
}
