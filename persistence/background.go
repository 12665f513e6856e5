package persistence

import (
	"errors"
	"runtime/debug"
	"sync"

	"github.com/understudy-go/understudy/actor"
)

// errGoexit is the result of work that ended its goroutine.
var errGoexit = errors.New("persistence: runtime.Goexit called by the journal or by the event handler")

// background does work in a goroutine that tasks waits for, and hands its error to done:
// exactly once, also when work panics or ends the goroutine.
func background(tasks *sync.WaitGroup, work func() error, done func(error)) {
	tasks.Go(func() {
		err := errGoexit
		defer func() {
			if r := recover(); r != nil {
				err = &actor.PanicError{Value: r, Stack: debug.Stack()}
			}
			done(err)
		}()
		err = work()
	})
}
