package i18n

import (
	"syscall"
	"testing"
	"unsafe"
)

// The language that Windows names first is the one that an older call gives by number.
func TestPreferred(t *testing.T) {
	kernel := syscall.NewLazyDLL("kernel32.dll")
	number, _, _ := kernel.NewProc("GetUserDefaultUILanguage").Call()
	name := make([]uint16, 85)
	n, _, err := kernel.NewProc("LCIDToLocaleName").Call(number, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), 0)
	if n == 0 {
		t.Fatal(err)
	}
	if want := syscall.UTF16ToString(name); want == "" || preferred() != want {
		t.Errorf("language %q, want %q", preferred(), want)
	}
}
