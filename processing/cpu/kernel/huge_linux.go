package kernel

import (
	"syscall"
	"unsafe"
)

const (
	// hugePage is the size of a large page of most processors.
	hugePage = 2 << 20
	// madviseHuge is MADV_HUGEPAGE.
	madviseHuge = 14
)

// UseHugePages asks the system for large pages for new samples: fewer page faults, and fewer TLB misses, which each row
// of a wide picture would cause. The system may decline.
func UseHugePages[T Sample](s []T) {
	start := unsafe.Pointer(unsafe.SliceData(s))
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	skip := -uintptr(start) & (hugePage - 1)
	if size < skip+hugePage {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Add(start, skip)), (size-skip)&^(hugePage-1))
	_ = syscall.Madvise(b, madviseHuge)
}
