package actor

import "runtime"

// processors returns how many goroutines can run at the same time: GOMAXPROCS, but not more than
// the machine has. Further runners would only share its processors, and preempt each other while
// they hold a lock.
func processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
