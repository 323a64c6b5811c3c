package kernels

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/internal/test/testpic"
	"blik/internal/test/verified"
	"blik/kernels/archive"
)

// A changed source needs a new PTX: make kernels.
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
	for _, architecture := range []string{"compute_50", "compute_80"} {
		a, err := open("code/" + architecture + archive.Extension)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, member := range a.Names() {
			name := strings.TrimSuffix(member, ".ptx")
			have = append(have, name)
			m, err := a.Read(member)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(m.Code), "\n")
			if want := "// source " + sourceHash(name); first != want {
				t.Errorf("%s of %s was made of another source: run make kernels", architecture, name)
			}
		}
		if architecture == "compute_50" && !slices.Equal(have, names) {
			t.Errorf("there is PTX for every GPU of %v, not of all %v", have, names)
		}
	}
}

// make kernels makes PTX and machine code in the same run.
func TestCubinIsOfItsPTX(t *testing.T) {
	for _, name := range Names() {
		// A GPU of 8.7 runs the code for 8.6.
		for capability, target := range map[int]uint32{75: 75, 80: 80, 86: 86, 87: 86, 89: 89, 90: 90} {
			code, err := Cubin(name, capability)
			if err != nil {
				t.Fatal(err)
			}
			if code == nil {
				t.Errorf("%s for %d: there is no machine code of this PTX: run make kernels", name, capability)
				continue
			}
			// An ELF file for CUDA whose flags name the target; its version is not one that debug/elf reads.
			const machineCUDA = 190
			if !bytes.HasPrefix(code, []byte("\x7fELF")) || binary.LittleEndian.Uint16(code[18:]) != machineCUDA {
				t.Errorf("%s for %d is no machine code of a GPU", name, capability)
				continue
			}
			if made := binary.LittleEndian.Uint32(code[48:]) & 0xff; made != target {
				t.Errorf("%s for %d is made for %d", name, capability, made)
			}
			text, err := PTX(name, capability)
			if err != nil {
				t.Fatal(err)
			}
			for _, kernel := range Entries(text) {
				if !bytes.Contains(code, []byte("\x00.text."+kernel+"\x00")) {
					t.Errorf("%s for %d lacks the kernel %s", name, capability, kernel)
				}
			}
		}
	}
}

func TestNoCubin(t *testing.T) {
	for _, capability := range []int{50, 70, 72, 74, 100, 120} {
		if code, err := Cubin("point", capability); code != nil || err != nil {
			t.Errorf("capability %d: %d bytes, %v", capability, len(code), err)
		}
	}
	if code, err := Cubin("no-such", 90); code != nil || err != nil {
		t.Errorf("of no module: %d bytes, %v", len(code), err)
	}
	if _, err := PTX("no-such", 90); err == nil {
		t.Error("PTX of no module")
	}
}

// Kernels are verified on a GPU before they are committed: make gpu-verify, on a machine that has one.
func TestKernelsWereVerified(t *testing.T) {
	var r verified.Record
	if err := json.Unmarshal(testpic.ReadFile(t, verified.File), &r); err != nil {
		t.Fatal(err)
	}
	hash, err := verified.Hash(".")
	if err != nil {
		t.Fatal(err)
	}
	if r.Hash != hash {
		t.Errorf("the kernels are not those that were verified on %s (%s): run make gpu-verify", r.Device, r.Date)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil || r.Device == "" || r.Driver == "" || len(r.Figures) == 0 {
		t.Errorf("the record is incomplete: %+v, %v", r, err)
	}
	for _, name := range []string{
		"TestBackground", "TestBoxMean", "TestCancel", "TestClassify", "TestComponents",
		"TestDetail", "TestDetect", "TestDetectParameters", "TestFillHoles", "TestGaussian",
		"TestGlints",
		"TestHarmonic", "TestHistogram", "TestLuma", "TestMorph", "TestNoLeak", "TestNoiseTiles", "TestSeparate", "TestSlidingTrials",
		"TestStarletBand", "TestSumTrials", "TestSumsOfWholeNumbers", "TestTraversalTrials", "TestVHGWTrials",
		"TestWaveletTrials",
	} {
		if !slices.Contains(r.Tests, name) {
			t.Errorf("%s did not pass on the GPU", name)
		}
	}
}

// sourceHash is the SHA-256 of the source of a module and its includes, as named in the first line of its PTX.
func sourceHash(name string) string {
	sum := sha256.New()
	for _, f := range []string{"common.cuh", name + ".cu"} {
		text, _ := files.ReadFile(f)
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
