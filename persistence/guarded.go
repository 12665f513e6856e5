package persistence

import (
	"runtime/debug"

	"github.com/understudy-go/understudy/actor"
)

// guarded does work, and returns a panic in it as an error.
func guarded(work func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &actor.PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	return work()
}
