package downing

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Defaults of [LeaseMajority].
const (
	DefaultMinorityDelay = 2 * time.Second
	DefaultLeaseTimeout  = 5 * time.Second
	DefaultReleaseAfter  = 40 * time.Second
)

// LeaseMajority keeps the side that holds a lease. The majority, as of [KeepMajority],
// asks for it first, and the others a little later, so it usually gets it; but a side of
// any size goes on if nobody else has asked. Who does not get it downs itself.
//
// It suits clusters that have a place for a lease anyway: it bears what KeepMajority does
// not, a split into many parts, or a crash of more than half. And at most one side goes
// on whatever the members believe, as long as the lease keeps its promise. In exchange
// nobody goes on while the lease cannot be reached, and what is not fenced starts later
// elsewhere, as a losing side learns late that it has lost (Skew).
//
// Changes that do not end down all who see them; that cannot be switched off here, and a
// majority that loses one member after the other bears it only for as long as it can still
// ask, as a side that waits for longer than the lease is held would get it as the second
// one. For the same reason, a side that was asleep as a whole for that long, and cannot hear
// afterwards that it is down, may go on as a second one.
//
// The rule is that of Akka's and Pekko's split brain resolver.
type LeaseMajority struct {
	// Lease is this node's end of the lease that all nodes share. It must be set.
	Lease Lease

	// Role restricts the majority to members that have it; empty is everyone. If nobody
	// has it, no side is first.
	Role string

	// StableAfter is how long the situation must not have changed. 0 is what suits the
	// detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// MinorityDelay is how much later a side that is not the majority asks. 0 is
	// [DefaultMinorityDelay].
	MinorityDelay time.Duration

	// LeaseTimeout is how long an answer may take; none by then is a no. 0 is
	// [DefaultLeaseTimeout].
	LeaseTimeout time.Duration

	// ReleaseAfter is for how long the lease is held once it is granted: until all other
	// sides have asked. 0 is [DefaultReleaseAfter], or so much longer as the others take.
	ReleaseAfter time.Duration
}

// Validate says what is wrong with the settings.
func (l LeaseMajority) Validate() error {
	switch {
	case l.Lease == nil:
		return errors.New("downing: LeaseMajority.Lease must be set: to the lease that all nodes share")
	case l.lasts() <= l.hold():
		return fmt.Errorf("downing: the TTL of LeaseMajority.Lease is %v, and must be longer than %v, for which it is held (ReleaseAfter): it would expire with its process before every other side has asked", l.lasts(), l.hold())
	case l.hold() < l.lastAsk():
		return fmt.Errorf("downing: LeaseMajority.ReleaseAfter %v must be at least %v, until when another side may ask for the lease", l.hold(), l.lastAsk())
	}
	return nil
}

// OrStableAfter returns l, with d for StableAfter unless that is set.
func (l LeaseMajority) OrStableAfter(d time.Duration) Strategy {
	l.StableAfter = orDefault(l.StableAfter, d)
	return l
}

// Delay returns the time that must pass without a change.
func (l LeaseMajority) Delay() time.Duration { return orDefault(l.StableAfter, DefaultStableAfter) }

// Skew returns how much later than the winner a side may learn that it has not got the
// lease: MinorityDelay and LeaseTimeout.
func (l LeaseMajority) Skew() time.Duration { return l.minorityDelay() + l.timeout() }

// String returns the settings that count, defaults included: equal on two nodes that agree. It
// does not say which lease it is.
func (l LeaseMajority) String() string {
	return fmt.Sprintf("lease-majority(stable-after=%v, role=%q, minority-delay=%v, lease-timeout=%v, release-after=%v)",
		l.Delay(), l.Role, l.minorityDelay(), l.timeout(), l.hold())
}

// Decide implements [Strategy].
func (l LeaseMajority) Decide(s Situation) Decision {
	var ask Ask
	c := conduct{after: l.Delay(), spared: nobody}
	d := c.decide(s, func(here, there []Member) (verdict, string) {
		of := electorate{l.Role}
		switch s.Lease {
		case Granted:
			return goOn, "this side has got the lease"
		case Denied:
			return yield, "this side has not got the lease"
		case NotAsked:
			first := majority(here, there, of.votes, of.votes)
			switch {
			case s.Stable < l.Delay() && first && s.Unstable < l.hold()-l.Skew():
				return goOn, "" // it may still ask once nothing changes
			case s.Stable < l.Delay():
			case first || s.Stable >= l.Delay()+l.minorityDelay():
				ask = Ask{Lease: l.Lease, Timeout: l.timeout(), Hold: l.hold()}
			}
		case Asked:
		}
		return wait, ""
	})
	d.Ask = ask
	return d
}

func (l LeaseMajority) minorityDelay() time.Duration {
	return orDefault(l.MinorityDelay, DefaultMinorityDelay)
}

func (l LeaseMajority) timeout() time.Duration { return orDefault(l.LeaseTimeout, DefaultLeaseTimeout) }

func (l LeaseMajority) hold() time.Duration {
	return orDefault(l.ReleaseAfter, max(DefaultReleaseAfter, l.lastAsk()))
}

// lasts returns how long the lease outlives its process, where it says so, as those of
// package lease do.
func (l LeaseMajority) lasts() time.Duration {
	if t, says := l.Lease.(interface{ TTL() time.Duration }); says {
		return t.TTL()
	}
	return math.MaxInt64
}

// lastAsk is when the slowest other side may still be asking, reckoned from the earliest
// moment at which the lease may have been granted.
func (l LeaseMajority) lastAsk() time.Duration {
	return unstableAfter(l.Delay()) + l.Skew()
}
