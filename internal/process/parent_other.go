//go:build !linux

package process

import "syscall"

// endWithParent has nothing to add here: the standard input of the process ends.
func endWithParent(*syscall.SysProcAttr) {}
