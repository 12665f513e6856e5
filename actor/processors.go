package actor

import "runtime"

// At most GOMAXPROCS goroutines run at the same time, and not more than the machine has processors.
// Further runners would only share these, and preempt each other while they hold a lock.
func processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
