//go:build cuda && amd64

package driver

import (
	"debug/pe"
	"os"
	"slices"
	"strings"
	"testing"
)

// The program must start without a driver, so nvcuda must not be among the libraries that it needs.
func TestProgramDoesNotNeedTheLibrary(t *testing.T) {
	f, err := pe.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil || len(symbols) == 0 {
		t.Fatal("no symbols", err)
	}
	if slices.ContainsFunc(symbols, func(s string) bool { return strings.Contains(strings.ToLower(s), "nvcuda") }) {
		t.Errorf("the program needs %v", symbols)
	}
}
