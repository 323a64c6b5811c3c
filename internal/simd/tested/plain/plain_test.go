//go:build !goexperiment.simd || !amd64

package plain

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"blik/internal/simd"
	"blik/internal/test/testpic"
)

// withVectors are the packages that have vector kernels.
var withVectors = []string{
	"./internal/simd/...", "./processing/cpu", "./processing/network", "./processing/internal/...", "./app/view",
}

// TestVectorKernels runs the tests of the loops with the vector kernels, which these tests were built without.
func TestVectorKernels(t *testing.T) {
	testpic.Need(t, runtime.GOARCH == "amd64", "amd64: the plain kernels are the only ones")
	testpic.Need(t, os.Getenv(simd.Variable) == "", "no "+simd.Variable+", which chooses plain kernels")
	_, isSet := os.LookupEnv("GOEXPERIMENT")
	testpic.Need(t, !isSet, "no GOEXPERIMENT in the environment, which chooses plain kernels")
	testpic.NoRace(t)
	_, err := exec.LookPath("go")
	testpic.Need(t, err == nil, "the go command")
	args := []string{"test", "-vet=off", fmt.Sprintf("-short=%v", testing.Short())}
	c := exec.Command("go", append(args, withVectors...)...)
	c.Dir, c.Env = "../../../..", append(os.Environ(), "GOEXPERIMENT=simd")
	out, err := c.CombinedOutput()
	t.Logf("kernels tested: plain; with GOEXPERIMENT=simd:\n%s", out)
	if err != nil {
		t.Error(err)
	}
}
