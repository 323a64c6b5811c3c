//go:build cuda && (linux || windows) && amd64

package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"blik/internal/test/drivertest"
	"blik/internal/test/testpic"
)

// TestChild is started by the other tests with another driver library: it prints the result of Status.
func TestChild(t *testing.T) {
	testpic.Need(t, os.Getenv("BLIK_CHILD") != "", "to be started by another test")
	var p *Problem
	switch err := Status(); {
	case err == nil:
		fmt.Println("status: fine", Version())
	case errors.As(err, &p):
		fmt.Println("status:", p.Reason, p.Code, p)
	default:
		t.Fatal(err)
	}
}

func child(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, "BLIK_CHILD=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, line, found := strings.Cut(string(out), "status: ")
	if !found {
		t.Fatalf("no status in %s", out)
	}
	line, _, _ = strings.Cut(line, "\n")
	return line
}

func TestStatusWithoutLibrary(t *testing.T) {
	var p *Problem
	err := Status()
	testpic.Need(t, errors.As(err, &p) && p.Reason == NoLibrary, "a machine without NVIDIA's driver")
	if !strings.Contains(err.Error(), map[string]string{"linux": "libcuda.so.1", "windows": "nvcuda.dll"}[runtime.GOOS]) {
		t.Errorf("%q does not name the library", err)
	}
}

func TestStatus(t *testing.T) {
	library := "LD_LIBRARY_PATH="
	if runtime.GOOS == "windows" {
		// The driver is loaded from the system's folder only, into which scripts/wine.sh puts the stub.
		testpic.Need(t, os.Getenv("BLIK_FAKE_NVCUDA") != "", "the stub of the driver as nvcuda.dll")
	} else {
		library += drivertest.Build(t)
	}
	for _, c := range []struct{ mode, want string }{
		{"", "fine 12.8"},
		{"none", fmt.Sprintf("%d 100 the NVIDIA driver finds no such GPU (start the driver)", NoDevice)},
		{"empty", fmt.Sprintf("%d 0 the NVIDIA driver finds no such GPU", NoDevice)},
		{"old", fmt.Sprintf("%d 0 the NVIDIA driver or the GPU is too old (it is for CUDA 10.2, 11.8 is needed)",
			TooOld)},
		{"unwell", fmt.Sprintf("%d 999 the GPU reported error 999 (start the driver)", Fault)},
		{"fail 1 803", fmt.Sprintf("%d 803 the GPU reported error 803 (ask for the driver's version)", Fault)},
		{"fail 2 2", fmt.Sprintf("%d 2 the GPU has too little memory free (count the GPUs)", NoMemory)},
	} {
		if got := child(t, library, "FAKE_CUDA="+c.mode); got != c.want {
			t.Errorf("driver %q: %s, want %s", c.mode, got, c.want)
		}
	}
}
