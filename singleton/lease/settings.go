package lease

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/internal/naming"
)

// Settings configure how a lease is kept. The zero value of each field stands for its default.
type Settings struct {
	// TTL is how long the lease lasts without a renewal: the default is 15 s, the minimum 1 ms, and
	// a store may require more. After a holder has died, others wait for up to TTL, so a longer TTL
	// lengthens that gap. A shorter TTL makes it more likely that an outage of the store, or a
	// pause of the holder, stops what the lease protects.
	TTL time.Duration

	// Renewal is the time between two renewals; the default is a quarter of TTL. A shorter one
	// costs more requests, and leaves more time to repeat a renewal that fails. It must be shorter
	// than TTL*(1-2*Drift).
	Renewal time.Duration

	// Retry is the delay before a failed request is repeated; the default is a fifteenth of TTL, at
	// most 1 s. A shorter one notices the end of an outage sooner, and sends more requests while it
	// lasts.
	Retry time.Duration

	// OperationTimeout limits each request; the default is a third of TTL, at most 5 s. It must be
	// shorter than TTL*(1-2*Drift). With a longer one, a renewal that hangs leaves no time for
	// another. With a shorter one, a slow store counts as unavailable.
	OperationTimeout time.Duration

	// Drift is the maximum relative difference in rate between the clocks of two machines,
	// including the store's; the default is 0.05. It must be less than 0.5. The holder relies on
	// TTL*(1-2*Drift) only. If it cannot renew the lease, it is idle for the rest of TTL.
	Drift float64

	// Clock is the holder's clock, for tests; nil means the machine's clock. If it panics, the
	// lease is lost, and the handle cannot hold it again.
	Clock Clock
}

// maxName is the maximum length of a name, which every store supports.
const maxName = 200

func (s Settings) withDefaults() Settings {
	if s.TTL == 0 {
		s.TTL = 15 * time.Second
	}
	if s.Renewal == 0 {
		s.Renewal = s.TTL / 4
	}
	if s.Retry == 0 {
		s.Retry = min(s.TTL/15, time.Second)
	}
	if s.OperationTimeout == 0 {
		s.OperationTimeout = min(s.TTL/3, 5*time.Second)
	}
	if s.Drift == 0 {
		s.Drift = 0.05
	}
	if s.Clock == nil {
		s.Clock = machineClock{start: time.Now()}
	}
	return s
}

func (s Settings) validate() error {
	switch {
	case s.TTL < time.Millisecond:
		return fmt.Errorf("lease: TTL is %v; set at least 1ms, or 0 for 15s", s.TTL)
	case math.IsNaN(s.Drift) || s.Drift < 0 || s.Drift >= 0.5:
		return fmt.Errorf("lease: Drift is %v; set a share from 0 to below 0.5, as 0.05", s.Drift)
	case s.Renewal < 0:
		return fmt.Errorf("lease: Renewal is %v; set the time between two renewals, or 0 for a quarter of TTL", s.Renewal)
	case s.Renewal >= s.bound():
		return fmt.Errorf("lease: Renewal is %v, but the holder counts on TTL*(1-2*Drift) = %v only; "+
			"set a shorter Renewal or a longer TTL", s.Renewal, s.bound())
	case s.Retry < 0:
		return fmt.Errorf("lease: Retry is %v; set the time until a failed request is repeated, or 0 for a fifteenth of TTL", s.Retry)
	case s.OperationTimeout < 0:
		return fmt.Errorf("lease: OperationTimeout is %v; set the time that one request may take, or 0 for a third of TTL",
			s.OperationTimeout)
	case s.OperationTimeout >= s.bound():
		return fmt.Errorf("lease: OperationTimeout is %v, but the holder counts on TTL*(1-2*Drift) = %v only; "+
			"set a shorter OperationTimeout or a longer TTL", s.OperationTimeout, s.bound())
	}
	return nil
}

// bound is how long the holder relies on a lease, counted from when its request was sent.
func (s Settings) bound() time.Duration {
	return time.Duration(float64(s.TTL) * (1 - 2*s.Drift))
}

func validateNames(name, owner string) error {
	switch {
	case name == "":
		return errors.New("lease: the name is empty; give the name that contenders have in common")
	case len(name) > maxName:
		return fmt.Errorf("lease: the name has %d bytes; at most %d fit into every store", len(name), maxName)
	case naming.Check(name) != nil:
		return fmt.Errorf("lease: the name %q %w", name, naming.Check(name))
	case owner == "":
		return errors.New("lease: the owner is empty; give what tells people who holds it, as the name of the node")
	case naming.Check(owner) != nil:
		return fmt.Errorf("lease: the owner %q %w", owner, naming.Check(owner))
	}
	return nil
}
