package i18n

import (
	"syscall"
	"unsafe"
)

// preferred returns the user's display language; empty if Windows does not report it.
func preferred() string {
	const byName = 8 // MUI_LANGUAGE_NAME
	ask := syscall.NewLazyDLL("kernel32.dll").NewProc("GetUserPreferredUILanguages")
	if ask.Find() != nil {
		return ""
	}
	// A list of zero-terminated names.
	names := make([]uint16, 256)
	count, size := uint32(0), uint32(len(names))
	ok, _, _ := ask.Call(byName, uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&names[0])),
		uintptr(unsafe.Pointer(&size)))
	if ok == 0 || count == 0 {
		return ""
	}
	return syscall.UTF16ToString(names)
}
