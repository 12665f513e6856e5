// Package fence connects event sourcing and singletons, which do not import each other. It passes
// the bounds of epochs to an instance that claims, passes claimed epochs back, and defines the
// error of a fenced writer.
package fence

import "context"

// ErrFenced is the error of a writer that a newer one has replaced. It is final: a restart would
// only fence the newer writer in turn. See actor.Strategy.
var ErrFenced error = final("persistence: fenced by a newer claim")

type final string

func (e final) Error() string { return string(e) }

// Final returns true: supervision must not restart or resume an actor with this failure.
func (e final) Final() bool { return true }

// A Claim is an actor's claim of a persistence id.
type Claim struct {
	Path string // of the actor
	ID   string
}

// A Holder makes the epochs of claims under a context agree with a generation. Its functions may be
// called from any goroutine.
type Holder struct {
	// Path is the path of the instance. The actors that it spawns have its context, too.
	Path string

	// Bounds returns the bounds of the epoch of a claim: it must be at least least and, unless
	// below is 0, less than below. The error says that no such epoch fits into 64 bits.
	Bounds func(c Claim) (least, below uint64, err error)

	// Claimed receives the epoch of a claim, which has fenced off older writers.
	Claimed func(c Claim, epoch uint64)
}

type key struct{}

// With returns a context whose claims are reported to h.
func With(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, key{}, h)
}

// IsInstance reports whether path is the path of the instance whose context is ctx.
func IsInstance(ctx context.Context, path string) bool {
	h, ok := ctx.Value(key{}).(Holder)
	return ok && h.Path == path
}

// Bounds returns the bounds of the epoch of a claim under ctx. Without a Holder both are 0, which
// limits nothing.
func Bounds(ctx context.Context, c Claim) (least, below uint64, err error) {
	if h, ok := ctx.Value(key{}).(Holder); ok && h.Bounds != nil {
		return h.Bounds(c)
	}
	return 0, 0, nil
}

// Claimed reports to the Holder of ctx that the writes of the actor are fenced from epoch on: a
// newer instance prevents them. Without a Holder it does nothing.
func Claimed(ctx context.Context, c Claim, epoch uint64) {
	if h, ok := ctx.Value(key{}).(Holder); ok {
		h.Claimed(c, epoch)
	}
}

// Fenced reports that the writes of the actor are fenced by other means than an epoch.
func Fenced(ctx context.Context) { Claimed(ctx, Claim{}, 0) }
