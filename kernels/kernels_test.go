package kernels

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whoever changes a source must remake its PTX: make kernels.
func TestPTXIsOfItsSource(t *testing.T) {
	sources, err := filepath.Glob("*.cu")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range sources {
		names = append(names, strings.TrimSuffix(s, ".cu"))
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("the sources are %v, Names says %v", names, Names())
	}
	for _, name := range names {
		made, err := filepath.Glob("ptx/" + name + "_*.ptx")
		if err != nil || !slices.Contains(made, "ptx/"+name+"_50.ptx") {
			t.Errorf("%s has no PTX for every GPU: %v %v", name, made, err)
		}
		for _, p := range made {
			text, err := files.ReadFile(filepath.ToSlash(p))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			if want := "// source " + SourceHash(name); first != want {
				t.Errorf("%s was made of another source: run make kernels", p)
			}
		}
	}
}

func TestPTXOfACapability(t *testing.T) {
	for _, c := range []int{50, 75, 80, 90, 120} {
		texts := PTX(c)
		if len(texts) != len(Names()) {
			t.Errorf("capability %d: %d modules, want %d", c, len(texts), len(Names()))
		}
		for _, text := range texts {
			if !strings.Contains(text, ".target sm_50") && !strings.Contains(text, ".target sm_80") || c < 80 && strings.Contains(text, ".target sm_80") {
				t.Errorf("capability %d: a module is for another GPU", c)
			}
		}
	}
}
