//go:build cuda && (linux || windows) && amd64

package gpu

import (
	"blik/app/device"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"blik/internal/test/drivertest"
	"blik/internal/test/testpic"
	"blik/lab/experiment"
	"blik/processing"
)

// TestExperimentsChild is the process that TestExperimentsFaults starts with a driver library for tests.
func TestExperimentsChild(t *testing.T) {
	testpic.Need(t, os.Getenv("BLIK_CHILD") == "experiments", "to be started by another test")
	var calls int
	// states runs two experiments with a driver in the given mode and counts the states of the rows. The kernels of the
	// test library do nothing, so no row may be measured.
	states := func(mode string) map[experiment.State]int {
		t.Helper()
		if err := os.Setenv("FAKE_CUDA", mode); err != nil {
			t.Fatal(err)
		}
		count := map[experiment.State]int{}
		p, err := Open(t.Context(), "auto")
		if err != nil {
			if text := device.Explain(err); p != nil || text.IsZero() {
				t.Errorf("%s: %v, %v", mode, p, err)
			}
			return count
		}
		for id, size := range map[string]experiment.Size{"sliding": {W: 9, H: 7}, "sum": experiment.Line(100)} {
			e, err := experiment.Find(id)
			if err != nil {
				t.Fatal(err)
			}
			o := experiment.Options{Quick: true, Sizes: []experiment.Size{size}, Providers: []experiment.Provider{p},
				Picture: &processing.Picture{Width: 1, Height: 1, Channels: 1, U8: []uint8{77}}}
			for _, v := range p.Variants(id) {
				o.Variants = append(o.Variants, v.ID)
			}
			r, err := experiment.Run(t.Context(), e, o)
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			for _, row := range r.Rows {
				count[row.State]++
				if row.State != experiment.NeedsGPU && (row.Note.IsZero()) {
					t.Errorf("%s: %s: %s without a word why", mode, row.Variant.ID, row.State)
				}
			}
		}
		text, err := os.ReadFile(os.Getenv("FAKE_CUDA_CALLS"))
		if err == nil {
			_, err = fmt.Sscan(string(text), &calls)
		}
		if err != nil {
			t.Fatal(err)
		}
		// Closing may fail for a GPU that has failed.
		_ = p.Close()
		if count[experiment.Measured] > 0 {
			t.Errorf("%s: a wrong result was measured", mode)
		}
		return count
	}
	if count := states(""); count[experiment.Failed] == 0 || count[experiment.LeftOut] > 0 || calls < 100 {
		t.Fatalf("%v after %d calls", count, calls)
	}
	all, stride := calls, 13
	if testing.Short() {
		stride *= 5
	}
	for n := 1; n <= all; n += stride {
		states(fmt.Sprintf("fail %d 700", n))
		states(fmt.Sprintf("break %d 719", n))
	}
	if count := states("memory 1"); count[experiment.Failed] > 0 {
		t.Errorf("without memory: %v", count)
	}
}

// If a GPU fails at any single call or has no memory left, only rows of the experiments are lost, each with a reason.
func TestExperimentsFaults(t *testing.T) {
	arguments := []string{"-test.run=^TestExperimentsChild$", "-test.v"}
	if testing.Short() {
		arguments = append(arguments, "-test.short")
	}
	cmd := exec.Command(os.Args[0], arguments...)
	cmd.Env = append(os.Environ(), "BLIK_CHILD=experiments", "LD_LIBRARY_PATH="+drivertest.Build(t),
		"FAKE_CUDA_CALLS="+filepath.Join(t.TempDir(), "calls"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
