package crash

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCleanEndLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "blik")
	g, err := start(dir)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := pending(dir, time.Now()); err != nil || len(left) != 0 {
		t.Errorf("a running program's log counts as a crash: %v, %v", left, err)
	}
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

func TestRecordKeepsTheLog(t *testing.T) {
	dir := t.TempDir()
	g, err := start(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := g.Record("a slip", debug.Stack())
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if text := read(t, path); !strings.Contains(text, "panic: a slip") ||
		!strings.Contains(text, "TestRecordKeepsTheLog") || !strings.HasPrefix(text, "Blik ") {
		t.Errorf("the log says %q", text)
	}
	if left, err := pending(dir, time.Now()); err != nil || len(left) != 1 || left[0] != path {
		t.Errorf("pending: %v, %v", left, err)
	}
	if g.Record("later", nil) != "" {
		t.Error("a closed log took a record")
	}
}

func TestNilGuard(t *testing.T) {
	var g *Guard
	if g.Record("x", nil) != "" || g.Close() != nil {
		t.Error("a nil guard does something")
	}
}

func TestPendingSkipsAndClears(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"crash-1.log": "Blik\n", "crash-2.log": "", "crash-3.log": "Blik\nfatal error: x\n",
		"other.log": "Blik\npanic\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	crashed := filepath.Join(dir, "crash-3.log")
	if left, err := pending(dir, time.Now()); err != nil || len(left) != 1 || left[0] != crashed {
		t.Errorf("pending: %v, %v", left, err)
	}
	if left, err := pending(dir, time.Now().Add(2*stale)); err != nil || len(left) != 1 {
		t.Errorf("much later: %v, %v", left, err)
	}
	for name, stays := range map[string]bool{"crash-1.log": false, "crash-2.log": false, "crash-3.log": true,
		"other.log": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) == stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A panic in another goroutine, which nobody can recover, ends up in the log with all stacks. The test runs itself as
// the program that crashes.
func TestPanicInGoroutine(t *testing.T) {
	const variable = "BLIK_TEST_CRASH_DIR"
	if dir := os.Getenv(variable); dir != "" {
		if _, err := start(dir); err != nil {
			t.Fatal(err)
		}
		go func() { panic("boom in the background") }()
		select {}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanicInGoroutine$")
	cmd.Env = append(os.Environ(), variable+"="+dir)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("the program did not crash: %s", out)
	}
	left, err := pending(dir, time.Now())
	if err != nil || len(left) != 1 {
		t.Fatalf("pending: %v, %v", left, err)
	}
	text := read(t, left[0])
	for _, part := range []string{"boom in the background", "TestPanicInGoroutine", "testing.(*T).Run"} {
		if !strings.Contains(text, part) {
			t.Errorf("the log lacks %q:\n%s", part, text)
		}
	}
}

// Without a window each log is reported once, and kept for a month.
func TestUnreported(t *testing.T) {
	dir := t.TempDir()
	g, err := start(dir)
	if err != nil {
		t.Fatal(err)
	}
	g.Record("a slip", debug.Stack())
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	logs, err := tell(dir, time.Now())
	if err != nil || len(logs) != 1 || !strings.Contains(read(t, logs[0]), "panic: a slip") {
		t.Fatalf("%v, %v", logs, err)
	}
	if again, err := tell(dir, time.Now()); err != nil || len(again) != 0 {
		t.Errorf("told again: %v, %v", again, err)
	}
	if _, err := tell(dir, time.Now().Add(stale+time.Hour)); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left after a month: %v", entries)
	}
}
