package png

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestFiltersEqualDefinition compares the filters, their inverses and their cost with the formulas of 9.2, byte by
// byte.
func TestFiltersEqualDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bpp := rapid.IntRange(1, 8).Draw(t, "bpp")
		n := bpp * rapid.IntRange(0, 3000/bpp).Draw(t, "pixels")
		seed, sparse := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 40).Draw(t, "sparse")
		row, above := make([]byte, n), make([]byte, n)
		for i := range n {
			seed = seed*6364136223846793005 + 1442695040888963407
			above[i], row[i] = byte(seed>>56), byte(seed>>56)
			if int(seed>>33&31) >= sparse {
				row[i] = byte(seed >> 48)
			}
		}
		at := func(s []byte, i int) int {
			if i < 0 {
				return 0
			}
			return int(s[i])
		}
		for kind := range uint8(5) {
			want, cost := []byte{kind}, 0
			for i := range n {
				a, b, c := at(row, i-bpp), at(above, i), at(above, i-bpp)
				d := row[i] - byte([]int{0, a, b, (a + b) / 2, predict(a, b, c)}[kind])
				want = append(want, d)
				cost += max(int(int8(d)), -int(int8(d)))
			}
			line := filter(nil, kind, row, above, bpp)
			if !bytes.Equal(line, want) {
				t.Fatalf("filter %d of %v below %v is %v, want %v", kind, row, above, line, want)
			}
			if got := costOf(line[1:]); got != cost {
				t.Fatalf("cost %d, want %d", got, cost)
			}
			if err := unfilter(kind, line[1:], above, bpp); err != nil || !bytes.Equal(line[1:], row) {
				t.Fatalf("filter %d: %v; unfiltered %v, want %v", kind, err, line[1:], row)
			}
		}
	})
}
