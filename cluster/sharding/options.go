package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// An Option is a setting of a type of entities; see [Start].
type Option func(*settings)

type settings struct {
	shards      int
	role        string
	hosts       bool
	passivate   time.Duration
	limit       int
	stopMessage any
	stopTimeout time.Duration
	spawn       []actor.SpawnOption // of entities
	buffer      int
	remember    bool
	sourced     bool
	daemons     int                // how many, at first; 0 for types whose entities have ids
	strategy    placement.Strategy // nil: the default
	timers      journal.TimerStore // of WithTimers
	timerless   error              // why that got no such journal
	leases      leaseholder.Source // nil: none
	wrong       error              // an argument that makes no sense
}

// The defaults of the options.
const (
	DefaultShards         = 256
	DefaultPassivateAfter = 2 * time.Minute
	DefaultStopTimeout    = 10 * time.Second
	DefaultBuffer         = 1000
)

func settingsOf(opts []Option) (settings, error) {
	s := settings{
		shards: DefaultShards, hosts: true, passivate: byDefault, stopTimeout: DefaultStopTimeout, buffer: DefaultBuffer,
	}
	if err := options.Apply(&s, opts); err != nil {
		return s, fmt.Errorf("sharding: %w", err)
	}
	if s.passivate == byDefault {
		s.passivate = DefaultPassivateAfter
		if s.mode() != table.OnDemand {
			s.passivate = 0
		}
	}
	switch {
	case s.wrong != nil:
		return s, s.wrong
	case s.shards < 1 || s.shards > journal.Slices || journal.Slices%s.shards != 0:
		return s, fmt.Errorf("sharding: %d shards; give Shards a power of two from 1 to %d", s.shards, journal.Slices)
	case s.passivate < 0:
		return s, errors.New("sharding: PassivateAfter is negative; use 0 to keep idle entities")
	case s.limit < 0:
		return s, errors.New("sharding: MaxEntities is negative; leave it out for no limit")
	case s.stopTimeout <= 0:
		return s, errors.New("sharding: StopTimeout is not positive")
	case s.buffer < 0:
		return s, errors.New("sharding: Buffer is negative")
	case s.timerless != nil:
		return s, s.timerless
	case s.daemons > 0 && (s.passivate > 0 || s.limit > 0 || s.remember || s.shards != DefaultShards):
		return s, errors.New("sharding: Daemon takes neither Shards, PassivateAfter, MaxEntities nor Remember")
	case s.remember && (s.passivate > 0 || s.limit > 0):
		return s, errors.New("sharding: remembered entities stay awake; leave out PassivateAfter and MaxEntities, or Remember")
	}
	return s, nil
}

func (s settings) mode() table.Mode {
	switch {
	case s.daemons > 0:
		return table.Daemons
	case s.remember:
		return table.Remembered
	}
	return table.OnDemand
}

// maxShards returns how many shards the type can have.
func (s settings) maxShards() int {
	if s.daemons > 0 {
		return table.MaxShards
	}
	return s.shards
}

// initialShards returns how many shards the type has if the cluster knows nothing about it.
func (s settings) initialShards() int { return cmp.Or(s.daemons, s.shards) }

// byDefault is the time of passivation that nobody has set.
const byDefault = time.Duration(math.MinInt64)

// Shards divides the type into n shards, a power of two up to 1024. It must be the same on all
// nodes, and can never change. The default is [DefaultShards].
func Shards(n int) Option { return func(s *settings) { s.shards = n } }

// PassivateAfter ends entities that have had no message for d, or for up to a quarter longer. The
// next message starts the entity again. An entity that has stashed messages, waits for the reply to
// an actor.AskToSelf or has children is not idle, and neither is one that stores events. The time
// that it takes to start, for example to recover, does not count. A message of a timer does not
// keep an entity awake; see [Entity.KeepAwake]. 0 means never. The default is
// [DefaultPassivateAfter].
func PassivateAfter(d time.Duration) Option { return func(s *settings) { s.passivate = d } }

// MaxEntities limits how many entities of the type a node keeps awake to about n. Beyond that,
// those end that were used longest ago, as by PassivateAfter. None ends while it starts. 0, the
// default, means no limit.
func MaxEntities(n int) Option { return func(s *settings) { s.limit = n } }

// SpawnOptions gives the entities a mailbox or a kind, as [actor.Spawn] does:
//
//	sharding.SpawnOptions(actor.Bounded(100))
//
// A message for which the mailbox has no place is a dead letter with [actor.ErrMailboxFull] on the
// node of the entity. An ask fails with that at once, wherever it comes from. Other nodes may have
// other options.
func SpawnOptions(opts ...actor.SpawnOption) Option {
	return func(s *settings) { s.spawn = append(s.spawn, opts...) }
}

// StopMessage is the last message of an entity that is to end because it is idle, or because its
// shard moves: it comes after all others. The entity must stop in response. Without it, entities
// are stopped. Its type must be the message type of the entities.
func StopMessage(msg any) Option { return func(s *settings) { s.stopMessage = msg } }

// StopTimeout is how long entities may take to stop when their shard moves; then they are stopped
// at once. One whose handler does not return is given up half a second later, see [Stuck]. The
// default is [DefaultStopTimeout]; for d of zero or less, [Start] returns an error.
func StopTimeout(d time.Duration) Option { return func(s *settings) { s.stopTimeout = d } }

// Buffer is how many messages to one shard a node keeps while the shard moves, or is on no node.
// Requests whose asks have ended make room. Further messages are dead letters with [ErrBufferFull],
// as are those beyond 100,000 that wait on a node for one type. 0 keeps none. The default is
// [DefaultBuffer].
func Buffer(n int) Option { return func(s *settings) { s.buffer = n } }

// Role lets only nodes that have the role host entities of the type. The others take messages for
// them. It must be the same on all nodes. The default, "", is all nodes.
func Role(role string) Option {
	return func(s *settings) {
		if err := naming.Check(role); role != "" && err != nil {
			s.wrong = fmt.Errorf("sharding: Role(%q): the role %w", role, err)
		}
		s.role = role
	}
}

// ProxyOnly lets this node take messages for entities without hosting any.
func ProxyOnly() Option { return func(s *settings) { s.hosts = false } }

// EventSourced says that the entities of the type are event-sourced, or have a durable state. Nodes
// find that out by the first entity that starts on each of them. With the option no node of the
// type waits for the removal margin before that either. An entity that is neither is refused.
func EventSourced() Option { return func(s *settings) { s.sourced = true } }

// WithTimers wakes event-sourced entities for the timers that they have stored with
// persistence.Schedule. An entity that has passivated, or whose node has crashed, starts when its
// first timer is due. j is the journal of the entities; it must keep timers, see
// [journal.TimerStore]. Give the option on all nodes that host the type. Without it, an entity gets
// the messages of timers that have passed when something else starts it, and a warning is logged.
//
// Each node keeps in memory only what is due within a minute on its shards, and reads the journal
// every 30 seconds and when a shard begins. It starts at most 10,000 entities per second, and none
// while a thousand wait to recover. While the journal cannot be read, entities that are awake still
// get their timers; the others come late. With [Remember] and [Daemon] it has no effect: their
// entities are awake.
func WithTimers(j persistence.Journal) Option {
	return func(s *settings) { s.timers, s.timerless = timerStore(j) }
}

// Remember keeps entities running without messages: those that have had one, until they call
// [Entity.Passivate]. Use it for entities with timers. An entity that stops or fails is started
// again after one second, or up to a minute if it keeps failing. When its shard starts on another
// node, or after all nodes have been stopped, all of its entities are started, a few at a time.
//
// The ids are kept in cluster.Config.Journal, or without a cluster in the journal of
// persistence.WithJournal. Without one, [Start] returns persistence.ErrNoJournal. An entity is
// started when the journal has its id, which delays its first message by one write. While the
// journal fails, entities that run are not disturbed, and messages for others wait.
//
// It must be the same on all nodes. Remembered entities are not passivated: with [PassivateAfter]
// or [MaxEntities], [Start] returns an error.
func Remember() Option { return func(s *settings) { s.remember = true } }

// WithStrategy lets s choose the nodes of the shards of the type, in place of the default, which
// chooses the node with the fewest of them. A strategy of package placement serves both: of the
// spec it gets, Type is the name of the type, and Label adds a slash and the number of the shard.
// The view has the shards of all types in Actors of the nodes; the shard that is to be rated is in
// none, also when it runs.
//
// s is asked about a shard that has no home: the node with the highest score that can host it gets
// it. It is also asked from time to time about the shards that run, under the conditions in the
// package documentation. A shard moves if another node has a higher score than its own. So a
// strategy whose scores change without a reason moves shards for ever.
//
// If s panics, or gives no node that can host the shard a score above zero, the default chooses.
// The log and [Region.Explain] say so.
//
// The coordinator's node asks its own strategy, so all nodes should have the same. It must not
// block: the coordinator waits for it.
func WithStrategy(s placement.Strategy) Option {
	return func(set *settings) {
		if s == nil {
			set.wrong = errors.New("sharding: WithStrategy got nil; give it a strategy of placement, or leave it out")
		}
		set.strategy = s
	}
}

// strategyOf returns the strategy of the type; ok is false for the default.
func (s settings) strategyOf() (own allot.Strategy, ok bool) {
	chosen := s.strategy
	if chosen == nil {
		return own, false
	}
	name, err := guard.Value(chosen.Name)
	if err != nil {
		name = "without a name"
	}
	return allot.Strategy{Name: name, Score: func(n home.Node, label, typ string, v home.View) float64 {
		return chosen.Score(n, placement.Spec{Label: label, Type: typ}, v)
	}}, true
}

// strategyOf returns the strategy of a type that this node has started.
func (h *hub) strategyOf(typ string) (own allot.Strategy, ok bool) {
	if r := h.region(typ); r != nil {
		return r.set.strategyOf()
	}
	return own, false
}
