// Package fence connects event sourcing and singletons, which do not import each other. It passes
// the bounds of epochs to an instance that claims, passes claimed epochs back, and defines the
// error of a fenced writer and the causes of failures.
package fence

import (
	"context"
	"errors"
	"fmt"
)

// ErrFenced is the error of a writer that a newer one has replaced. It is final: a restart would
// only fence the newer writer in turn. See actor.Strategy.
var ErrFenced error = final("persistence: fenced by a newer claim")

type final string

func (e final) Error() string { return string(e) }

// Supervision must not restart or resume an actor with this failure.
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

	// Refused receives the newest epoch when a claim is refused because that epoch is beyond the
	// bounds. It returns true if the actor shall stop without a failure, because the holder
	// starts it again under a later term. nil stands for a function that returns false.
	Refused func(c Claim, newest uint64) (quietly bool)
}

// ErrLater is the failure of a claim after which an actor stops quietly: see [Holder].
var ErrLater = errors.New("persistence: a later term has claimed the id")

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

// Refused reports to the Holder of ctx that a claim was refused with err. It returns [ErrLater] if
// the actor shall stop quietly, and otherwise err.
func Refused(ctx context.Context, c Claim, err error) error {
	h, ok := ctx.Value(key{}).(Holder)
	if newest := Newest(err); ok && h.Refused != nil && newest > 0 && h.Refused(c, newest) {
		return ErrLater
	}
	return err
}

// Newest returns the epoch of the newest claim if err says that it refused a write or another
// claim; otherwise 0.
func Newest(err error) uint64 {
	var newer interface{ NewestEpoch() uint64 }
	if !errors.As(err, &newer) {
		return 0
	}
	return newer.NewestEpoch()
}

// An actor that the instance has spawned has made the claim.
type laterClaim struct {
	by     Claim
	newest uint64
}

// LaterClaim returns the failure of an instance that cannot continue, because a later term has
// claimed the id of by, an actor that the instance has spawned. It wraps [ErrFenced].
func LaterClaim(by Claim, newest uint64) error { return &laterClaim{by, newest} }

func (e *laterClaim) Error() string {
	return fmt.Sprintf("%v: %q of %s belongs to term %d", ErrFenced, e.by.ID, e.by.Path, e.newest>>32)
}

func (e *laterClaim) Unwrap() error { return ErrFenced }

func (e *laterClaim) NewestEpoch() uint64 { return e.newest }

// Fenced reports that the writes of the actor are fenced by other means than an epoch.
func Fenced(ctx context.Context) { Claimed(ctx, Claim{}, 0) }

// Causes of the failure of a writer at a message, by which package singleton decides whether to
// repeat the message. Compare with [errors.Is]; no function returns these errors themselves.
var (
	// ErrRejected: the events of the message can never be stored, so every attempt fails.
	ErrRejected = errors.New("persistence: rejected")
	// ErrStore: the store does not work now, and the message may be stored later.
	ErrStore = errors.New("persistence: the store has failed")
)
