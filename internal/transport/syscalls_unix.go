//go:build unix && (!linux || race)

package transport

import "syscall"

func readNow(fd uintptr, b []byte) (int, error) { return retried(syscall.Read, fd, b) }

func writeNow(fd uintptr, b []byte) (int, error) { return retried(syscall.Write, fd, b) }

func retried(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		switch err {
		case nil:
			return n, nil
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}
