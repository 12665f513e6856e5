package bench

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// apart calls start with this process on the last processor it may use, and then moves this process
// to the first one: what start has started has a processor of its own, as another machine would.
// Otherwise the kernel decides for each message whether the two processes share a processor. On an
// idle machine that makes a greater difference than the library does.
func apart(start func()) {
	var all unix.CPUSet
	check(unix.SchedGetaffinity(0, &all))
	if all.Count() < 2 {
		fail("two processors are needed")
	}
	var own []int
	for i := 0; len(own) < all.Count(); i++ {
		if all.IsSet(i) {
			own = append(own, i)
		}
	}
	moveTo(own[len(own)-1])
	start()
	moveTo(own[0])
	runtime.GOMAXPROCS(1)
}

// moveTo moves all threads of this process. A thread that one of them starts meanwhile is found in
// the next round.
func moveTo(processor int) {
	var set unix.CPUSet
	set.Set(processor)
	for moved := map[int]bool{}; ; {
		threads, err := os.ReadDir("/proc/self/task")
		check(err)
		before := len(moved)
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			check(err)
			if !moved[id] {
				check(unix.SchedSetaffinity(id, &set))
				moved[id] = true
			}
		}
		if len(moved) == before {
			return
		}
	}
}
