package singleton

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A Status is what the manager of one node knows of its singleton.
type Status struct {
	Name  string
	Phase Phase
	Since time.Time // when the phase began

	// Host is the address of the node that hosts the singleton or is to, "" when nobody
	// can; Here reports that it is this node and the instance runs.
	Host string
	Here bool

	// Placement says where the singleton may be, for people.
	Placement string

	// Mismatch says in what the singleton of this node differs from the one that other
	// nodes have under the same name, "" when it does not. It then takes no part: what is
	// told to it is a dead letter with [ErrMismatch].
	Mismatch string

	// Generation is that of the instance here, or of the last that was here.
	Generation Generation

	Held   int    // messages that wait on this node now
	Kept   uint64 // how often a message that was told here had to wait
	Closed bool   // messages wait for those that the former host has to give back

	// Unacknowledged are messages told here that an instance may not have handled, under
	// [AtLeastOnce]; those that wait for room among them are in Held.
	Unacknowledged int
	// Dropped counts messages that became dead letters here as there was no room for them.
	Dropped uint64

	Starts   uint64 // how many instances have started here
	Failures uint64 // how many have failed here, while starting or later

	// LastError is the error with which an instance has failed here last, and FailedAt when;
	// nil and zero while none has.
	LastError error
	FailedAt  time.Time

	// RestartsInARow is how often in a row the instance has ended here by itself, with an
	// error or without, and was or will be started again. It is 0 where the singleton is not,
	// and once an instance has run for as long as the delays of [RestartBackoff] take to begin again.
	RestartsInARow int
	wellAt         time.Time // when the instance that runs will have run well

	// Why says why no instance runs, as far as this node knows, in a sentence without an
	// end; "" when nothing is known against it.
	Why string

	// WaitingFor are the addresses of members whose answer an asking node waits for.
	WaitingFor []string
	// NotBefore is when an asking node may start, when that is not now: former members
	// may still be stopping, or the last instance has failed. For an acquiring node it is
	// when it asks again.
	NotBefore time.Time

	// Stuck is when the instance on this node was told to stop, if it does not: one of its
	// handlers does not return. It is zero otherwise, and until that is certain. See [Stuck].
	Stuck time.Time

	Lease     string // what protects the singleton, "" without a lease
	LeaseHeld bool   // by this node
	Obstacle  error  // why the lease or the term has not been got, the last time; or why the lease was lost
}

// crashLoop is as many restarts in a row as are no accident any more.
const crashLoop = 3

// CrashLoop reports whether the instance ends again and again before it has run well: at
// least three times in a row.
func (s Status) CrashLoop() bool { return s.RestartsInARow >= crashLoop }

// at is s at a time after it was written.
func (s Status) at(now time.Time) Status {
	if !s.wellAt.IsZero() && !now.Before(s.wellAt) {
		s.RestartsInARow, s.wellAt = 0, time.Time{}
	}
	return s
}

// StatusOf returns what the manager of a singleton on this node knows. The name is the
// path under which it was spawned, without "/user/". ok is false when there is no such
// manager.
func StatusOf(s *actor.System, name string) (status Status, ok bool) {
	b, ok := extension.Get[*board](s)
	if !ok {
		return Status{}, false
	}
	return b.read(name)
}

// Statuses returns what is known of every singleton that has a manager in s, by name.
func Statuses(s *actor.System) []Status {
	b, ok := extension.Get[*board](s)
	if !ok {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.SortedFunc(maps.Values(b.statuses), func(x, y Status) int { return strings.Compare(x.Name, y.Name) })
	now := time.Now()
	for i := range all {
		all[i] = all[i].at(now)
	}
	return all
}

// A board holds the statuses of the singletons of a system.
type board struct {
	explain  sync.Once
	mu       sync.Mutex // guards statuses
	statuses map[string]Status
	most     int // statuses
}

// MaxPerNode is how many singletons a node may have managers for. Each costs every node of
// a cluster messages when it starts and when membership changes; many more than these, all
// at once, would fill the outboxes between nodes and take the processor from heartbeats.
// The manager of one more fails with [ErrTooMany].
const MaxPerNode = 20_000

// admit reports whether there is room for a singleton of that name.
func (b *board) admit(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.statuses[name]
	return known || len(b.statuses) < b.most
}

func boardOf(s *actor.System) *board {
	b := extension.Ensure(s, func() *board { return &board{statuses: make(map[string]Status), most: MaxPerNode} })
	b.explain.Do(func() { extension.OnAskTimeout(s, b.silence) })
	return b
}

func (b *board) read(name string) (Status, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.statuses[name]
	return s.at(time.Now()), ok
}

func (b *board) write(s Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.statuses[s.Name] = s
}

func (b *board) erase(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.statuses, name)
}
