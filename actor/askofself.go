package actor

import (
	"reflect"
	"runtime"
	"sync"
)

// A goroutine that the handler has begun, with the same context, may wait for its actor.
func waitsForItself(asker, asked *core) bool {
	return asker != nil && asker == asked.actor() && inTurn()
}

// inTurn walks the stack, which costs about a microsecond.
func inTurn() bool {
	var pcs [64]uintptr
	for skip := 1; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == nameOfWork() {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

var nameOfWork = sync.OnceValue(func() string {
	return runtime.FuncForPC(reflect.ValueOf((*scheduler).work).Pointer()).Name()
})
