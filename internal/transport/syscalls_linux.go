//go:build linux && !race

package transport

import (
	"syscall"
	"unsafe"
)

// readNow is read(2) on a socket that does not wait. The scheduler of Go does not hear of the call.
// If it did, it would wake its monitor thread, which sleeps while a process is idle. That takes
// longer than to read a small message: 15 % of a lone remote ask (peerbench remote-ask-1).
//
// A call that may wait must not be made in this way, as it keeps its processor. The race detector
// learns from package syscall what happens before what, so these functions are not for it.
func readNow(fd uintptr, b []byte) (int, error) {
	return now(syscall.SYS_READ, fd, b)
}

// writeNow is write(2) of a few kilobytes, in the same way.
func writeNow(fd uintptr, b []byte) (int, error) {
	return now(syscall.SYS_WRITE, fd, b)
}

// b must not be empty.
func now(call, fd uintptr, b []byte) (int, error) {
	for {
		n, _, err := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		switch err {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}
