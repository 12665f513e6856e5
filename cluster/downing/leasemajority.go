package downing

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// Defaults of [LeaseMajority].
const (
	DefaultMinorityDelay = 2 * time.Second
	DefaultLeaseTimeout  = 5 * time.Second
	DefaultReleaseAfter  = 40 * time.Second
)

// LeaseMajority keeps the side that holds a lease. The majority, as defined by [KeepMajority],
// asks for it first and the other sides a little later, so the majority usually gets it. But a
// side of any size continues if no other side has asked. A side that does not get the lease
// downs itself.
//
// It suits clusters that have a store for leases anyway. Unlike KeepMajority it survives a
// split into many parts and the crash of more than half of the members. At most one side
// continues, whatever the members believe, as long as the lease keeps its promise. In exchange
// no side continues while the lease cannot be reached. Singletons that are not fenced also
// start later elsewhere, because a losing side learns late that it has lost (Skew).
//
// If reachability keeps changing, every side that sees it downs itself; there is no setting to
// switch that off. A majority that loses one member after the other waits only for as long as
// it can still ask. A side that waited longer than the lease is held could become the second
// holder. For the same reason a side may continue as a second one if all its members were
// paused for that long, and afterwards cannot hear that they are down.
//
// The rule is the same as in the split brain resolvers of Akka and Pekko.
type LeaseMajority struct {
	// Lease is this node's handle of the lease that all nodes share. The default, nil, is the one
	// that Config.Leases of package cluster returns for the name of the cluster and "-downing".
	// Start fails if that is not set either.
	//
	// Its TTL, if it has a method TTL() time.Duration, must be longer than ReleaseAfter, so longer
	// than 40 s by default. The lease expires TTL after its process has died. While the process
	// lives, the lease is renewed until it is released, even if the node has ended. Do not use the
	// same handle for a singleton: a node that holds it already is granted it again.
	Lease lease.Lease

	// Role restricts the majority to members that have it; empty means all members. If no
	// member has the role, no side asks first.
	Role string

	// StableAfter is how long the situation must not have changed before the strategy decides.
	// 0 is what suits the detector of the node (Config.Detector of package cluster),
	// [DefaultStableAfter] with LAN.
	StableAfter time.Duration

	// MinorityDelay is how much later than the majority another side asks. 0 is
	// [DefaultMinorityDelay].
	MinorityDelay time.Duration

	// LeaseTimeout is how long the answer of the lease may take. No answer in that time counts
	// as no. 0 is [DefaultLeaseTimeout].
	LeaseTimeout time.Duration

	// ReleaseAfter is how long the lease is held once it is granted: until all other sides have
	// asked. 0 is [DefaultReleaseAfter], or longer if the other sides may ask later than that.
	ReleaseAfter time.Duration
}

// Validate returns an error if Lease is not set, if ReleaseAfter is too short for all other
// sides to ask, or if the TTL of the lease is not longer than ReleaseAfter.
func (l LeaseMajority) Validate() error {
	switch {
	case l.Lease == nil:
		return errors.New("downing: LeaseMajority.Lease must be set, or Config.Leases of package cluster: to leases that all nodes share")
	case l.lasts() <= l.hold():
		return fmt.Errorf("downing: the TTL of the lease of LeaseMajority is %v, and must be longer than %v, for which it is held (ReleaseAfter): it would expire with its process before every other side has asked", l.lasts(), l.hold())
	case l.hold() < l.lastAsk():
		return fmt.Errorf("downing: LeaseMajority.ReleaseAfter %v must be at least %v, until when another side may ask for the lease", l.hold(), l.lastAsk())
	}
	return nil
}

// OrStableAfter returns l with d as its StableAfter, unless StableAfter is set already.
func (l LeaseMajority) OrStableAfter(d time.Duration) Strategy {
	l.StableAfter = orDefault(l.StableAfter, d)
	return l
}

// OrLease returns l with the lease that create returns, unless Lease is set already.
func (l LeaseMajority) OrLease(create func() (lease.Lease, error)) (_ Strategy, err error) {
	if l.Lease == nil {
		l.Lease, err = create()
	}
	return l, err
}

// Delay returns how long the situation must not have changed.
func (l LeaseMajority) Delay() time.Duration { return orDefault(l.StableAfter, DefaultStableAfter) }

// Skew returns how much later than the winner a side may learn that it has not got the lease:
// MinorityDelay plus LeaseTimeout.
func (l LeaseMajority) Skew() time.Duration { return l.minorityDelay() + l.timeout() }

// String returns the name and the effective settings. Two nodes that agree have equal strings.
// It does not name the lease.
func (l LeaseMajority) String() string {
	return fmt.Sprintf("lease-majority(stable-after=%v, role=%q, minority-delay=%v, lease-timeout=%v, release-after=%v)",
		l.Delay(), l.Role, l.minorityDelay(), l.timeout(), l.hold())
}

// Decide implements [Strategy].
func (l LeaseMajority) Decide(s Situation) Decision {
	var ask Ask
	c := policy{after: l.Delay(), spared: noMember}
	d := c.decide(s, func(here, there []Member) (verdict, string) {
		of := electorate{l.Role}
		switch s.Lease {
		case Granted:
			return survive, "this side has got the lease"
		case Denied:
			return downSelf, "this side has not got the lease"
		case NotAsked:
			first := majority(here, there, of.votes, of.votes)
			switch {
			case s.Stable < l.Delay() && first && s.Unstable < l.hold()-l.Skew():
				return survive, "" // it may still ask once the situation is stable
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

// lasts returns how long the lease outlives its process. A lease without a method TTL counts as
// unlimited.
func (l LeaseMajority) lasts() time.Duration {
	if t, says := l.Lease.(interface{ TTL() time.Duration }); says {
		return t.TTL()
	}
	return math.MaxInt64
}

// lastAsk returns when the slowest other side may still be asking, measured from the earliest
// moment at which the lease may have been granted.
func (l LeaseMajority) lastAsk() time.Duration {
	return unstableAfter(l.Delay()) + l.Skew()
}

// An Ask is a request for a lease. An Ask without a Lease requests nothing. A node that ends before
// Hold is over does not release the lease early.
type Ask struct {
	Lease   lease.Lease   // the same handle in all requests of a strategy
	Timeout time.Duration // how long to wait; no answer in that time counts as no
	Hold    time.Duration // how long the lease is held once it is granted
}

// An Answer is the result of an [Ask].
type Answer uint8

// The results of an Ask, and the state before it.
const (
	NotAsked Answer = iota // the strategy has not asked in this situation
	Asked                  // the strategy has asked, and there is no answer yet
	Granted
	Denied // another node holds it, the answer is unknown, or none came in time
)
