package journal

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// A Timer is a message that an actor has scheduled. The store keeps it until the actor removes it.
type Timer struct {
	Key     string    // identifies it among the timers of the persistence id; 1 to 255 bytes
	Due     time.Time // UTC with nanoseconds, from 1678 to 2261
	Attempt uint64    // how many deliveries have begun
	Type    string    // the registered name of the message's type
	Payload []byte    // CBOR, opaque to the journal

	Shredded bool // as in [Record]
}

// A TimerChange sets or removes a timer.
type TimerChange struct {
	Timer       // replaces the one with its key; only Key counts if Remove is set
	Remove bool // a timer that does not exist is removed without an error
}

// A Wake says that a persistence id has a timer. Wakes are ordered by Due, then by ID.
type Wake struct {
	Due time.Time
	ID  string
}

// A TimerStore is a journal that keeps timers: it applies [AppendRequest.Timers] in the same
// transaction as the records, and a [Claim] has the timers of its id. Any goroutine may call its
// methods.
type TimerStore interface {
	Journal

	// Timers returns the timers of id in the order of Due, then of Key. An id that has none, or
	// was never claimed, yields an empty result. A damaged timer is [ErrCorrupt].
	Timers(ctx context.Context, id string) ([]Timer, error)

	// Wakes returns ids in a range of slices that have timers with Due before the time before, in
	// order, at most limit, beginning after the Wake after; the zero Wake is before all. An id
	// with several timers occurs once for each time.
	Wakes(ctx context.Context, slices SliceRange, after Wake, before time.Time, limit int) ([]Wake, error)

	// Now returns the time by the clock of the store, which all processes that share it go by. A
	// store without a clock of its own returns the time of the host.
	Now(ctx context.Context) (time.Time, error)
}

// MaxTimerKey is the greatest length of the key of a timer, in bytes.
const MaxTimerKey = 255

// Compare returns -1, 0 or 1 as w comes before, at or after o.
func (w Wake) Compare(o Wake) int {
	return cmp.Or(w.Due.Compare(o.Due), cmp.Compare(w.ID, o.ID))
}

// Validate returns [ErrInvalid] with the reason if no store can make the change.
func (c *TimerChange) Validate() error {
	switch {
	case c.Key == "":
		return fmt.Errorf("%w: the key of a timer is empty", ErrInvalid)
	case len(c.Key) > MaxTimerKey:
		return fmt.Errorf("%w: the key of a timer has %d bytes, more than %d", ErrInvalid, len(c.Key), MaxTimerKey)
	}
	if err := validateText("the key of a timer", c.Key); err != nil || c.Remove {
		return err
	}
	if year := c.Due.UTC().Year(); year < 1678 || year > 2261 {
		return fmt.Errorf("%w: timer %q is due in the year %d; possible are 1678 to 2261", ErrInvalid, c.Key, year)
	}
	if c.Attempt > math.MaxInt64 {
		return fmt.Errorf("%w: timer %q has had %d attempts", ErrInvalid, c.Key, c.Attempt)
	}
	return validateText("the type of a timer", c.Type)
}

// Checksum returns the CRC32C of t as a timer of id, over every field. Journals store it with the
// timer, and verify it when they read.
func (t *Timer) Checksum(id string) uint32 {
	f := buffers.Get().(*fields)
	defer buffers.Put(f)
	b := appendString(f[:0], id)
	b = appendString(b, t.Key)
	b = appendTime(b, t.Due)
	b = binary.LittleEndian.AppendUint64(b, t.Attempt)
	b = appendString(b, t.Type)
	return checksum(b, t.Payload)
}
