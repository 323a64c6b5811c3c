//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/cuda/driver"
	"blik/internal/test/drivertest"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/correct"
	"blik/processing/detect"
)

// opened opens the first GPU anew, for a test that changes the device or closes it.
func opened(t *testing.T) *Backend {
	t.Helper()
	b, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// alone runs the test again in a process of its own, whose driver library is the one for tests, which does nothing but
// copy, and returns false there; the caller then runs what it tests. That process writes no record of verification.
func alone(t *testing.T) (parent bool) {
	t.Helper()
	if os.Getenv("BLIK_CHILD") != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-rapid.nofailfile",
		fmt.Sprintf("-test.short=%v", testing.Short()))
	cmd.Env = append(os.Environ(), "BLIK_CHILD=1", "BLIK_VERIFY=", "LD_LIBRARY_PATH="+drivertest.Build(t),
		"FAKE_CUDA_CALLS="+filepath.Join(t.TempDir(), "calls"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// What is uploaded comes back, however it is cut into parts.
func TestTransfersInParts(t *testing.T) {
	if alone(t) {
		return
	}
	b := opened(t)
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 9).Draw(t, "parts")
		cut := staging{
			bytes: rapid.IntRange(20, 3000).Draw(t, "bytes"), fillers: rapid.IntRange(1, parts).Draw(t, "fillers"),
			parts: make([]part, parts),
		}
		err := b.device.do(func() error {
			b.device.stage.close()
			b.device.little.close()
			b.device.stage, b.device.little = cut, staging{}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			w, h := rapid.IntRange(1, 700).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
			p, err := b.Alloc(processing.U16, w, h)
			if err != nil {
				t.Fatal(err)
			}
			want := noise[uint16](t, "samples", w*h, 1<<16-1)
			if err := b.Upload(background, p, processing.Samples{U16: want}); err != nil {
				t.Fatal(err)
			}
			got, err := b.Host(background, p)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the plane", w, got.U16, want)
			p.Release()
		}
	})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// Pinned memory is reused for requests of nearly the same size, kept up to a limit, and freed when there is no more.
func TestPinnedMemoryIsKept(t *testing.T) {
	if alone(t) {
		return
	}
	b := opened(t)
	l := &b.pool
	err := b.device.do(func() error {
		get := func(n int) []byte {
			t.Helper()
			m, err := l.hostGet(b.device, n)
			if err != nil || len(m) != n {
				t.Fatalf("%d of %d bytes, %v", len(m), n, err)
			}
			return m
		}
		first := get(1000)
		l.hostPut(first)
		l.picture(3, 4)
		for n, again := range map[int]bool{1000: true, 500: true, 499: false, 1001: false} {
			m := get(n)
			if got := &m[0] == &first[0]; got != again {
				t.Errorf("%d bytes of 1000 kept: used again %v", n, got)
			}
			if again {
				l.hostPut(m)
			} else if err := driver.HostFree(m[:cap(m)]); err != nil {
				t.Error(err)
			}
		}
		// The 1000 bytes are older still and go, too.
		old, young := get(keptPinned/2), get(keptPinned/4)
		l.hostPut(old)
		l.hostPut(young)
		// There is room for this one beside the younger, but not beside both.
		large := get(keptPinned * 5 / 8)
		if len(l.pinned) != 1 || &l.pinned[0][0] != &young[0] {
			t.Errorf("%d pieces are kept, want the younger", len(l.pinned))
		}
		l.hostPut(large)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.trim(); len(l.pinned) != 0 {
			t.Errorf("%d pieces are left", len(l.pinned))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// Device memory is kept for pictures of several sizes, within the budget, and freed when there is no more.
func TestDeviceMemoryIsKept(t *testing.T) {
	if alone(t) {
		return
	}
	b := opened(t)
	const w, h, bytes = 256, 100, 256 * 100
	l := &b.pool
	l.budget = 2 * bytes
	memory := func(h int) buffer {
		t.Helper()
		p, err := b.Alloc(processing.U8, w, h)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		return p.(*plane).memory
	}
	first := memory(h)
	memory(h / 2)
	if memory(h) != first || l.held != bytes+bytes/2 {
		t.Errorf("%d bytes are held: what was kept of a picture was not used again", l.held)
	}
	// More than the budget is kept now, which matters when the size changes again.
	if memory(2 * h); l.held != bytes+bytes/2+2*bytes {
		t.Errorf("%d bytes are held before the budget counts", l.held)
	}
	if memory(h); l.held != bytes {
		t.Errorf("%d bytes are held beyond the budget", l.held)
	}
	l.limit = 2 * bytes
	if memory(2 * h); l.held != 2*bytes {
		t.Errorf("%d bytes are held, and nothing was given back for want of memory", l.held)
	}
	if err := b.Close(); err != nil || l.held != 0 {
		t.Errorf("%d bytes are held in the end: %v", l.held, err)
	}
}

// Several goroutines use two devices at a time; the library for tests refuses calls in a context other than the
// stream's.
func TestDevicesSideBySide(t *testing.T) {
	if alone(t) {
		return
	}
	var devices [2]*Backend
	for i := range devices {
		b, err := Open(i)
		if err != nil {
			t.Fatal(err)
		}
		devices[i] = b
	}
	if _, err := Open(2); err == nil {
		t.Error("a third device of two was opened")
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			b, want := devices[i%2], bytes.Repeat([]byte{byte(i + 1)}, 50*40)
			for range 100 {
				p, err := b.Alloc(processing.U8, 50, 40)
				if err != nil {
					t.Error(err)
					return
				}
				end := b.Stage("a stage")
				if err := b.Upload(background, p, processing.Samples{U8: want}); err != nil {
					t.Error(err)
				}
				if got, err := b.Host(background, p); err != nil || !bytes.Equal(got.U8, want) {
					t.Errorf("%s: %v", b.Name(), err)
				}
				end()
				p.Release()
			}
		})
	}
	all.Wait()
	for _, b := range devices {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// countdown is a context that is cancelled after it has been checked a given number of times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// speckled is a small picture with glare, and a mask of places to correct.
func speckled(t *testing.T) (*processing.Picture, *processing.Mask) {
	pic, mask := glaring(t, 40, 30, 8, 3, 4), processing.NewMask(40, 30)
	for i := range mask.Pix[:200] {
		mask.Pix[i] = 255 * uint8(i%20/12)
	}
	return pic, mask
}

// Wherever a job is cancelled, it reports that and leaves nothing on the device, which continues to work.
func TestCancelAtEveryLook(t *testing.T) {
	if alone(t) {
		return
	}
	b := opened(t)
	pic, mask := speckled(t)
	classic := processing.DefaultParams()
	classic.Detector = processing.DetectorClassic
	// The network is few operations.
	least := map[string]int{"network": 10, "classic": 100, "correction": 100}
	for name, job := range map[string]func(ctx context.Context) error{
		"network": func(ctx context.Context) error {
			_, err := detect.Detect(ctx, b, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
			return err
		},
		"classic": func(ctx context.Context) error {
			_, err := detect.Detect(ctx, b, pic, classic, detect.Options{})
			return err
		},
		"correction": func(ctx context.Context) error {
			_, err := correct.Correct(ctx, b, pic, mask, processing.DefaultParams(), correct.Options{})
			return err
		},
	} {
		run := func(looks int) (left int64, err error) {
			t.Helper()
			c := &countdown{Context: background}
			c.left.Store(int64(looks))
			err = job(c)
			if n, bytes := b.Live(); n != 0 || bytes != 0 {
				t.Errorf("%s, cancelled after %d looks: %d planes, %d bytes are left", name, looks, n, bytes)
			}
			return c.left.Load(), err
		}
		const many = 1 << 30
		left, err := run(many)
		looks := int(many - left)
		if err != nil || looks < least[name] {
			t.Fatalf("%s looks at its context %d times: %v", name, looks, err)
		}
		for n := 0; n < looks; n++ {
			// The last checks may be those of goroutines that find nothing left to do.
			if _, err := run(n); !errors.Is(err, context.Canceled) && (err != nil || n < looks*9/10) {
				t.Errorf("%s, cancelled after %d of %d looks: %v", name, n, looks, err)
			}
		}
		if _, err := run(many); err != nil {
			t.Errorf("%s after all: %v", name, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// Whichever call fails, the error is reported, and everything that was allocated is freed.
func TestFaultsLeaveNothing(t *testing.T) {
	if alone(t) {
		return
	}
	pic, mask := speckled(t)
	// jobs returns how many calls, requests for memory and launches there were.
	jobs := func(mode string) (counts [3]int, err error) {
		t.Helper()
		if err := os.Setenv("FAKE_CUDA", mode); err != nil {
			t.Fatal(err)
		}
		b, err := Open(0)
		if err == nil {
			_, err = detect.Detect(background, b, pic, processing.DefaultParams(), detect.Options{Network: testpic.Network()})
			if err == nil {
				_, err = correct.Correct(background, b, pic, mask, processing.DefaultParams(),
					correct.Options{})
			}
			if n, bytes := b.Live(); n != 0 || bytes != 0 {
				t.Errorf("%s: %d planes, %d bytes are left", mode, n, bytes)
			}
			if err := b.Close(); err != nil {
				t.Errorf("%s: %v", mode, err)
			}
		}
		alive := 0
		text, failed := os.ReadFile(os.Getenv("FAKE_CUDA_CALLS"))
		if failed == nil {
			_, failed = fmt.Sscan(string(text), &counts[0], &counts[1], &counts[2], &alive)
		}
		if failed != nil || alive != 0 {
			t.Errorf("%s: %d things were not given back, %v", mode, alive, failed)
		}
		return counts, err
	}
	counts, err := jobs("")
	if err != nil || counts[0] < 300 || counts[1] < 20 || counts[2] < 30 {
		t.Fatalf("the driver for tests has %d calls, requests for memory and launches: %v", counts, err)
	}
	t.Logf("%d calls, requests for memory and launches", counts)
	tried, told := 0, 0
	for kind, mode := range []string{"fail %d 700", "memory %d", "launch %d 719"} {
		stride := 1
		if testing.Short() {
			stride = 7
		}
		for n := 1; n <= counts[kind]; n += stride {
			mode := fmt.Sprintf(mode, n)
			_, err := jobs(mode)
			tried++
			var p *driver.Problem
			if errors.As(err, &p) {
				told++
			} else if err != nil || kind != 0 {
				t.Errorf("%s: %v", mode, err)
			}
		}
	}
	// The others come at the end, when times are requested and everything is freed.
	if told < tried/2 {
		t.Errorf("%d of %d errors were told", told, tried)
	}
}

// A device that never completes its work is given up, during the work and when it is closed.
func TestDeviceDoesNotAnswer(t *testing.T) {
	if alone(t) {
		return
	}
	b := opened(t)
	p, err := b.Alloc(processing.U8, 50, 40)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Setenv("FAKE_CUDA", "hang 1"); err != nil {
		t.Fatal(err)
	}
	defer os.Setenv("FAKE_CUDA", "")
	b.device.patience = 20 * time.Millisecond
	_, err = b.Host(background, p)
	var problem *driver.Problem
	if !errors.As(err, &problem) || problem.Reason != driver.NoAnswer {
		t.Errorf("a device that does not answer: %v", err)
	}
	p.Release()
	start := time.Now()
	if _, err := b.Alloc(processing.U8, 50, 40); !errors.As(err, &problem) || problem.Reason != driver.NoAnswer {
		t.Errorf("afterwards: %v", err)
	}
	if err := b.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("closed after %v: %v", time.Since(start), err)
	}
}
