package singleton

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Defaults and limits.
const (
	// DefaultBuffer is how many messages a node keeps while there is no instance, see [Buffer].
	DefaultBuffer = 1000
	// DefaultAttempts is how many instances may fail at a message, see [Attempts].
	DefaultAttempts = 3
	// MaxBuffer is the largest buffer that [Buffer] accepts. When an instance starts after a long
	// gap, every node sends its whole buffer at once.
	MaxBuffer = 10_000
	// DefaultStopTimeout is how long an instance may take to stop by itself, see [StopTimeout].
	DefaultStopTimeout = 10 * time.Second
	// DefaultLeaseRetry is the delay between two attempts to acquire a lease, see [LeaseRetry].
	DefaultLeaseRetry = 5 * time.Second
	// MaxPerNode is the maximum number of singletons that one node may have managers for. Each
	// costs every node of the cluster messages when it starts and when the membership changes. Many
	// more at once would fill the outgoing queues between nodes and delay heartbeats. The manager
	// of one more fails with [ErrTooMany].
	MaxPerNode = 20_000
)

var defaultRestart = actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2}

// An Option changes how a singleton behaves. Give the same options on every node.
type Option func(*settings)

type settings struct {
	role        string
	anchor      handover.Anchor
	signature   string // of the settings that must be the same on all nodes, set by on
	buffer      int
	expire      time.Duration // 0: never
	window      int           // of AtLeastOnce; 0: at most once
	attempts    int           // failures at a message
	stopMessage any
	stopTimeout time.Duration
	restart     actor.Backoff
	margin      time.Duration               // 0: what the cluster recommends; negative: none
	lease       func() (lease.Lease, error) // returns the handle; nil: none
	leaseName   string
	leaseRetry  time.Duration
	terms       journal.Journal // nil: the members agree
	wrong       error           // what the numbers of options are wrong with
}

func newSettings(opts []Option) settings {
	s := settings{buffer: DefaultBuffer, attempts: DefaultAttempts, stopTimeout: DefaultStopTimeout, restart: defaultRestart, leaseRetry: DefaultLeaseRetry}
	options.MustApply("singleton", &s, opts)
	if s.anchor.Kind == handover.ByName && s.role != "" {
		panic(fmt.Sprintf("singleton: %s and Role(%q) contradict each other; a node that is named needs no role, so leave one of them out", anchorOption(s.anchor), s.role))
	}
	return s
}

// Check returns an error that says which numbers and durations of opts make no sense, for programs
// that read them from a configuration. The manager of a singleton with such an option fails with
// that error.
func Check(opts ...Option) error { return newSettings(opts).wrong }

func invalid(format string, args ...any) Option {
	err := fmt.Errorf("singleton: "+format, args...)
	return func(s *settings) { s.wrong = errors.Join(s.wrong, err) }
}

// on returns s with what the node of sys adds to the settings of the singleton of that name: its
// lease, if s has none, and the signature. It returns an error if the node must not manage it.
func (s settings) on(sys *actor.System, name string, message reflect.Type) (settings, error) {
	if s.wrong != nil {
		return s, s.wrong
	}
	if !registryOf(sys).admit(name) {
		return s, ErrTooMany
	}
	if leases, ok := extension.Get[leaseholder.Source](sys); ok && s.lease == nil {
		of := sys.Name() + "-singleton-" + name
		s.leaseName, s.lease = of, func() (lease.Lease, error) { return leases.New(of, sys.Address()) }
	}
	s.signature = handover.SignatureOf(s.compared(message))
	return s, nil
}

func (s *settings) config(name string) handover.Config {
	return handover.Config{
		Name: name, Role: s.role, Anchor: s.anchor, Signature: s.signature,
		StopTimeout: s.stopTimeout, Restart: s.restart, Margin: s.margin,
		Leased: s.lease != nil, LeaseRetry: s.leaseRetry, Sourced: s.terms != nil,
	}
}

// compared returns the settings that must be the same on all nodes: the message type, where the
// instance may run, and how a second instance is prevented.
func (s *settings) compared(message reflect.Type) []handover.Setting {
	return []handover.Setting{
		{Name: "message", Value: codec.TypeName(message)},
		{Name: "role", Value: s.role},
		{Name: "anchor", Value: s.anchor.String()},
		{Name: "stop message", Value: stopName(s.stopMessage)},
		{Name: "lease", Value: presence(s.lease != nil)},
		{Name: "generations", Value: presence(s.terms != nil)},
		{Name: "at least once", Value: presence(s.window > 0)},
	}
}

func (s *settings) comparedByName(message reflect.Type) map[string]string {
	all := map[string]string{}
	for _, one := range s.compared(message) {
		all[one.Name] = one.Value
	}
	return all
}

func stopName(msg any) string {
	if msg == nil {
		return ""
	}
	return codec.TypeName(reflect.TypeOf(msg))
}

// presence describes a setting that each node creates for itself: nodes can compare only whether it
// is set.
func presence(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// OnLeader lets the first eligible member in the cluster's order of election host the singleton.
// This is the default. If the cluster does not elect by age, a node that joins may take over a
// running instance.
func OnLeader() Option { return anchored(handover.Anchor{Kind: handover.ByElection}) }

// OnOldest lets the eligible member that has been up the longest host the singleton, however the
// cluster elects its leader. A join never moves the instance.
func OnOldest() Option { return anchored(handover.Anchor{Kind: handover.ByAge}) }

// OnNode lets only the member with that cluster.Config.NodeID host the singleton. While that node
// is not up, no instance runs and messages wait. When it returns, even as a new incarnation, the
// singleton starts there with a higher term. OnNode cannot be combined with [Role]. It panics if
// name is not a valid node name.
func OnNode(name string) Option {
	if name == "" {
		panic(`singleton: OnNode(""): name the node by its cluster.Config.NodeID, or leave the option out`)
	}
	mustBeName("OnNode", name)
	return anchored(handover.Anchor{Kind: handover.ByName, Node: name})
}

// A Candidate is a member that may host a singleton, see [OnElected].
type Candidate struct {
	ID        remote.NodeID
	Name      string // cluster.Config.NodeID
	UpNumber  uint64 // the order in which members came up: the oldest has the lowest
	Reachable bool
	Roles     []string
	Meta      map[string]string
}

// OnElected lets the function elect choose the host. Its candidates are the members that are up and
// eligible, in the cluster's order of election. It returns the name of one. No instance runs while
// it returns false or a name that no candidate has, or while it panics. A running instance moves
// when another member is chosen. Without a cluster elect is not called.
//
// Give the same function under the same name on all nodes; nodes with different names do not take
// part. elect must depend on its argument alone and must not change it. OnElected panics if name is
// empty or elect is nil.
func OnElected(name string, elect func(candidates []Candidate) (host string, ok bool)) Option {
	if name == "" || elect == nil {
		panic("singleton: OnElected needs a name and a function")
	}
	mustBeName("OnElected", name)
	return anchored(handover.Anchor{Kind: handover.ByFunction, Node: name, Elect: func(peers []directory.Peer) (string, bool) {
		candidates := make([]Candidate, len(peers))
		for i, p := range peers {
			candidates[i] = Candidate{ID: p.ID, Name: p.Name, UpNumber: p.UpNumber, Reachable: p.Reachable, Roles: p.Roles, Meta: p.Meta}
		}
		return elect(candidates)
	}})
}

func anchored(a handover.Anchor) Option {
	return func(s *settings) {
		if s.anchor.Kind != handover.Unset {
			panic(fmt.Sprintf("singleton: %s and %s contradict each other; give one of them", anchorOption(s.anchor), anchorOption(a)))
		}
		s.anchor = a
	}
}

// anchorOption returns the option in the form in which the user has written it.
func anchorOption(a handover.Anchor) string {
	switch a.Kind {
	case handover.ByAge:
		return "OnOldest()"
	case handover.ByName:
		return fmt.Sprintf("OnNode(%q)", a.Node)
	case handover.ByFunction:
		return fmt.Sprintf("OnElected(%q)", a.Node)
	case handover.Unset, handover.ByElection:
	}
	return "OnLeader()"
}

// Role lets only nodes with that role host the singleton. Other nodes can send to it. The default,
// "", includes all nodes. Role panics if role is not a valid role name, see cluster.Config.Roles.
func Role(role string) Option {
	if role != "" {
		mustBeName("Role", role)
	}
	return func(s *settings) { s.role = role }
}

// Buffer sets how many messages a node keeps while there is no instance; the default is
// [DefaultBuffer]. The host keeps as many for each other node while its instance is starting or
// stopping. When the buffer is full, the oldest message becomes a dead letter with [ErrBufferFull].
// With 0 no message is kept. The manager fails if n is negative or greater than [MaxBuffer], see
// [Check].
func Buffer(n int) Option {
	if n < 0 {
		return invalid("buffer size %d is negative; 0 keeps no message", n)
	}
	if n > MaxBuffer {
		return invalid("buffer size %d is greater than %d; every node would send as many at once when an instance starts; to keep more, store them with delivery.NewQueue", n, MaxBuffer)
	}
	return func(s *settings) { s.buffer = n }
}

// Expire limits how long a message may wait for an instance: on the node where it was sent, and
// again on the host while that has no instance yet. After d the message becomes a dead letter with
// [ErrHeldTooLong], and the [actor.Ask] that sent it fails with that error. By default
// messages wait until there is an instance, as long as [Buffer] has room; so they do with 0.
//
// Requests of asks that have ended on the same node are withdrawn in any case, see
// [actor.ErrWithdrawn]. With [AtLeastOnce] the limit does not apply to messages that have been sent
// to an instance. The manager fails if d is negative, see [Check].
func Expire(d time.Duration) Option {
	if d < 0 {
		return invalid("expiry %v is negative", d)
	}
	return func(s *settings) { s.expire = d }
}

// AtLeastOnce keeps each message on the sending node until an instance has handled it, that is,
// until its handler has returned without failing. If an instance was moved, failed or crashed, the
// messages that it has not handled are sent to the next one, in order and before newer ones. One
// instance handles a message once. Two instances may handle the same message if the first could no
// longer report it; this does not happen in a graceful move.
//
// Up to window messages of each node are in flight at a time. More wait, up to the limit of
// [Buffer]; when that is reached, the oldest of them becomes a dead letter with [ErrBufferFull].
// The request of an ask that has ended, or that the instance is too far behind to answer in time,
// is refused: it is not sent again. A window of 1 allows one message per round trip. A larger
// window costs the memory of that many messages on each node.
//
// Limits: messages are lost with the process of the sending node, and become dead letters when its
// manager ends. A message at which instances fail is given up, see [Attempts]; one that the host
// cannot decode becomes a dead letter at once. The sending node then publishes [Refused]. A message
// is not sent again after a failure that the instance's own supervision handles by resuming or
// restarting, nor when the instance has kept it in its state for later. The manager fails unless
// window is positive, see [Check].
func AtLeastOnce(window int) Option {
	if window <= 0 {
		return invalid("window %d of AtLeastOnce is not positive", window)
	}
	return func(s *settings) { s.window = window }
}

// Attempts changes how often [AtLeastOnce] hands a message to instances that fail at it; the
// default is [DefaultAttempts]. After n failures, on whatever nodes, the message becomes a dead
// letter with [ErrGivenUp], and an [actor.Ask] that sent it fails with that error. The messages
// after it follow, in order. The node where it was sent keeps it for [ListGivenUp], [Resend] and
// [Discard].
//
// A message is given up at its first failure if that is a persistence.RejectedError. Some failures
// do not count: the crash of a node, a lost lease, an instance that is fenced or is being stopped,
// and a journal that is unavailable, full or closed. The message then goes to the next instance as
// often as it takes. The option of the node that hosts counts. Attempts without
// AtLeastOnce has no effect. The manager fails unless n is positive, see [Check].
func Attempts(n int) Option {
	if n <= 0 {
		return invalid("to give up after %d failures; one is the least", n)
	}
	return func(s *settings) { s.attempts = n }
}

// StopMessage asks an instance to stop by sending it msg, after all other messages. Its behavior
// must return Stopped in response. By default an instance is stopped once it has handled the
// messages before. [New] panics if msg is not of the singleton's message type.
func StopMessage(msg any) Option { return func(s *settings) { s.stopMessage = msg } }

// StopTimeout sets how long an instance may take to stop by itself; the default is ten seconds.
// After that its context is cancelled, and it is stopped after the message that it is handling. 0
// stops it so at once.
//
// The next instance starts only after this one has ended. The exception is an instance with a
// handler that does not return: half a second later it is reported as [Stuck], and after
// [RemovalMargin] it counts as ended, or at once if a journal fences its writes. The manager fails
// if d is negative, see [Check].
func StopTimeout(d time.Duration) Option {
	if d < 0 {
		return invalid("stop timeout %v is negative", d)
	}
	return func(s *settings) { s.stopTimeout = d }
}

// RestartBackoff sets the delays before an instance that fails or stops by itself is restarted in
// place; the default is 100 ms, doubling up to 4 s. The manager fails if a delay is negative, see
// [Check].
func RestartBackoff(b actor.Backoff) Option {
	if d := min(b.Min, b.Max); d < 0 {
		return invalid("restart backoff %v is negative", d)
	}
	return func(s *settings) { s.restart = b }
}

// RemovalMargin sets how long a new instance waits after its predecessor's node was removed without
// a sign that it has stopped. The default is what the cluster recommends, 13 s with its default
// settings; 0 means the default, and a negative value means no margin. With a shorter margin two
// instances may run at once if a node was only partitioned. The margin is ignored for singletons
// with a lease, and for instances whose writes a journal fences.
func RemovalMargin(d time.Duration) Option { return func(s *settings) { s.margin = d } }

// WithLease lets an instance run only while l is held. Two instances then never run at once, even
// if both sides of a partition elect a host. This requires that clocks run at about the same rate
// and that no handler takes longer than the lease lasts; see package lease. Every node needs its
// own handle of the same lease. A manager panics if another manager of the process uses its handle,
// provided that the handle is one of package lease.
//
// A node that is to host acquires the lease once the other members have given permission. When the
// lease is lost, the instance is stopped at once: its current handler returns, waiting messages
// become dead letters, PostStop runs, and then the node tries again. When the instance moves, its
// lease is released after it has ended and before the next host gets permission. The lease's token
// is the term of the generation. There is no removal margin: after a crash the next host waits
// until the lease has expired.
//
// If the lease store is unavailable for longer than the lease lasts, no instance runs. WithLease
// takes precedence over cluster.Config.Leases, which gives every singleton of a node a lease.
// WithLease panics if l is nil.
func WithLease(l lease.Lease) Option {
	if l == nil {
		panic("singleton: nil lease")
	}
	return func(s *settings) {
		s.leaseName, s.lease = leaseholder.Name(l), func() (lease.Lease, error) { return l, nil }
	}
}

// LeaseRetry sets the delay before a node tries again to acquire a lease that it did not get, or
// has lost; the default is [DefaultLeaseRetry]. After a crash the next instance starts up to this
// long after the lease has expired. Every node that is to host, usually one, asks the store at this
// interval. The manager fails unless d is positive, see [Check].
func LeaseRetry(d time.Duration) Option {
	if d <= 0 {
		return invalid("lease retry %v is not positive", d)
	}
	return func(s *settings) { s.leaseRetry = d }
}

// WithGenerations counts the terms of generations in a journal, so that they continue to increase
// after all members have been stopped. By default the members agree on terms, and forget them when
// all have stopped. A node that is to host claims the persistence id "singleton/" and the name in
// j, once it has permission, and the lease if there is one; the epoch of the claim is the term.
// Nothing else may use that id. All members must share j. While j fails no instance starts; a
// running instance continues.
//
// Use it for a singleton that is not event-sourced and writes to something that rejects lower
// generations. Event-sourced instances do not need it, because their generation follows their
// journal's epoch. Singletons with a lease do not need it either, because the token is the term.
// WithGenerations panics if j is nil.
func WithGenerations(j journal.Journal) Option {
	if j == nil {
		panic("singleton: nil journal of generations")
	}
	return func(s *settings) { s.terms = j }
}

func mustBeName(option, name string) {
	if err := naming.Check(name); err != nil {
		panic(fmt.Sprintf("singleton: %s(%q): the name %v", option, name, err))
	}
}
