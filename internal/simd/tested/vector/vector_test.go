//go:build goexperiment.simd && amd64

package vector

import (
	"os"
	"strings"
	"testing"

	"blik/internal/simd"
	"blik/internal/test/testpic"
)

// The tests of the loops run on every level up to the chosen one.
func TestKernels(t *testing.T) {
	var levels []string
	for l := range simd.Chosen() + 1 {
		levels = append(levels, l.String())
	}
	t.Logf("kernels tested: %s", strings.Join(levels, ", "))
	const cpuinfo = "/proc/cpuinfo"
	info, err := os.ReadFile(cpuinfo)
	testpic.Need(t, err == nil, cpuinfo)
	testpic.Need(t, os.Getenv(simd.Variable) == "", "no "+simd.Variable)
	if has := strings.Contains(string(info), " avx2 "); has != (simd.Chosen() > simd.Plain) {
		t.Errorf("%s has AVX2: %v; kernels: %v: %v", cpuinfo, has, simd.Chosen(), simd.Why())
	}
}
