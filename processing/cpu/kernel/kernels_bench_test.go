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
	for i := range col16 {
		v := uint64(1000 + r.IntN(1000))
		col16[i], col32[i], col64[i] = uint16(v), uint32(v), k<<CountShift+v
	}
	bytes, words, none := r.bytes(n), r.words(n), make([]uint8, n)
	for _, kernel := range []struct {
		name string
		run  func(t *Table) func()
	}{
		{"boxes8", func(t *Table) func() { return func() { t.Boxes8(bytes, col16, k, paired) } }},
		{"boxes16", func(t *Table) func() { return func() { t.Boxes16(words, col32, k, c) } }},
		{"censor", func(t *Table) func() { return func() { t.Censor(col64[:n], words, words, none, none) } }},
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
