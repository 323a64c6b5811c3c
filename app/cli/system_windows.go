package cli

import (
	"fmt"
	"syscall"
	"unsafe"
)

// systemName returns the name and version of the system: "Windows 10.0 build 19045".
func systemName() string {
	// RTL_OSVERSIONINFOW. Unlike GetVersion, RtlGetVersion does not depend on the manifest.
	var info struct {
		size, major, minor, build, platform uint32
		pack                                [128]uint16
	}
	info.size = uint32(unsafe.Sizeof(info))
	ask := syscall.NewLazyDLL("ntdll.dll").NewProc("RtlGetVersion")
	if status, _, _ := ask.Call(uintptr(unsafe.Pointer(&info))); status != 0 {
		return "Windows"
	}
	return fmt.Sprintf("Windows %d.%d build %d", info.major, info.minor, info.build)
}
