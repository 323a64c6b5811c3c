package kernel

import (
	"math/rand/v2"
	"testing"

	"blik/internal/simd"
	"blik/processing/internal/arena"
)

// BenchmarkKernels prints the time of kernels of running sums on a row, for each level of vectors. A kernel that is not
// faster than the plain one, or than two others in sequence, does not belong in the table.
func BenchmarkKernels(b *testing.B) {
	const n, k = 2048, 25
	r := &source{Rand: rand.New(rand.NewPCG(1, 2)), n: n}
	g := newWindow(3*n, 100, k/2)
	c := NewCounts(new(arena.Arena), n, g.columnsAt(n))
	paired := NewCounts(new(arena.Arena), n, g.columnsAt(n))
	c.Set(k, false)
	paired.Set(k, true)
	const width = n + k + Block
	col16, col32, col64 := make([]uint16, width), make([]uint32, width), make([]uint64, width)
	sum32, sum64 := make([]uint32, n), make([]uint64, n)
	for i := range col16 {
		v := uint64(1000 + r.IntN(1000))
		col16[i], col32[i], col64[i] = uint16(v), uint32(v), k<<CountShift+v
	}
	for i := range sum32 {
		v := uint64(1e6 + r.IntN(1e6))
		sum32[i], sum64[i] = uint32(v), k*k<<CountShift+v
	}
	inverses := make([]uint64, k*k+1)
	for i := 1; i < len(inverses); i++ {
		inverses[i] = Inverse(uint64(i))
	}
	bytes, words, none := r.bytes(n), r.words(n), make([]uint8, n)
	for _, kernel := range []struct {
		name string
		run  func(t *Table) func()
	}{
		{"scan32+mean32/U8", func(t *Table) func() {
			return func() { t.Scan32(sum32, col32, k); t.Sums8.Mean32(bytes, sum32, k*k) }
		}},
		{"boxes8", func(t *Table) func() { return func() { t.Boxes8(bytes, col16, k, paired) } }},
		{"scan32+mean32/U16", func(t *Table) func() {
			return func() { t.Scan32(sum32, col32, k); t.Sums16.Mean32(words, sum32, k*k) }
		}},
		{"boxes16", func(t *Table) func() { return func() { t.Boxes16(words, col32, k, c) } }},
		{"scan64", func(t *Table) func() { return func() { t.Scan64(sum64, col64, k) } }},
		{"censor", func(t *Table) func() { return func() { t.Censor(col64[:n], words, words, none, none) } }},
		{"censoredMean", func(t *Table) func() { return func() { t.CensoredMean(words, sum64, inverses, k) } }},
	} {
		for _, level := range simd.Levels() {
			table := Of(level)
			run := kernel.run(&table)
			b.Run(kernel.name+"/"+level.String(), func(b *testing.B) {
				for b.Loop() {
					run()
				}
			})
		}
	}
}
