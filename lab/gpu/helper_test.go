//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/testpic"
	"blik/internal/test/verified"
)

var background = context.Background()

// passed are the tests that ran on a GPU and did not fail.
var passed struct {
	sync.Mutex
	names []string
}

// released fails if planes or other memory of the device are in use.
func released(t *testing.T, x *provider) {
	t.Helper()
	if n, bytes := x.b.Live(); n != 0 || bytes != 0 {
		t.Errorf("%d planes, %d bytes are left on the device", n, bytes)
	}
}

// TestMain adds the tests that passed on a GPU to the record of verification at BLIK_VERIFY, which the tests of
// blik/cuda have written before.
func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv("BLIK_VERIFY"); path != "" && code == 0 {
		if err := addTo(path); err != nil {
			fmt.Fprintln(os.Stderr, "not in the record of verification:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func addTo(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r verified.Record
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if hash, err := verified.Hash("../../kernels"); err != nil || hash != r.Hash {
		return fmt.Errorf("it is about other kernels (%v)", err)
	}
	r.Tests = append(r.Tests, passed.names...)
	slices.Sort(r.Tests)
	if text, err = json.MarshalIndent(r, "", "\t"); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// experimentsOnGPU opens the GPU for one test, or skips it where there is none.
func experimentsOnGPU(t *testing.T) *provider {
	t.Helper()
	x, err := openOrdinal(0)
	testpic.Require(t, err == nil, testpic.RequireGPU, fmt.Sprintf("a GPU: %v", err))
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if !t.Failed() && !t.Skipped() {
			passed.Lock()
			passed.names = append(passed.names, t.Name())
			passed.Unlock()
		}
	})
	return x
}

// noise draws n samples up to most: random ones, all alike, or few that are not 0.
func noise[T uint8 | uint16](t *rapid.T, name string, n int, most int) []T {
	kind := rapid.SampledFrom([]string{"random", "white", "black", "sparse"}).Draw(t, name)
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 0))
	s := make([]T, n)
	for i := range s {
		switch v := random.IntN(most + 1); {
		case kind == "white":
			s[i] = T(most)
		case kind == "random", kind == "sparse" && random.IntN(16) == 0:
			s[i] = T(v)
		}
	}
	return s
}

func same(t rapid.TB, what string, w int, got, want []uint8) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d samples, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: pixel (%d, %d) is %v on the GPU, %v on the CPU", what, i%w, i/w, got[i], want[i])
		}
	}
}

func radius(t *rapid.T, most int) int {
	return rapid.OneOf(rapid.IntRange(0, 6), rapid.IntRange(0, most)).Draw(t, "r")
}
