package process

import "syscall"

// endWithParent has the kernel kill the process when this one ends.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
