//go:build unix

package process

import "syscall"

// Pause stops a process with SIGSTOP until [Continue].
func Pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Continue continues a process that [Pause] has stopped, and has no effect on others.
func Continue(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
