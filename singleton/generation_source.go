package singleton

import "context"

// A GenerationSource hands out terms that outlive the cluster: see [WithGenerations].
// Its methods may be called from any goroutine.
type GenerationSource interface {
	// NextTerm returns a term for the singleton of that name: greater than floor, and than
	// every one that it has ever returned for that name, on any node. An error means that
	// none may be used; it is asked again, and may leave terms out. Ctx ends after 10 s, or
	// when the manager ends.
	NextTerm(ctx context.Context, name string, floor uint64) (term uint64, err error)
}
