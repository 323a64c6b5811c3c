package farm

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// begin starts a process that is killed when this one ends, and that the system prefers to kill when it runs out of
// memory. Ctrl-C in a terminal reaches the worker only.
func begin(c *exec.Cmd) (release func(), err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	// If this is not permitted, the system chooses by size, with the same result.
	_ = os.WriteFile("/proc/"+strconv.Itoa(c.Process.Pid)+"/oom_score_adj", []byte("900"), 0)
	return func() {}, nil
}

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
