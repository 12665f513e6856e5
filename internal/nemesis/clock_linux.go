package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock returns the time since the machine was started. Unlike that of the wall it is
// never set, and it is the same in all processes.
func clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("nemesis: no monotonic clock: " + err.Error())
	}
	return time.Duration(t.Nano())
}
