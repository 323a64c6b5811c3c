package kernels

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
		texts := slices.Concat(PTX(c), Experiments(c))
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

// Kernels are verified on a GPU before they are committed: make gpu-verify, on a machine that has one.
func TestKernelsWereVerified(t *testing.T) {
	r, err := Verified()
	if err != nil {
		t.Fatal(err)
	}
	if r.Hash != Hash() {
		t.Errorf("the kernels are not those that were verified on %s (%s): run make gpu-verify", r.Device, r.Date)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil || r.Device == "" || r.Driver == "" || len(r.Figures) == 0 {
		t.Errorf("the record is incomplete: %+v, %v", r, err)
	}
	for _, name := range []string{
		"TestBackground", "TestBiharmonic", "TestBoxCount", "TestBoxMean", "TestCancel", "TestClassify", "TestComponents", "TestConvolve",
		"TestDetail", "TestDetect", "TestDetectGlareDev", "TestDetectParameters", "TestDeviation", "TestGaussian", "TestGuardRing", "TestHarmonic",
		"TestHistogram", "TestLuma", "TestMeanVariance", "TestMoments", "TestMorph", "TestNoLeak", "TestNoiseTiles", "TestSeparate", "TestStarlet",
		"TestStarletBand", "TestUploadHostGather", "TestWavelet",
	} {
		if !slices.Contains(r.Tests, name) {
			t.Errorf("%s did not pass on the GPU", name)
		}
	}
}
