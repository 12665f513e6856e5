// Contention prints up to how many processors the shared resources of package actor scale: a mutex
// or a counter is held by one processor at a time, and must be fetched from the one before.
//
//	go run ./internal/lab/contention
//
// The lengths come from BenchmarkCriticalSections of package actor; give others by flags.
package main

import (
	"flag"
	"fmt"
	"time"
)

// A resource is what processors use one after the other.
type resource struct {
	name     string
	uses     string
	held     time.Duration // without contention
	every    int           // how many operations use it once
	think    time.Duration // of an operation, beside the resource
	transfer time.Duration // from one processor to another
}

func main() {
	scheduler := flag.Duration("scheduler", 21*time.Nanosecond, "time in the mutex of the scheduler for each wake-up")
	uid := flag.Duration("uid", 5*time.Nanosecond, "time of a number from the counter of the system")
	transfer := flag.Duration("transfer", 44*time.Nanosecond, "time in which memory moves to another processor")
	wakeup := flag.Duration("wakeup", 100*time.Nanosecond, "processor time of a wake-up and its message")
	ask := flag.Duration("ask", 500*time.Nanosecond, "processor time of an ask")
	spawn := flag.Duration("spawn", 600*time.Nanosecond, "processor time of a spawn")
	flag.Parse()
	show([]resource{
		{"mutex of the scheduler", "each wake-up", *scheduler, 1, *wakeup, *transfer},
		{"mutex of the scheduler", "one of 4 wake-ups", *scheduler, 4, *wakeup, *transfer},
		{"mutex of the scheduler", "one of 68 wake-ups", *scheduler, 68, *wakeup, *transfer},
		{"counter of numbers", "each ask", *uid, 1, *ask, *transfer},
		{"counter of numbers", "one of 256 asks", *uid, 256, *ask, *transfer},
		{"mutex of one parent", "each spawn", 3 * *uid, 1, *spawn, *transfer},
	})
}

func show(all []resource) {
	fmt.Printf("%-24s %-20s %s\n", "resource", "used by", "scales to processors")
	for _, r := range all {
		more := ""
		n := r.scalesTo()
		if n == maxProcessors {
			more = " or more"
		}
		fmt.Printf("%-24s %-20s %d%s\n", r.name, r.uses, n, more)
	}
}
