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

// TestXvfbPriorities checks that the threads of jobs have a lower priority than that of the window. Go starts a thread
// when there is work for it, so there are enough of them once a detection has run.
func TestXvfbPriorities(t *testing.T) {
	t.Parallel()
	w := open(t, "en", 900, 700, paint(t, 900, 600, []spot{{100, 90, 3}}))
	w.await("picture ")
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
	w.key("F5")
	w.await("done ")
	least := runtime.NumCPU()
	w.until(fmt.Sprintf("%d threads with a lower priority than the window's", least), func() bool {
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
		return nicer >= least
	})
	w.kill()
}
