package outside

import (
	"context"
	"errors"
	"fmt"
)

// An Object is an object in a store, and the step that has written it. In an object store, Writer
// is metadata; in Kubernetes, it is in annotations.
type Object struct {
	Data   []byte
	Writer Caller // the zero Caller if it was not written by Update
}

// Objects are a store that can write on the condition that nothing has changed: object stores by
// If-Match with an ETag and by If-None-Match: *, Kubernetes by resourceVersion.
type Objects interface {
	// Get returns an object and its version. The version of an object that does not exist is "".
	Get(ctx context.Context, name string) (o Object, version string, err error)

	// Put replaces the object with that version, or creates it if version is "". It returns
	// [ErrChanged] if the object has another version, or exists.
	Put(ctx context.Context, name string, o Object, version string) error
}

// Update replaces the object of that name by what change returns for its data, which is nil if
// the object does not exist. If the step of ctx has done so before, Update does nothing. It
// returns [ErrReplaced] if a higher token of the run has written the object, [ErrOtherRun] if
// another run has, [ErrNoStep] outside of a step, and errors of the store and of change. If
// somebody else writes the object at the same time, Update calls change again with the new data.
//
// It recognises the last writer only. So one step of a run at a time updates an object, not two
// branches.
func Update(ctx context.Context, in Objects, name string, change func(old []byte) ([]byte, error)) error {
	c := CallerOf(ctx)
	if c.Scope == "" {
		return ErrNoStep
	}
	for {
		o, version, err := in.Get(ctx, name)
		switch {
		case err != nil:
			return fmt.Errorf("outside: get %s: %w", name, err)
		case o.Writer.Scope != "" && o.Writer.Scope != c.Scope:
			return fmt.Errorf("%w: %s was written by %s", ErrOtherRun, name, o.Writer.Scope)
		case o.Writer.Token > c.Token:
			return fmt.Errorf("%w: %s, token %d, newest %d", ErrReplaced, c.Scope, c.Token, o.Writer.Token)
		case o.Writer.Key == c.Key:
			return nil
		}
		data, err := change(o.Data)
		if err != nil {
			return err
		}
		err = in.Put(ctx, name, Object{data, c}, version)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrChanged) {
			return fmt.Errorf("outside: put %s: %w", name, err)
		}
	}
}
