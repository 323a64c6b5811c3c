package room

import (
	"os"
	"strconv"
	"syscall"
)

// jobNice is the nice value of jobs: if both want a processor, a job's thread gets a third of the time of the window's.
const jobNice = 5

// yield lowers the priority of all threads except the main one. Threads that Go starts later inherit it, because Go
// never starts a thread from one that a goroutine is locked to; threads that the OpenGL driver starts inherit the main
// thread's. Without permission nothing changes.
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
			// The system call returns 20 minus the nice value.
			now, err := syscall.Getpriority(syscall.PRIO_PROCESS, id)
			if err != nil || 20-now >= jobNice {
				continue
			}
			// Before the call, the thread may have started another one.
			again = syscall.Setpriority(syscall.PRIO_PROCESS, id, jobNice) == nil || again
		}
	}
}
