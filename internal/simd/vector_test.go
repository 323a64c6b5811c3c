//go:build goexperiment.simd && amd64

package simd

import "testing"

func TestMaker(t *testing.T) {
	t.Parallel()
	name := maker()
	if len(name) != 12 {
		t.Fatalf("the maker's name is %q, want 12 letters", name)
	}
	for _, r := range name {
		if r < ' ' || r > '~' {
			t.Fatalf("the maker's name is %q, want letters", name)
		}
	}
}
