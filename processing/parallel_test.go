package processing

import "testing"

func TestInPartsCoversAllOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100, 1001} {
		for _, least := range []int{1, 3, 100, 5000} {
			seen := make([]int, n)
			inParts(n, least, func(a, b int) {
				for i := a; i < b; i++ {
					seen[i]++
				}
			})
			for i, k := range seen {
				if k != 1 {
					t.Fatalf("%d things in parts of at least %d: number %d is in %d parts", n, least, i, k)
				}
			}
		}
	}
}
