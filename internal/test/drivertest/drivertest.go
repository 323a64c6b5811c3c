// Package drivertest makes a driver library for tests of what happens without a GPU, and with one that fails.
package drivertest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"blik/internal/test/testpic"
)

//go:embed testdata/libcuda.c
var source []byte

// Build compiles the library with gcc and returns the folder that holds libcuda.so.1, for LD_LIBRARY_PATH of a child
// process; the source says what its variables do. The test is skipped where there is no gcc.
func Build(t testing.TB) string {
	t.Helper()
	gcc := testpic.Program(t, "gcc")
	dir := t.TempDir()
	file := filepath.Join(dir, "libcuda.c")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gcc, "-shared", "-fPIC", "-w",
		"-o", filepath.Join(dir, "libcuda.so.1"), file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}
