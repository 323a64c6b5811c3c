package ui

import (
	"os"
	"strconv"
	"syscall"
)

// jobNice is how nice jobs are to the window: the kernel gives a thread of theirs a third of the time that it gives one
// of the window's where both want a processor.
const jobNice = 5

// yield lowers the priority of all threads but the main one. Those that Go starts later inherit it, because it never
// starts a thread from one that a goroutine is locked to; those that the OpenGL driver starts are the main thread's
// children. Without the right to do so everything stays as it is.
func yield() {
	for again := true; again; {
		again = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || id == os.Getpid() {
				continue
			}
			// The system call returns 20 less the priority.
			now, err := syscall.Getpriority(syscall.PRIO_PROCESS, id)
			if err != nil || 20-now >= jobNice {
				continue
			}
			// A thread that was not yet nice may have started another meanwhile.
			again = syscall.Setpriority(syscall.PRIO_PROCESS, id, jobNice) == nil || again
		}
	}
}
