// Package guard calls code of the user: methods of the user's types, and functions that the user
// has passed. A panic there becomes an error, so that it ends nothing else.
package guard

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
)

// ErrGoexit is the error of a function that has called [runtime.Goexit], as t.FailNow of a test
// does.
var ErrGoexit = errors.New("runtime.Goexit was called")

// A PanicError is a panic in code of the user. Users see it as an actor.PanicError.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the goroutine that panicked
}

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// As lets [errors.As] find e as an actor.PanicError: package actor is above this one, and declares
// the same fields.
func (e *PanicError) As(target any) bool {
	to := reflect.ValueOf(target).Elem()
	from := reflect.ValueOf(e)
	same := from.CanConvert(to.Type())
	if same {
		to.Set(from.Convert(to.Type()))
	}
	return same
}

// Recovered turns the result of recover into a [*PanicError]. Call it in the deferred function that
// recovered, so that the stack is right.
func Recovered(value any) error { return &PanicError{Value: value, Stack: debug.Stack()} }

// Run returns the error of f, or a [*PanicError] if f panics. If f calls [runtime.Goexit], the
// goroutine ends; use [Apart] where it must not.
func Run(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Recovered(r)
		}
	}()
	return f()
}

// Do is Run for functions without an error.
func Do(f func()) error {
	return Run(func() error { f(); return nil })
}

// Value returns the result of f, or the zero value and a [*PanicError] if f panics.
func Value[T any](f func() T) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Recovered(r)
		}
	}()
	return f(), nil
}

// Apart is Do in a goroutine of its own, for which it waits. It returns [ErrGoexit] if f ends that
// goroutine. Use it where the calling goroutine must not end.
func Apart(f func()) error {
	done := make(chan error, 1)
	go func() {
		err := ErrGoexit
		defer func() { done <- err }()
		err = Do(f)
	}()
	return <-done
}

// Is is [errors.Is] for errors of the user. An error whose methods panic matches no other error.
func Is(err, target error) bool {
	is, _ := Value(func() bool { return errors.Is(err, target) })
	return is
}

// As is [errors.As] for errors of the user. An error whose methods panic matches no type.
func As[E error](err error) (e E, ok bool) {
	panicked := Do(func() { ok = errors.As(err, &e) })
	return e, ok && panicked == nil
}

// Text formats v with %v. If a method of v panics, the text says so.
func Text(v any) string { return fmt.Sprint(v) }
