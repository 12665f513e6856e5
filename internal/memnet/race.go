//go:build race && !go1.27

package memnet

import (
	"runtime"
	"sync"
)

// Before Go 1.27 all timers of a synctest bubble share one context of the race detector, and two
// timers that fire at once can crash the process (golang/go#76691). With an in-memory network many
// timers fire at once. While a network exists, only one goroutine runs at a time. The race detector
// judges by happens-before, so it still finds every race.
var serial struct {
	mu       sync.Mutex // guards all below
	networks int
	before   int // GOMAXPROCS without a network
}

func serialize() {
	serial.mu.Lock()
	defer serial.mu.Unlock()
	if serial.networks == 0 {
		serial.before = runtime.GOMAXPROCS(1)
	}
	serial.networks++
}

func deserialize() {
	serial.mu.Lock()
	defer serial.mu.Unlock()
	serial.networks--
	if serial.networks == 0 {
		runtime.GOMAXPROCS(serial.before)
	}
}
