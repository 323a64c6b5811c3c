//go:build cuda && linux && amd64

package device

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blik/app/settings"
	"blik/cuda/driver/drivertest"
	"blik/processing"
	"blik/processing/cpu"
)

// TestChild is what TestEveryCallFails starts with a driver library for tests: it detects glare on "auto" and prints on
// what it ran, what the user reads, and whether the mask is that of the CPU.
func TestChild(t *testing.T) {
	if os.Getenv("BLIK_CHILD") == "" {
		t.Skip("a child process of another test")
	}
	ctx := context.Background()
	pic := grey(90)
	want, err := processing.Detect(ctx, cpu.New(), pic, processing.DefaultParams(), processing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(ctx, "auto")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("BLIK_CHILD") != "measure" {
		// As if the GPU had been measured and found faster at all sizes.
		r.speed = &settings.Speed{}
	}
	var got *processing.Result
	notice, err := r.Run(ctx, 90*90, func(ctx context.Context, b processing.Backend) (err error) {
		got, err = processing.Detect(ctx, b, pic, processing.DefaultParams(), processing.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same := string(got.Mask.Pix) == string(want.Mask.Pix)
	fmt.Printf("result: %s same=%v told=%v why=%v\n", got.Device, same, notice != nil, r.Why() != nil)
	t.Logf("%v, %v", r.Why(), notice)
	if err := r.Close(); err != nil {
		t.Log(err)
	}
}

func child(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), append([]string{"BLIK_CHILD=1", "XDG_CONFIG_HOME=" + t.TempDir()}, env...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", env, err, out)
	}
	_, line, found := strings.Cut(string(out), "result: ")
	if !found {
		t.Fatalf("%v: no result in %s", env, out)
	}
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// A driver that fails at any one call, for that call alone or for good, leaves the user with the CPU's result, and with
// a reason or a notice.
func TestEveryCallFails(t *testing.T) {
	library := "LD_LIBRARY_PATH=" + drivertest.Build(t)
	count := filepath.Join(t.TempDir(), "calls")
	if got := child(t, library, "FAKE_CUDA_CALLS="+count); !strings.HasPrefix(got, "cuda:0") {
		t.Fatalf("the driver for tests runs nothing: %s", got)
	}
	text, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := strconv.Atoi(string(text))
	if err != nil || calls < 100 {
		t.Fatalf("%q calls: %v", text, err)
	}
	step := 1
	if testing.Short() {
		step = 9
	}
	// The calls at the end close the device, when the result is there.
	kept := 0
	for n := 1; n <= calls; n += step {
		if n > 60 {
			step = max(step, 7)
		}
		for _, mode := range []string{fmt.Sprintf("fail %d 2", n), fmt.Sprintf("fail %d 700", n), fmt.Sprintf("break %d 719", n)} {
			got := child(t, library, "FAKE_CUDA="+mode)
			if strings.HasPrefix(got, "cuda:0") {
				// Its kernels do nothing, so that its own result says nothing.
				kept++
				continue
			}
			if !strings.HasPrefix(got, "cpu same=true") || !strings.Contains(got, "told=true") && !strings.Contains(got, "why=true") {
				t.Errorf("%s: %s", mode, got)
			}
		}
	}
	if kept > calls/2 {
		t.Errorf("%d failures of %d calls went unnoticed", kept, calls)
	}
}

func TestNoGPU(t *testing.T) {
	library := "LD_LIBRARY_PATH=" + drivertest.Build(t)
	for _, mode := range []string{"none", "empty", "old", "unwell"} {
		if got, want := child(t, library, "FAKE_CUDA="+mode), "cpu same=true told=false why=true"; got != want {
			t.Errorf("driver %q: %s, want %s", mode, got, want)
		}
	}
}
