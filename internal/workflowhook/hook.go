// Package workflowhook lets package testkit/workflowtest replace the functions of steps.
package workflowhook

import "context"

// A Replacement returns what runs in place of the function of a step, or nil for the function
// itself. It is an extension of a system.
type Replacement func(typ, id, step string) func(ctx context.Context) (any, error)
