package driver

import (
	"fmt"
)

// Reason is why a GPU cannot be used.
type Reason uint8

// The reasons.
const (
	// NotBuilt: the program was built without GPU support.
	NotBuilt Reason = iota
	// NoLibrary: NVIDIA's driver library is not installed.
	NoLibrary
	// NoDevice: there is a driver but no GPU, or not the requested one.
	NoDevice
	// TooOld: the driver is older than the program's kernels need, or the GPU is.
	TooOld
	// NoMemory: the GPU or the host has too little memory free.
	NoMemory
	// TooLarge: the picture has more pixels on a side than the kernels count to.
	TooLarge
	// NoAnswer: the GPU or its driver did not answer in time.
	NoAnswer
	// Fault: the driver reported an error.
	Fault
)

// Problem says why a GPU cannot be used, or why it stopped.
type Problem struct {
	Reason Reason
	// Code is the driver's error number, CUresult, where there is one.
	Code int
	// Detail adds what was being done and what the driver or the loader reported; it may be empty.
	Detail string
}

// Error is one clear sentence.
func (p *Problem) Error() string {
	var s string
	switch p.Reason {
	case NotBuilt:
		s = "this program was built without GPU support"
	case NoLibrary:
		s = "no NVIDIA driver is installed"
	case NoDevice:
		s = "the NVIDIA driver finds no such GPU"
	case TooOld:
		s = "the NVIDIA driver or the GPU is too old"
	case NoMemory:
		s = "the GPU has too little memory free"
	case TooLarge:
		s = "the picture is too large for the GPU"
	case NoAnswer:
		s = "the GPU does not answer"
	default:
		s = "the GPU reported an error"
		if p.Code != 0 {
			s = fmt.Sprintf("the GPU reported error %d", p.Code)
		}
	}
	if p.Detail != "" {
		s += " (" + p.Detail + ")"
	}
	return s
}
