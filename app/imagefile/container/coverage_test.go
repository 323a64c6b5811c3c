package container

import (
	"bytes"
	"testing"
	"time"
)

// Gaps with the bytes of moved remainders take time in proportion to their number.
func TestAccountOfManyGaps(t *testing.T) {
	t.Parallel()
	const n, pair = 50_000, 4 // two bytes of a sample and two of its remainder
	file := func(moved int64) (Covered, []byte) {
		data, coverage := make([]byte, moved+pair*n), &Coverage{}
		coverage.Mark(Structure, 0, moved)
		for i := range int64(n) {
			at := moved + pair*i
			coverage.Mark(Sample, at, 2)
			coverage.Rest(Remainder{"strip", i}, at+2, 2)
			data[at+2], data[at+3] = byte(i), byte(i>>8)
		}
		return Covered{R: bytes.NewReader(data), Size: int64(len(data)), Coverage: coverage}, data
	}
	original, _ := file(0)
	result, data := file(3)
	data[3+2]++ // not that of the original
	// A tenth of a second, where each gap looking at all of them took minutes.
	start := time.Now()
	a, err := result.Account(t.Context(), &original)
	want := Account{Size: 3 + pair*n, Structure: 3, Samples: 2 * n, Carried: 2*n - 1, Foreign: 1}
	if took := time.Since(start); err != nil || a != want || took > 10*time.Second {
		t.Errorf("%+v, %v after %v, want %+v", a, err, took, want)
	}
}
