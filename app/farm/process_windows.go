package farm

import (
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// begin starts a process in a job object that ends it when this process ends, however that happens.
func begin(c *exec.Cmd) (release func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	rights := uint32(windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE)
	process, err := windows.OpenProcess(rights, false, uint32(c.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, process)
		_ = windows.CloseHandle(process)
	}
	if err != nil {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return func() { _ = windows.CloseHandle(job) }, nil
}

func interrupt(p *os.Process) error { return p.Kill() }
