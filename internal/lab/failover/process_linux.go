package failover

import "syscall"

// childAttributes makes a node's process end with the director, however that ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
