// Package options applies functional options, none of which may be nil.
package options

import "fmt"

// Apply applies options to a target. It returns an error that says which option is nil, and applies
// none then.
func Apply[T any, O ~func(T)](target T, opts []O) error {
	for i, o := range opts {
		if o == nil {
			return fmt.Errorf("option %d is nil", i+1)
		}
	}
	for _, o := range opts {
		o(target)
	}
	return nil
}

// MustApply is Apply for callers that cannot return an error. It panics in the name of a package.
func MustApply[T any, O ~func(T)](pkg string, target T, opts []O) {
	if err := Apply(target, opts); err != nil {
		panic(fmt.Sprintf("%s: %v", pkg, err))
	}
}
