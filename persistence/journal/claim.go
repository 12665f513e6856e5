package journal

import (
	"fmt"
	"math"
	"strconv"
)

// A Claim is the right to write to one persistence id until the next claim of the id.
type Claim struct {
	Epoch     uint64 // greater than the epoch of every earlier claim of the id
	LastSeq   uint64 // the last sequence number ever written, 0 for none
	DeletedTo uint64 // records up to this sequence number are deleted

	// TimersKnown says that Timers are all timers of the id, as [TimerStore.Timers] would return
	// them. It is false if the journal is no [TimerStore], and may be false for an id with more
	// than ten timers or a damaged one: then ask the store.
	TimersKnown bool
	Timers      []Timer
}

// Bounds limit the epoch of a claim. The zero Bounds limit nothing.
//
// With them, an epoch can consist of a generation, in its upper 32 bits, and the number of the
// claim within the generation, in its lower ones. A writer of generation g claims with Least g<<32
// and Below (g+1)<<32. It then cannot fence off a writer of a later generation, however late its
// claim arrives.
type Bounds struct {
	Least uint64 // the epoch is at least this
	Below uint64 // the epoch is less than this; 0 for no upper bound
}

// NextEpoch returns the epoch of the claim after epoch last, which is 0 before the first claim:
// last+1, or b.Least if that is greater. It returns a [*FencedError] if last is not below b.Below,
// and [ErrInvalid] if no epoch is left: b has none, or the next one would be b.Below or exceed
// [math.MaxInt64].
func NextEpoch(last uint64, b Bounds) (uint64, error) {
	greatest := uint64(math.MaxInt64)
	if b.Below != 0 {
		greatest = min(greatest, b.Below-1)
	}
	switch {
	case max(b.Least, 1) > greatest:
		return 0, fmt.Errorf("%w: there is no epoch from %d to %d", ErrInvalid, b.Least, greatest)
	case b.Below != 0 && last >= b.Below:
		return 0, &FencedError{Below: b.Below, Newest: last}
	case last >= greatest:
		return 0, fmt.Errorf("%w: no epoch is left after %d; the greatest is %d", ErrInvalid, last, greatest)
	}
	return max(last+1, b.Least), nil
}

// A FencedError names the newest claim of an id, because of which a write or another claim was
// refused. It wraps [ErrFenced].
type FencedError struct {
	Epoch  uint64   // of the write; 0 for a claim
	Below  uint64   // the upper bound of the claim; 0 for a write
	Newest uint64   // the epoch of the newest claim; 0 if the id was never claimed
	Writer WriterID // of the newest claim; zero if the store does not tell
}

// Error names the epochs.
func (e *FencedError) Error() string {
	what := "epoch " + epochText(e.Epoch)
	if e.Below != 0 {
		what = "a claim below epoch " + epochText(e.Below)
	}
	switch {
	case e.Newest == 0:
		return fmt.Sprintf("%v: %s, and it has never been claimed", ErrFenced, what)
	case e.Writer == (WriterID{}):
		return fmt.Sprintf("%v: %s, the newest is %s", ErrFenced, what, epochText(e.Newest))
	}
	return fmt.Sprintf("%v: %s, the newest is %s, of writer %x", ErrFenced, what, epochText(e.Newest), e.Writer)
}

// epochText returns an epoch as people know it: one that consists of a generation and a number has
// the two in parentheses.
func epochText(epoch uint64) string {
	if epoch < 1<<32 {
		return strconv.FormatUint(epoch, 10)
	}
	return fmt.Sprintf("%d (%d.%d)", epoch, epoch>>32, epoch&math.MaxUint32)
}

// NewestEpoch returns e.Newest.
func (e *FencedError) NewestEpoch() uint64 { return e.Newest }

// Unwrap returns [ErrFenced].
func (e *FencedError) Unwrap() error { return ErrFenced }
