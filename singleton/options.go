package singleton

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/lease"
)

// DefaultBuffer is how many messages a node keeps while there is no instance.
const DefaultBuffer = 1000

// DefaultStopTimeout is how long an instance may take to stop before its context ends.
const DefaultStopTimeout = 10 * time.Second

// DefaultLeaseRetry is how long a node waits before it asks again for a lease that it has
// not got.
const DefaultLeaseRetry = 5 * time.Second

// defaultRestart is the backoff of restarts in place.
var defaultRestart = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2}

// An Option changes how a singleton behaves. Give the same ones on every node.
type Option func(*settings)

type settings struct {
	role        string
	anchor      anchor
	signature   string // of all that must be the same on all nodes; "" fits all
	buffer      int
	expire      time.Duration // 0: never
	window      int           // of AtLeastOnce; 0: at most once
	stopMessage any
	stopTimeout time.Duration
	restart     actor.Backoff
	margin      time.Duration // < 0: what the cluster recommends
	lease       lease.Lease   // nil: none
	leaseRetry  time.Duration
	source      generation.TermSource // nil: the members agree
}

func (s settings) leased() bool { return s.lease != nil }

func (s settings) sourced() bool { return s.source != nil }

func newSettings(opts []Option) settings {
	s := settings{buffer: DefaultBuffer, stopTimeout: DefaultStopTimeout, restart: defaultRestart, margin: -1, leaseRetry: DefaultLeaseRetry}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("singleton: option %d is nil", i+1))
		}
		o(&s)
	}
	s.checkPlacement()
	return s
}

// Role lets only nodes of that role host the singleton. Others can send to it. The empty role
// is that of all nodes. It panics on what no role can be, see cluster.Config.Roles.
func Role(role string) Option {
	if role != "" {
		mustBeName("Role", role)
	}
	return func(s *settings) { s.role = role }
}

// Buffer sets how many messages each node keeps while there is no instance to take them,
// and how many of each other node the host keeps while it has none; the default is
// [DefaultBuffer]. The oldest gives way, and is a dead letter with [ErrBufferFull]. With
// 0 nothing is kept. It panics when n is negative.
func Buffer(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("singleton: buffer size %d is negative", n))
	}
	return func(s *settings) { s.buffer = n }
}

// Expire bounds how long a message may wait for an instance on one node: on the one where it was
// told, and on the host while that has no instance yet. After d it is a dead letter with
// [ErrHeldTooLong], and an [actor.Ask] that it is the request of ends with that. Without Expire,
// or with 0, messages wait until there is an instance, at most [Buffer] of them; requests of asks
// of the same node that have ended are withdrawn either way, see [actor.ErrWithdrawn]. With
// [AtLeastOnce] it does not bound messages that have been sent to an instance. It panics when d
// is negative.
func Expire(d time.Duration) Option {
	mustNotBeNegative("expiry", d)
	return func(s *settings) { s.expire = d }
}

// AtLeastOnce keeps each message on the node where it was told until an instance has
// handled it: until its handler has returned without failing. What an instance has left
// undone, as it was moved, has failed or crashed, is sent again to the next one, in order
// and before what is newer. One instance handles a message once; two may handle the same
// message when the first could not say so any more. In a graceful move that does not
// happen.
//
// Up to window messages of each node are under way at a time; more wait, as many as
// [Buffer] says, of which the oldest gives way. A window of 1 is one message per round
// trip; a larger one costs the memory of so many messages on each node.
//
// Limits: the messages are gone with the process on which they were told, and are dead
// letters when its manager ends. A message at which 10 instances on one node have failed
// in a row is a dead letter with [ErrGivenUp], and what the host cannot decode is one there. The
// node where such a message was told publishes [Refused]. A failure that the instance's own
// supervision deals with, by resuming or restarting, is no reason to send a message
// again, and neither is that the instance has put it aside in its state. It panics unless
// window is positive.
func AtLeastOnce(window int) Option {
	if window <= 0 {
		panic(fmt.Sprintf("singleton: window %d of AtLeastOnce is not positive", window))
	}
	return func(s *settings) { s.window = window }
}

// StopMessage makes msg the way to ask an instance to stop: it comes after all other
// messages, and the behavior must return Stopped in its time. Without one the instance
// is stopped once it has handled what it had been told. New panics when msg is not of
// the singleton's message type.
func StopMessage(msg any) Option { return func(s *settings) { s.stopMessage = msg } }

// StopTimeout sets how long an instance may take to stop by itself; the default is ten
// seconds. Then its context is cancelled and it is stopped after the message it is at.
// No other instance starts before it has ended, except when a handler of it does not return:
// half a second later it is called [Stuck], and after [RemovalMargin] it is given up, at
// once where a journal fences its writes. It panics when d is negative.
func StopTimeout(d time.Duration) Option {
	mustNotBeNegative("stop timeout", d)
	return func(s *settings) { s.stopTimeout = d }
}

// RestartBackoff sets the delays with which an instance that fails or stops by itself is
// started again in place; the default is 100 ms, doubling up to 4 s.
// It panics when a delay is negative.
func RestartBackoff(b actor.Backoff) Option {
	mustNotBeNegative("restart backoff", min(b.Min, b.Max))
	return func(s *settings) { s.restart = b }
}

// RemovalMargin sets how long to wait, after a node that may have hosted the singleton
// was removed without a sign that it has stopped, before another node hosts it. The
// default is what the cluster recommends, see [Topology]; instances that fence their
// writes by a journal need none and get none. It panics when d is negative.
func RemovalMargin(d time.Duration) Option {
	mustNotBeNegative("removal margin", d)
	return func(s *settings) { s.margin = d }
}

// WithLease lets an instance run only where l is held: with it, two instances never run
// at once, even when members of both sides of a split believe to be the host, as long as
// clocks run at about the same rate and no handler takes longer than the lease lasts; see
// package lease. Every node gives its own end of the same lease: a manager panics when its
// end, if it is one of package lease, is used by another manager of the process.
//
// A node that is to host asks for the lease when it has the permission of the other
// members. When the lease is lost the instance is stopped at once: the message it is at
// ends, what waits becomes dead letters, PostStop runs, and then the node asks again. When
// the instance moves, its lease is given back after it has ended and before the next host
// gets permission. The lease's token is the term of the generation, and there is no
// removal margin: who has died is waited for until its lease has expired.
//
// While the lease cannot be reached for longer than it lasts, no instance runs. It panics
// when l is nil.
func WithLease(l lease.Lease) Option {
	if l == nil {
		panic("singleton: nil lease")
	}
	return func(s *settings) { s.lease = l }
}

// LeaseRetry sets how long a node waits before it asks again for a lease that it has not
// got, or has lost; the default is [DefaultLeaseRetry]. After a crash the next instance
// starts up to this long after the lease has expired; each node that is to host, one as a
// rule, asks the store that often. It panics unless d is positive.
func LeaseRetry(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("singleton: lease retry %v is not positive", d))
	}
	return func(s *settings) { s.leaseRetry = d }
}

// WithGenerations takes the terms of generations from src, so that they grow even over
// the end of all members: without it members agree on them, and forget them when all have
// been stopped. A node that is to host asks src when it has permission, and the lease if
// there is one. While src fails no instance starts; one that runs is not stopped.
//
// Event-sourced instances need none, as their generation follows their journal's epoch;
// nor do singletons with a lease, whose token is the term. It panics when src is nil.
func WithGenerations(src generation.TermSource) Option {
	if src == nil {
		panic("singleton: nil source of generations")
	}
	return func(s *settings) { s.source = src }
}

func mustBeName(option, name string) {
	if err := naming.Check(name); err != nil {
		panic(fmt.Sprintf("singleton: %s(%q): the name %v", option, name, err))
	}
}

func mustNotBeNegative(what string, d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("singleton: %s %v is negative", what, d))
	}
}
