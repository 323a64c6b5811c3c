//go:build !goexperiment.simd || !amd64

package differences

// vectors is empty without vector instructions.
type vectors struct{}

func newVectors() (v vectors) { return v }

func (s *Sums) addVectors(*Row, *Row, int) (done int, ok bool) { return 0, true }

func betweenVectors([]int64, [][]float32, int, int, []float32, []float32) (done int) { return 0 }

func slideVectors(totals, old, p, q []int64) (done int) { return 0 }
