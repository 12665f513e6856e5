package actorhook

import "fmt"

// GenerationKey is the key under which the context of a singleton's instance, and of the actors
// that it spawns, has its [Generation].
type GenerationKey struct{}

// A Generation is the present generation of an instance, which may rise while the instance runs.
type Generation interface {
	// Generation returns a comparable value. It may be called from any goroutine and never blocks
	// for long.
	Generation() fmt.Stringer
}
