package persistence

import (
	"runtime/debug"
	"sync"

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

// background does work in a goroutine that tasks waits for, and hands its error to done.
func background(tasks *sync.WaitGroup, work func() error, done func(error)) {
	tasks.Go(func() { done(guarded(work)) })
}
