//go:build cuda && (linux || windows) && amd64

package driver

// #cgo LDFLAGS: -L${SRCDIR}/link
// #cgo linux LDFLAGS: -Wl,--as-needed -ldl
// #include "driver.h"
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	// Its package init calls cuInit, which this package defines.
	"gorgonia.org/cu"
)

// leastVersion is the oldest driver that knows the PTX version of the kernels.
const leastVersion = 11080

// The error numbers of the driver that are handled separately.
const (
	codeOutOfMemory    = 2
	codeNoDevice       = 100
	codeInvalidDevice  = 101
	codeNoBinary       = 209
	codeUnsupportedPTX = 222
)

// Status starts the driver at its first call, and returns nil when there is at least one GPU and a driver that can run
// the kernels, else a *Problem.
func Status() error {
	s := C.driver_state()
	if s.loaded == 0 {
		return &Problem{Reason: NoLibrary, Detail: C.GoString(s.error)}
	}
	if err := Check(int(s.init), "start the driver"); err != nil {
		return err
	}
	var version, count C.int
	if err := Check(int(C.driver_version(&version)), "ask for the driver's version"); err != nil {
		return err
	}
	if version < leastVersion {
		return &Problem{Reason: TooOld, Detail: fmt.Sprintf("it is for CUDA %s, %s is needed",
			versionName(int(version)), versionName(leastVersion))}
	}
	if err := Check(int(C.driver_device_count(&count)), "count the GPUs"); err != nil {
		return err
	}
	if count == 0 {
		return &Problem{Reason: NoDevice}
	}
	return nil
}

func versionName(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Version returns the newest CUDA version that the driver supports, such as "12.4".
func Version() string { return versionName(cu.Version()) }

// Check converts an error number of the driver to a *Problem; 0 is no error.
func Check(code int, doing string) error {
	if code == 0 {
		return nil
	}
	p := &Problem{Reason: Fault, Code: code, Detail: doing}
	switch code {
	case codeOutOfMemory:
		p.Reason = NoMemory
	case codeNoDevice, codeInvalidDevice:
		p.Reason = NoDevice
	case codeNoBinary, codeUnsupportedPTX:
		p.Reason = TooOld
	}
	return p
}

// Wrap converts an error of gorgonia.org/cu, an unexported integer type that holds the driver's number, to a *Problem.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Problem](err); ok {
		return err
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int {
		return Check(int(v.Int()), doing)
	}
	return &Problem{Reason: Fault, Detail: fmt.Sprintf("%s: %v", doing, err)}
}

// HostAlloc returns n bytes of host memory that the GPU reads and writes directly, to be freed by HostFree. A context
// must be current on the calling thread.
func HostAlloc(n int) ([]byte, error) {
	var p unsafe.Pointer
	if err := Check(int(C.driver_host_alloc(&p, C.size_t(n))), fmt.Sprintf("allocate %d bytes of pinned host memory",
		n)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// HostFree frees memory of HostAlloc.
func HostFree(b []byte) error {
	return Check(int(C.driver_host_free(unsafe.Pointer(unsafe.SliceData(b)))), "free pinned host memory")
}

// RowsUp queues a copy of rows of row bytes from pinned memory to rows pitch bytes apart on the device. (The module's
// own copy of rows fails on anything but an array.)
func RowsUp(dst cu.DevicePtr, pitch int64, src []byte, row int, stream cu.Stream) error {
	code := C.driver_rows_up(C.ulonglong(dst), C.size_t(pitch), unsafe.Pointer(unsafe.SliceData(src)), C.size_t(row),
		C.size_t(len(src)/row), handle(stream))
	return Check(int(code), "upload")
}

// RowsDown queues a copy in the other direction.
func RowsDown(dst []byte, row int, src cu.DevicePtr, pitch int64, stream cu.Stream) error {
	code := C.driver_rows_down(unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(row), C.size_t(len(dst)/row),
		C.ulonglong(src),
		C.size_t(pitch), handle(stream))
	return Check(int(code), "download")
}

// handle is the driver's own handle, which is all that a stream or a function of the module holds.
func handle[T cu.Stream | cu.Function](v T) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}
