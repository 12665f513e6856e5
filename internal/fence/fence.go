// Package fence is what event sourcing and singletons share without knowing each other:
// by which number an instance claims what it writes to, which one it was given, and the
// error of one that has been fenced off.
package fence

import "context"

// ErrFenced is the error of a writer that a newer one has replaced. It is final, see
// actor.Strategy: a restart in place would only fence the newer one in turn.
var ErrFenced error = final("persistence: fenced by a newer claim")

type final string

func (e final) Error() string { return string(e) }

// Final says that no supervision is to restart or resume an actor with this failure.
func (e final) Final() bool { return true }

// A Holder is who wants to agree with what runs under a context on a number. Both
// functions may be called from any goroutine.
type Holder struct {
	// Path is that of the actor which is the instance. What it spawns has its context, too.
	Path string

	// Floor returns the lowest epoch that a claim may get; an error when there is none
	// that fits into 64 bits.
	Floor func() (uint64, error)

	// Claimed is told the epoch of a claim: older writers have been fenced off.
	Claimed func(epoch uint64)
}

type key struct{}

// With returns a context under which h learns of claims.
func With(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, key{}, h)
}

// IsInstance reports whether path is that of an instance itself, whose context ctx is.
func IsInstance(ctx context.Context, path string) bool {
	h, ok := ctx.Value(key{}).(Holder)
	return ok && h.Path == path
}

// Floor returns the lowest epoch that a claim under ctx may get, 0 where nobody cares.
func Floor(ctx context.Context) (uint64, error) {
	if h, ok := ctx.Value(key{}).(Holder); ok && h.Floor != nil {
		return h.Floor()
	}
	return 0, nil
}

// Claimed says that what runs under ctx writes to the outside only where a newer instance
// fences it off, from this epoch on. Without anybody to tell, nothing happens.
func Claimed(ctx context.Context, epoch uint64) {
	if h, ok := ctx.Value(key{}).(Holder); ok {
		h.Claimed(epoch)
	}
}

// Mark is [Claimed] of what is fenced by other means than an epoch.
func Mark(ctx context.Context) { Claimed(ctx, 0) }
