package server

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPack(t *testing.T) {
	t.Parallel()
	rng := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 100_000)
	rng.Read(noise)
	for _, data := range [][]byte{nil, {'z'}, []byte("zz"), []byte("{}"), noise, []byte(strings.Repeat("abc", 1e5))} {
		packed, err := pack(data)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := unpack(packed); err != nil || !bytes.Equal(back, data) {
			t.Errorf("%d bytes become %d and %d: %v", len(data), len(packed), len(back), err)
		}
		if len(packed) > 1 {
			if back, err := unpack(packed[:len(packed)/2]); err == nil && len(data) > 0 && bytes.Equal(back, data) {
				t.Errorf("half of %d bytes is all of them", len(packed))
			}
		}
	}
	// Uncompressed data of an older program are read unchanged.
	for _, old := range []string{"done abc 2 3\n{}", "[]", ""} {
		if back, err := unpack([]byte(old)); err != nil || string(back) != old {
			t.Errorf("%q becomes %q, %v", old, back, err)
		}
	}
	if _, err := unpack([]byte("z not compressed")); err == nil {
		t.Error("what is damaged is read")
	}
}
