package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestXvfbPriorities checks that the threads of jobs have a lower priority than that of the window.
func TestXvfbPriorities(t *testing.T) {
	t.Parallel()
	w := open(t, "en", 900, 700)
	nice := func(pid, thread int) int {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, thread))
		if err != nil {
			return math.MinInt // it has ended
		}
		// The name, in brackets, may contain spaces; the nice value is the 17th field after it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		n, err := strconv.Atoi(fields[16])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	pid := w.child.Process.Pid
	own := nice(os.Getpid(), os.Getpid())
	if got := nice(pid, pid); got != own {
		t.Errorf("the window's thread has the priority %d, want %d as its parent", got, own)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	nicer := 0
	for _, entry := range threads {
		if id, err := strconv.Atoi(entry.Name()); err == nil && nice(pid, id) > own {
			nicer++
		}
	}
	if least := runtime.NumCPU(); nicer < least {
		t.Errorf("%d of %d threads have a lower priority than the window, want at least %d", nicer, len(threads), least)
	}
	w.kill()
}
