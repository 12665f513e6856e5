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
