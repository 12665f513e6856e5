// Package simulation runs random schedules for tests, and shrinks those that fail. A schedule is
// drawn from a seed and must depend on nothing else, so that a failure can be repeated.
package simulation

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Seeds calls run with each seed from first to first+count-1, on all cores, until one call returns
// false. It returns the lowest seed for which a call has returned false; ok means that none has.
func Seeds(first, count uint64, run func(seed uint64) bool) (failed uint64, ok bool) {
	var next atomic.Uint64
	var mu sync.Mutex // guards failed and ok
	ok = true
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < count; n = next.Add(1) - 1 {
				fine := run(first + n)
				mu.Lock()
				if !fine && (ok || first+n < failed) {
					failed, ok = first+n, false
				}
				stop := !ok
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	workers.Wait()
	return failed, ok
}

// Shrink returns a part of a failing schedule that still fails, and from which no element can be
// left out. It is delta debugging: it tries without each of two parts, then without each of four,
// and so on. fails reports whether a schedule fails; it must not keep or change its argument.
func Shrink[S ~[]E, E any](failing S, fails func(S) bool) S {
	for parts := 2; len(failing) > 0; {
		size := max(1, (len(failing)+parts-1)/parts)
		smaller, found := without(failing, size, fails)
		switch {
		case found:
			failing, parts = smaller, max(2, parts-1)
		case size == 1:
			return failing
		default:
			parts = min(2*parts, len(failing))
		}
	}
	return failing
}

func without[S ~[]E, E any](failing S, size int, fails func(S) bool) (S, bool) {
	for from := 0; from < len(failing); from += size {
		rest := slices.Delete(slices.Clone(failing), from, min(from+size, len(failing)))
		if fails(rest) {
			return rest, true
		}
	}
	return nil, false
}
