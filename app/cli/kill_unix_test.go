//go:build unix

package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"blik/app/imagefile"
	"blik/internal/test/testpic"
)

// TestKilledWhileCorrecting kills the program at random moments while it corrects pictures with reports and masks,
// sometimes over older results. BLIK_KILLS is the number of kills; the default is 40, and 8 in short runs.
//
// After each kill, a result must be one that an undisturbed run writes, and its report must describe it. After the next
// run nothing of the killed one may be left.
func TestKilledWhileCorrecting(t *testing.T) {
	testpic.NoRace(t)
	kills := 40
	if testing.Short() {
		kills = 8
	}
	if n, err := strconv.Atoi(os.Getenv("BLIK_KILLS")); err == nil {
		kills = n
	}
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	rng := rand.New(rand.NewPCG(3, 4))
	// Results of two kinds, which replace each other.
	variants := [][]string{{"--correct", "all", "--method", "subtract"}, {"--correct", "all", "--method", "harmonic"}}
	known := map[string]bool{}
	args := func(out string, i int) []string {
		return append([]string{"correct", "-q", "--overwrite", "--save-mask", "-o", out, in}, variants[i%2]...)
	}
	var whole time.Duration
	for i := range variants {
		out := filepath.Join(dir, strconv.Itoa(i))
		begin := time.Now()
		if err := start(t, io.Discard, args(out, i)...).Wait(); err != nil {
			t.Fatal(err)
		}
		whole = max(whole, time.Since(begin))
		known[sum(t, filepath.Join(out, "a_corrected.png"))] = true
	}
	if len(known) != 2 {
		t.Fatal("the two kinds of results are one")
	}
	var results, apart, leftovers, within int
	typical := whole
	out := t.TempDir()
	// On a machine that became busy, more kills are needed until one comes late enough.
	for i := 0; i < kills || results == 0 && i < 10*kills; i++ {
		if i%3 == 0 {
			out = t.TempDir()
		}
		child := start(t, io.Discard, args(out, i)...)
		// Kill mostly near the end, when the files get their names, even if the machine becomes faster or slower.
		time.Sleep(time.Duration((0.3 + 0.9*rng.Float64()) * float64(typical)))
		_ = child.Process.Kill() // fails if the run is done
		_ = child.Wait()
		if child.ProcessState.Exited() {
			typical -= typical / 10
		} else {
			within++
			typical += typical / 20
		}
		left, err := filepath.Glob(filepath.Join(out, ".blik-*"))
		if err != nil {
			t.Fatal(err)
		}
		leftovers += len(left)
		if result := filepath.Join(out, "a_corrected.png"); exist(result) {
			results++
			if !known[sum(t, result)] {
				t.Fatalf("kill %d left half a file", i)
			}
			if accountOf(t, out) != sum(t, result) {
				apart++
			}
		}
		// The next run completes what the killed one had committed.
		imagefile.Recover(out)
		if left, _ := filepath.Glob(filepath.Join(out, ".blik-*")); len(left) > 0 {
			t.Fatalf("after kill %d and the next run there is %v", i, left)
		}
		result := filepath.Join(out, "a_corrected.png")
		if exist(result) && accountOf(t, out) != sum(t, result) {
			t.Fatalf("after kill %d and the next run the result is without its account", i)
		}
		if exist(filepath.Join(out, "a_corrected.json")) != exist(result) || exist(filepath.Join(out, "a_corrected.html")) != exist(result) {
			t.Fatalf("after kill %d and the next run: %v", i, testpic.Listed(t, out))
		}
	}
	t.Logf("%d kills: %d results there, 0 half files; %d beside another report until the next run, 0 after it; "+
		"%d files left by kills, 0 after the next run", within, results, apart, leftovers)
	if results == 0 {
		t.Error("no run came far enough; this test shows nothing")
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	s := sha256.Sum256(testpic.ReadFile(t, path))
	return hex.EncodeToString(s[:])
}

// accountOf returns the checksum of the result according to the report in a folder.
func accountOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "a_corrected.json"))
	if err != nil {
		return "none"
	}
	var r struct{ Result struct{ SHA256 string } }
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("half a report: %v", err)
	}
	return r.Result.SHA256
}

// Each signal that asks a program to end cancels it: it reports that and leaves nothing behind.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	in := painting(t, dir, "a.png")
	many := make([]string, 0, 400)
	for i := range cap(many) {
		path := filepath.Join(dir, strconv.Itoa(i)+".png")
		if err := os.Link(in, path); err != nil {
			t.Fatal(err)
		}
		many = append(many, path)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			continue // under nohup the program continues, as it should
		}
		out := t.TempDir()
		var said bytes.Buffer
		child := start(t, &said, append([]string{"correct", "-q", "-o", out}, many...)...)
		waitFor(t, out)
		if err := child.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it ends with a status of its own, which follows
		if status := child.ProcessState.ExitCode(); status != exitCancelled || !strings.Contains(said.String(), "cancelled") {
			t.Errorf("%v: status %d, %q", s, status, said.String())
		}
		if left, _ := filepath.Glob(filepath.Join(out, ".blik-*")); len(left) > 0 {
			t.Errorf("%v left %v", s, left)
		}
	}
	// Its output is not read.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	r.Close()
	child := start(t, w, append([]string{"correct", "-o", out}, many...)...)
	w.Close()
	_ = child.Wait()
	if status := child.ProcessState.ExitCode(); status != exitCancelled && status != exitFailed {
		t.Errorf("a broken pipe: %v", child.ProcessState)
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".blik-*")); len(left) > 0 {
		t.Errorf("a broken pipe left %v", left)
	}
}

// waitFor waits until a folder holds something.
func waitFor(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			t.Fatal("the program does not begin")
		case <-tick.C:
			if len(testpic.Listed(t, dir)) > 0 {
				return
			}
		}
	}
}
