package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/simd"
	"blik/processing"
	"blik/processing/internal/arena"
)

// vectorLevels calls f with the plain kernels and with those of every level of vectors that this processor runs.
func vectorLevels(t *testing.T, f func(t *rapid.T, r *source, plain, vector *Table)) {
	for _, level := range simd.Levels() {
		if level == simd.Plain {
			continue
		}
		plain, vector := plainTable(), Of(level)
		t.Run(level.String(), rapid.MakeCheck(func(t *rapid.T) {
			seed := rapid.Uint64().Draw(t, "seed")
			// Short rows have less than a vector, long ones several vectors and a remainder.
			n := rapid.OneOf(rapid.IntRange(1, 80), rapid.IntRange(1, 700)).Draw(t, "length")
			extreme := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "share of extremes")
			f(t, &source{rand.New(rand.NewPCG(seed, 1)), n, extreme}, &plain, &vector)
		}))
	}
}

// source makes rows that begin anywhere, some of their samples the least and the greatest.
type source struct {
	*rand.Rand
	n       int
	extreme float64
}

// row returns n samples out of a longer row.
func row[T any](r *source, n int, low, high T, any func() T) []T {
	before, behind := r.IntN(9), r.IntN(9)
	s := make([]T, before+n+behind)
	for i := range s {
		switch {
		case r.Float64() >= r.extreme:
			s[i] = any()
		case r.IntN(2) == 0:
			s[i] = low
		default:
			s[i] = high
		}
	}
	return s[before : before+n]
}

func (r *source) bytes(n int) []uint8 {
	return row(r, n, 0, math.MaxUint8, func() uint8 { return uint8(r.Uint32()) })
}

func (r *source) words(n int) []uint16 {
	return row(r, n, 0, math.MaxUint16, func() uint16 { return uint16(r.Uint32()) })
}

// guarded calls a kernel on a copy of dst that lies inside a longer row, and fails if samples outside change.
func guarded[T comparable](t *rapid.T, dst []T, call func(dst []T)) []T {
	t.Helper()
	const fence = 70
	whole := make([]T, len(dst)+2*fence)
	for i := range fence {
		if len(dst) > 0 {
			whole[i], whole[len(whole)-1-i] = dst[i%len(dst)], dst[i%len(dst)]
		}
	}
	copy(whole[fence:], dst)
	before := slices.Clone(whole)
	out := whole[fence : fence+len(dst)]
	call(out)
	alike := func(a, b T) bool { return a == b || a != a && b != b }
	if !slices.EqualFunc(whole[:fence], before[:fence], alike) ||
		!slices.EqualFunc(whole[fence+len(dst):], before[fence+len(dst):], alike) {
		t.Fatal("samples outside the row were written")
	}
	return out
}

// same fails unless a kernel gives the same row as the plain one.
func same[T comparable](t *rapid.T, what string, dst []T, plain, vector func(dst []T)) {
	t.Helper()
	want, got := slices.Clone(dst), guarded(t, dst, vector)
	plain(want)
	for i := range want {
		if want[i] != got[i] && (want[i] == want[i] || got[i] == got[i]) {
			t.Fatalf("%s: sample %d of %d is %v, want %v", what, i, len(dst), got[i], want[i])
		}
	}
}

func checkOrder[T Sample](t *rapid.T, r *source, plain, vector *Order[T], random func(n int) []T) {
	a, b, c, d := random(r.n), random(r.n), random(r.n), random(r.n)
	if plain.Worst != vector.Worst {
		t.Fatalf("worst is %v, want %v", vector.Worst, plain.Worst)
	}
	same(t, "fold", a, func(s []T) { plain.Fold(s, b) }, func(s []T) { vector.Fold(s, b) })
	for _, four := range [][4][]T{{a, b, c, d}, {a, b, c, c}, {a, b, b, b}} {
		same(t, "best4", a, func(s []T) { plain.Best4(s, four[0], four[1], four[2], four[3]) },
			func(s []T) { vector.Best4(s, four[0], four[1], four[2], four[3]) })
	}
	// In place, from later samples on.
	long, i, j, k := random(r.n+60), r.IntN(20), r.IntN(40), r.IntN(60)
	same(t, "best4 in place", long, func(s []T) { plain.Best4(s[:r.n], s, s[i:], s[j:], s[k:]) },
		func(s []T) { vector.Best4(s[:r.n], s, s[i:], s[j:], s[k:]) })
	// All rows that advance writes, one after the other.
	advance := func(o *Order[T]) func(s []T) {
		return func(s []T) { o.Advance(s[:r.n], s[r.n:2*r.n], s[2*r.n:], c, d) }
	}
	same(t, "advance", random(3*r.n), advance(plain), advance(vector))
	side := 2*r.IntN(60) + 3
	src := random(r.n + side - 1)
	same(t, "window", a, func(s []T) { plain.Window(s, slices.Clone(src), side) },
		func(s []T) { vector.Window(s, slices.Clone(src), side) })
}

func TestOrderKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		checkOrder(t, r, &plain.Dilate8, &vector.Dilate8, r.bytes)
		checkOrder(t, r, &plain.Erode8, &vector.Erode8, r.bytes)
		checkOrder(t, r, &plain.Dilate16, &vector.Dilate16, r.words)
		checkOrder(t, r, &plain.Erode16, &vector.Erode16, r.words)
	})
}

func (r *source) floats(n int) []float32 {
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), math.MaxFloat32, 1, -1}
	return row(r, n, float32(math.Inf(-1)), float32(math.Inf(1)), func() float32 {
		if r.IntN(4) == 0 {
			return special[r.IntN(len(special))]
		}
		return math.Float32frombits(r.Uint32())
	})
}

// bounded returns n finite floats of at most some size, all signs.
// Sums of pairs of rows, and rounded ones of floats.
func TestSymmetricKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		m, a, b, c, dst := r.bytes(r.n), r.bytes(r.n), r.bytes(r.n), r.bytes(r.n), r.bounded(r.n, 9)
		if r.IntN(2) == 0 {
			m = nil
		}
		taps := r.bounded(4, 2)
		pairs := []Pair[uint8]{{&a[0], &b[0]}, {&b[0], &c[0]}, {&c[0], &a[0]}}[:r.IntN(4)]
		same(t, "down", dst, func(s []float32) { plain.Down(s, m, taps[3], pairs, taps) },
			func(s []float32) { vector.Down(s, m, taps[3], pairs, taps) })
		positive := func() []float32 {
			const most = math.MaxUint8
			return row(r, r.n, 0, most, func() float32 { return float32(r.Uint32()>>14) / (1 << 18) * most })
		}
		middle, x, y := positive(), positive(), positive()
		near := []Pair[float32]{{&x[0], &y[0]}, {&y[0], &middle[0]}}[:r.IntN(3)]
		shares := row(r, 3, 0, 0.5, r.Float32)
		same(t, "across", a, func(s []uint8) { plain.Across(s, middle, shares[2], near, shares) },
			func(s []uint8) { vector.Across(s, middle, shares[2], near, shares) })
	})
}

func (r *source) bounded(n int, most float32) []float32 {
	return row(r, n, 0, most, func() float32 { return (2*r.Float32() - 1) * most })
}

// checkBoxes compares means of windows with their definition, counts included.
func checkBoxes[T uint8 | uint16, S uint16 | uint32](t *rapid.T, r *source, most uint64, plain, vector func(dst []T,
	col []S, k int, c *Counts)) {
	rx, ry := r.IntN(20), r.IntN(MaxBytes+1)
	g := newWindow(max(1, r.n+r.IntN(50)), 1+r.IntN(200), rx)
	g.ry = min(ry, g.h-1)
	x0, y := r.IntN(g.w-min(r.n, g.w)+1), r.IntN(g.h)
	n := min(r.n, g.w-x0)
	c := NewCounts(new(arena.Arena), n, g.columnsAt(x0))
	c.Set(g.countY(y), most == math.MaxUint8)
	highest := most * uint64(g.countY(y))
	col := row(r, n+2*g.rx+1+Block, 0, S(highest), func() S { return S(r.Uint64N(highest + 1)) })
	for i := range col {
		// Outside the picture there is nothing to add.
		if x := x0 - g.rx - 1 + i; x < 0 || x >= g.w {
			col[i] = 0
		}
	}
	dst := make([]T, n)
	same(t, "boxes", dst, func(s []T) { plain(s, col, 2*g.rx+1, c) }, func(s []T) { vector(s, col, 2*g.rx+1, c) })
}

func TestBoxKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		checkBoxes(t, r, math.MaxUint8, plain.Boxes8, vector.Boxes8)
		checkBoxes(t, r, math.MaxUint16, plain.Boxes16, vector.Boxes16)
		col := row(r, r.n, 0, math.MaxUint16, func() uint16 { return uint16(r.Uint32()) })
		add, sub := r.bytes(r.n), r.bytes(r.n)
		same(t, "slideBytes", col, func(s []uint16) { plain.SlideBytes(s, add, sub) },
			func(s []uint16) { vector.SlideBytes(s, add, sub) })
		wide, more, less := row(r, r.n, 0, math.MaxUint32, r.Uint32), r.words(r.n), r.words(r.n)
		same(t, "slideWords", wide, func(s []uint32) { plain.SlideWords(s, more, less) },
			func(s []uint32) { vector.SlideWords(s, more, less) })
	})
}

// Sums of every number of pixels, at and around the halves between two quotients, where these can go wrong.
func TestBoxReciprocals(t *testing.T) {
	const n = 2 * Block
	c := &Counts{columns: make([]uint32, n), pixels: make([]uint32, n), half: make([]float32, n),
		inverse: make([]float32, n), to: n}
	Fill(c.columns, 1)
	dst, col := make([]uint16, n), make([]uint32, 1+n+Block)
	for _, level := range simd.Levels() {
		k := Of(level)
		for pixels := uint32(1); pixels < MaxMean; pixels++ {
			c.Set(int(pixels), false)
			for i := range col {
				q := 65535 - uint32(i)/3*uint32(i)%65535
				col[i] = min(q*pixels-pixels/2+uint32(i)%3-1, 65535*pixels)
			}
			k.Boxes16(dst, col, 1, c)
			for i, got := range dst {
				if want := uint16((col[i+1] + pixels/2) / pixels); got != want {
					t.Fatalf("%v: %d/%d is %d, want %d", level, col[i+1], pixels, got, want)
				}
			}
		}
	}
}

// Columns of packed sums, most of them in stretches that hold all their pixels. The means and the bits of poor windows
// are those of the plain kernel for all sums that a window can have.
func TestNarrowKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		sums := row(r, r.n, 0, math.MaxUint32, r.Uint32)
		add, sub := r.words(r.n), r.words(r.n)
		addOut, subOut := r.bytes(r.n), r.bytes(r.n)
		same(t, "censor32", sums, func(s []uint32) { plain.Censor32(s, add, sub, addOut, subOut) },
			func(s []uint32) { vector.Censor32(s, add, sub, addOut, subOut) })

		k, rows := 2*r.IntN(NarrowRadius+1)+1, 1+r.Uint32N(2*NarrowRadius+1)
		need := 1 + r.Uint32N(uint32(k)*rows)
		col := make([]uint32, 1+r.n+k-1+Block)
		held := rows
		for i := range col {
			switch r.IntN(12) {
			case 0:
				held = r.Uint32N(rows + 1)
			case 1, 2:
				held = rows
			}
			v := held * 65535
			if r.Float64() >= r.extreme {
				v = r.Uint32N(v + 1)
			}
			col[i] = held<<NarrowShift | v
		}
		bits, some := row(r, (r.n+63)/64, 0, math.MaxUint64, r.Uint64), false
		found := slices.Clone(bits)
		same(t, "narrowMeans", r.words(r.n), func(s []uint16) { some = plain.NarrowMeans(s, bits, col, k, need) },
			func(s []uint16) {
				// The plain kernel is called after this one.
				if got := vector.NarrowMeans(s, found, col, k, need); got != slices.ContainsFunc(found, set) {
					t.Fatalf("poor windows: %v", got)
				}
			})
		if !slices.Equal(found, bits) || some != slices.ContainsFunc(bits, set) {
			t.Fatalf("poor windows %x, want %x", found, bits)
		}
	})
}

// set reports whether any bit of a word is set.
func set(word uint64) bool { return word != 0 }

// Every sum of every number of pixels that a narrow window can hold has the right mean.
func TestNarrowReciprocals(t *testing.T) {
	for _, level := range simd.Levels() {
		k := Of(level)
		const n, most = 16 * 64, (2*NarrowRadius + 1) * (2*NarrowRadius + 1)
		dst, poor := make([]uint16, n), make([]uint64, n/64)
		col := make([]uint32, 1+n+Block)
		for pixels := uint32(1); pixels <= most; pixels++ {
			// Multiples of the pixels, and sums at a half, are where a quotient can go wrong.
			for q := uint32(0); q < 65535; q += 501 {
				for i := range col {
					v := min((q+uint32(i)/2)*pixels+pixels/2+uint32(i)%2, 65535*pixels) - uint32(i)%2
					col[i] = pixels<<NarrowShift | min(v, 65535*pixels)
				}
				k.NarrowMeans(dst, poor, col, 1, 1)
				for i, got := range dst {
					s := col[i+1] & NarrowMask
					if want := uint16((s + pixels/2) / pixels); got != want || poor[i/64] != 0 {
						t.Fatalf("%v: %d/%d is %d, want %d; poor: %x", level, s, pixels, got, want, poor[i/64])
					}
				}
			}
		}
	}
}

func TestCensoredKernels(t *testing.T) {
	vectorLevels(t, func(t *rapid.T, r *source, plain, vector *Table) {
		exclusion := func() []uint8 {
			s := row(r, r.n, 0, 255, func() uint8 { return 0 })
			// Long runs without excluded pixels.
			if from := r.IntN(len(s)); r.IntN(2) == 0 {
				clear(s[from : from+r.IntN(len(s)-from)])
			}
			return s
		}
		add, sub, addOut, subOut := r.words(r.n), r.words(r.n), exclusion(), exclusion()
		col := row(r, r.n, 0, math.MaxUint64, r.Uint64)
		same(t, "censor", col, func(s []uint64) { plain.Censor(s, add, sub, addOut, subOut) },
			func(s []uint64) { vector.Censor(s, add, sub, addOut, subOut) })

		y, bg, v := r.words(r.n), r.words(r.n), r.bytes(r.n)
		rule := processing.ContrastRule{Absolute: uint16(r.Uint32() >> r.IntN(32)), Relative: r.Uint32() >> (14 + r.IntN(18)),
			SeedAbsolute: uint16(r.Uint32() >> r.IntN(32)), SeedRelative: r.Uint32() >> (14 + r.IntN(19)),
			SeedLevel: uint8(r.Uint32())}
		if r.IntN(2) == 0 {
			// Long stretches without contrast.
			copy(bg[r.IntN(r.n):], y)
		}
		seeds := r.words(r.n)
		same(t, "class of contrast", subOut, func(s []uint8) { plain.Contrast(s, seeds, y, bg, v, rule) },
			func(s []uint8) { vector.Contrast(s, seeds, y, bg, v, rule) })
		same(t, "seeds of contrast", seeds, func(s []uint16) { plain.Contrast(subOut, s, y, bg, v, rule) },
			func(s []uint16) { vector.Contrast(subOut, s, y, bg, v, rule) })
		over, level := int32(r.IntN(1<<16)), int32(r.IntN(256))
		same(t, "differenceThreshold", addOut,
			func(s []uint8) { plain.DifferenceThreshold(s, y, bg, v, over, level) },
			func(s []uint8) { vector.DifferenceThreshold(s, y, bg, v, over, level) })
	})
}
