package tenure

import (
	"errors"
	"fmt"
)

// A Claim is an actor's claim of a persistence id.
type Claim struct {
	Path string // of the actor
	ID   string
}

// Bounds returns the bounds of the epoch of a claim: at least least and, unless below is 0, less
// than below. They are those of the present term. An epoch of a higher term may belong to the next
// instance, which must not be fenced off. It can also belong to an earlier cluster, because terms
// begin again when a whole cluster was stopped. The claim is refused in both cases, and the owner
// starts the instance under a term above the one that was found. The error says that the
// generation does not fit into 64 bits.
func (t *Tenure) Bounds() (least, below uint64, err error) {
	if t == nil {
		return 0, 0, nil
	}
	now := t.Now()
	if least, err = now.Packed(); err != nil {
		return 0, 0, err
	}
	return least, (now.Term + 1) << 32, nil
}

// Claimed reports that the writes of an actor are fenced from epoch on: a newer instance prevents
// them.
func (t *Tenure) Claimed(claim Claim, epoch uint64) {
	if t == nil {
		return
	}
	raised := t.raise(claim, Unpack(epoch))
	if t.on.Claimed != nil {
		t.on.Claimed(claim, t.started, raised)
	}
}

// Fenced reports that the writes of an actor are fenced by other means than an epoch.
func (t *Tenure) Fenced() { t.Claimed(Claim{}, 0) }

// raise takes over the generation of a claim, if it is later. It returns the current generation.
func (t *Tenure) raise(claim Claim, to Generation) Generation {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claimed = t.claimed || claim.Path == t.path
	if t.gen.Less(to) {
		t.gen = to
	}
	return t.gen
}

// Refused reports that a claim was refused with err. It returns [ErrLater] if the actor shall stop
// quietly, and otherwise err.
func (t *Tenure) Refused(claim Claim, err error) error {
	newest := Newest(err)
	switch {
	case t == nil, newest == 0:
		return err
	case claim.Path != t.path:
		t.on.Refused(t.fail(claim, newest))
		return ErrLater
	case t.refuse(Unpack(newest)) && t.on.Quiet:
		return ErrLater
	}
	return err
}

// refuse notes what a refused claim of the instance itself has found. It reports whether that was
// its first claim: then nothing has failed, and the instance only needs a later term.
func (t *Tenure) refuse(by Generation) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused.Less(by) {
		t.refused = by
	}
	return !t.claimed
}

// fail notes what a refused claim of an actor that the instance has spawned has found. It returns
// the failure of the instance: the one with the highest term.
func (t *Tenure) fail(claim Claim, newest uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if by := Unpack(newest); t.failure == nil || t.refused.Less(by) {
		t.refused, t.failure = by, &laterClaim{claim, newest}
	}
	return t.failure
}

// Outcome returns the highest generation that a refused claim has found, or zero, and the failure
// of the instance that follows from it, or nil. The failure wraps [ErrFenced].
func (t *Tenure) Outcome() (refusedBy Generation, failure error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused, t.failure
}

// An actor that the instance has spawned has made the claim.
type laterClaim struct {
	by     Claim
	newest uint64
}

func (e *laterClaim) Error() string {
	return fmt.Sprintf("%v: %q of %s belongs to term %d", ErrFenced, e.by.ID, e.by.Path, e.newest>>32)
}

func (e *laterClaim) Unwrap() error { return ErrFenced }

func (e *laterClaim) NewestEpoch() uint64 { return e.newest }

// Newest returns the epoch of the newest claim if err says that it refused a write or another
// claim; otherwise 0.
func Newest(err error) uint64 {
	var newer interface{ NewestEpoch() uint64 }
	if !errors.As(err, &newer) {
		return 0
	}
	return newer.NewestEpoch()
}
