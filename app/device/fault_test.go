//go:build cuda && (linux || windows) && amd64

package device

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"blik/app/settings"
	"blik/cuda/driver"
	"blik/internal/test/drivertest"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/cpu"
	"blik/processing/detect"
)

// TestChild is the process that the other tests start with a driver library for tests, because a process can load only
// one.
func TestChild(t *testing.T) {
	switch os.Getenv("BLIK_CHILD") {
	case "":
		testpic.Need(t, false, "to be started by another test")
	case "absent":
		absent(t)
	case "faults":
		faults(t)
	}
}

// child runs TestChild with the driver library for tests, or without one if library is empty.
func child(t *testing.T, what, library string, env ...string) {
	t.Helper()
	arguments := []string{"-test.run=^TestChild$", "-test.v"}
	if testing.Short() {
		arguments = append(arguments, "-test.short")
	}
	cmd := exec.Command(os.Args[0], arguments...)
	cmd.Env = append(os.Environ(),
		append([]string{"BLIK_CHILD=" + what, "XDG_CONFIG_HOME=" + t.TempDir(), "LD_LIBRARY_PATH=" + library},
			env...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", env, err, out)
	}
	t.Logf("%s", out)
}

// Without a usable GPU, "auto" works on the CPU without a notice and knows the reason.
func absent(t *testing.T) {
	r, err := Open(t.Context(), "auto")
	if err != nil {
		t.Fatal(err)
	}
	if name, notice := ranOn(t, r, 1e9); name != "cpu" || notice != nil || r.Reason() == nil ||
		Explain(r.Reason()).String() != os.Getenv("BLIK_WHY") {
		t.Errorf("the job ran on %s, %v; the reason is %v", name, notice, r.Reason())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if r, err := Open(t.Context(), "cuda"); err == nil || r != nil || !strings.HasPrefix(err.Error(), "device cuda: ") {
		t.Errorf("by its name: %v, %v", r, err)
	}
}

func TestNoGPU(t *testing.T) {
	library := drivertest.Build(t)
	for _, c := range []struct{ mode, says string }{
		{"none", "The NVIDIA driver finds no such GPU."},
		{"empty", "The NVIDIA driver finds no such GPU."},
		{"old", "The NVIDIA driver or the GPU is too old (it is for CUDA 10.2, 11.8 is needed)."},
		{"unwell", "The GPU reported error 999 (start the driver)."},
	} {
		child(t, "absent", library, "FAKE_CUDA="+c.mode, "BLIK_WHY="+c.says)
	}
	var p *driver.Problem
	if _, p = driverStatus(); p != nil && p.Reason == driver.NoLibrary {
		child(t, "absent", "", "BLIK_WHY=No NVIDIA driver is installed.")
	}
}

// driverStatus reports whether this machine has a GPU.
func driverStatus() (bool, *driver.Problem) {
	err := driver.Status()
	p, _ := err.(*driver.Problem)
	return err == nil, p
}

// If a GPU fails at any single call, once or permanently, runs out of memory at any request, or starts none of its
// kernels, the user gets the CPU's result with a reason or a notice. The kernels of the test library do nothing, so a
// result of the GPU itself proves nothing.
func TestFaults(t *testing.T) {
	child(t, "faults", drivertest.Build(t), "FAKE_CUDA_CALLS="+filepath.Join(t.TempDir(), "calls"))
}

func faults(t *testing.T) {
	ctx := context.Background()
	pic := grey(60)
	host := cpu.New()
	defer host.Close()
	found, err := detect.Detect(ctx, host, pic, classic(), detect.Options{})
	if err != nil || found.Mask.Area() == 0 {
		t.Fatalf("%v, nothing is found on the CPU", err)
	}
	fixed, err := correct.Correct(ctx, host, pic, found.Mask, processing.DefaultParams(),
		correct.Options{})
	if err != nil || len(fixed.Patches) == 0 {
		t.Fatalf("%v, nothing is corrected on the CPU", err)
	}
	// calls is the number of calls of the last run until the device was closed, requests and launches those for memory
	// and of kernels.
	var calls, requests, launches int
	// both detects and corrects with a driver in the given mode, and returns how many of the two jobs ran on the GPU
	// without a notice.
	both := func(mode string, measured bool) (onGPU int) {
		t.Helper()
		if err := os.Setenv("FAKE_CUDA", mode); err != nil {
			t.Fatal(err)
		}
		m := thisMachine()
		m.speeds = ""
		r, err := m.begin(ctx, "auto")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.opened(ctx); err != nil {
			t.Fatal(err)
		}
		if measured {
			// Pretend that the GPU was measured to be faster at all sizes.
			r.speed = &settings.Speed{}
		}
		told := false
		run := func(job func(ctx context.Context, b processing.Backend) (device string, same bool, err error)) {
			t.Helper()
			var device string
			var same bool
			notice, err := r.Run(ctx, pic.Width*pic.Height, func(ctx context.Context,
				b processing.Backend) (err error) {
				device, same, err = job(ctx, b)
				return err
			})
			told = told || notice != nil || r.Reason() != nil
			switch {
			case err != nil:
				t.Errorf("%s: %v", mode, err)
			case device != "cpu" && notice == nil:
				onGPU++
			case device != "cpu":
			case !same:
				t.Errorf("%s: the CPU has another result", mode)
			case !told && measured:
				t.Errorf("%s: the user reads nothing", mode)
			}
		}
		run(func(ctx context.Context, b processing.Backend) (string, bool, error) {
			got, err := detect.Detect(ctx, b, pic, classic(), detect.Options{})
			if err != nil {
				return "", false, err
			}
			return got.Device, reflect.DeepEqual(got.Mask, found.Mask) &&
				reflect.DeepEqual(got.Findings, found.Findings), nil
		})
		run(func(ctx context.Context, b processing.Backend) (string, bool, error) {
			got, err := correct.Correct(ctx, b, pic, found.Mask, processing.DefaultParams(),
				correct.Options{})
			if err != nil {
				return "", false, err
			}
			return got.Device, reflect.DeepEqual(got.Patches, fixed.Patches), nil
		})
		text, err := os.ReadFile(os.Getenv("FAKE_CUDA_CALLS"))
		if err == nil {
			_, err = fmt.Sscan(string(text), &calls, &requests, &launches)
		}
		if err != nil {
			t.Fatal(err)
		}
		// Closing may fail for a GPU that has failed, which does not concern the user.
		_ = r.Close()
		return onGPU
	}
	if n := both("", true); n != 2 || calls < 300 || requests < 20 || launches < 30 {
		t.Fatalf("the driver for tests runs %d jobs with %d calls, %d requests for memory, %d kernels", n, calls,
			requests, launches)
	}
	t.Logf("%d calls, %d requests for memory, %d kernels", calls, requests, launches)
	all, allRequests, allLaunches := calls, requests, launches
	// step goes through n calls in strides, because most of them are alike.
	step := func(n, stride int, one func(n int)) {
		if testing.Short() {
			stride *= 5
		}
		for i := 1; i <= n; i += stride {
			one(i)
		}
	}
	noticed := func(mode string) {
		if both(mode, true) == 2 {
			t.Errorf("%s: it went unnoticed", mode)
		}
	}
	step(all, 5, func(n int) { both(fmt.Sprintf("fail %d 700", n), true) })
	// The last calls fetch the times of the stages, after the results.
	step(all*9/10, 4, func(n int) { noticed(fmt.Sprintf("break %d 719", n)) })
	step(allLaunches, 2, func(n int) { noticed(fmt.Sprintf("launch %d 701", n)) })
	step(allRequests, 1, func(n int) { noticed(fmt.Sprintf("memory %d", n)) })
	// While the GPU is being measured, which takes eight detections.
	step(8*all, 199, func(n int) {
		both(fmt.Sprintf("break %d 719", n), false)
		both(fmt.Sprintf("memory %d", n), false)
	})
}
