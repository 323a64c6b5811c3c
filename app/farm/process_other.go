//go:build !linux && !windows

package farm

import (
	"os"
	"os/exec"
)

// begin starts a process. On this system the process survives a killed worker until its file is done.
func begin(c *exec.Cmd) (release func(), err error) { return func() {}, c.Start() }

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
