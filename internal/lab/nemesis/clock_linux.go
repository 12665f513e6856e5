package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// began is when the harness began, on the clock of the machine. The harness sets it first, and
// passes it to the nodes.
var began time.Duration

// clock returns the time since the harness began. Unlike the wall clock it is never set, and it is
// the same in all processes.
func clock() time.Duration { return machineClock() - began }

func machineClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("nemesis: no monotonic clock: " + err.Error())
	}
	return time.Duration(t.Nano())
}
