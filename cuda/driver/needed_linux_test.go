//go:build cuda && amd64

package driver

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
)

// The program must start without a driver, so libcuda must not be among the libraries that it needs.
func TestProgramDoesNotNeedTheLibrary(t *testing.T) {
	f, err := elf.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(needed, func(s string) bool { return strings.Contains(s, "cuda") }) {
		t.Errorf("the program needs %v", needed)
	}
}
