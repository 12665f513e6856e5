//go:build !linux

package failover

import "syscall"

// childAttributes has nothing to add here: a node's process ends with its input.
func childAttributes() *syscall.SysProcAttr { return nil }
