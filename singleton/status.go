package singleton

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A Phase is the state of the manager of one node.
type Phase string

// The phases of a manager.
const (
	Pending     = Phase(handover.Pending)     // this node is not up, or no node can host
	Standby     = Phase(handover.Standby)     // another node hosts
	Asking      = Phase(handover.Asking)      // this node is to host, and asks the others for permission
	Acquiring   = Phase(handover.Acquiring)   // it has permission, and acquires the lease or a term
	Host        = Phase(handover.Host)        // the instance is here, or is about to be restarted
	HandingOver = Phase(handover.HandingOver) // the instance has been told to stop, to run on another node
	Stopping    = Phase(handover.Stopping)    // the instance has been told to stop, because this node is down or has lost the lease
	Ended       = Phase(handover.Ended)       // the singleton has finished, see [Finish]
)

// A Status is what the manager of one node knows of its singleton.
type Status struct {
	Name  string
	Phase Phase
	Since time.Time // when the phase began

	// Host is the address of the node that hosts the singleton or is to, "" when none can. Here
	// reports that it is this node and the instance runs.
	Host string
	Here bool

	// Placement says for people where the singleton may be.
	Placement string

	// Mismatch says how the settings of this node's singleton differ from those of the other nodes,
	// "" when they do not. It then takes no part: messages told to it become dead letters with
	// [ErrMismatch].
	Mismatch string

	// Generation is that of the instance here, or of the last that was here.
	Generation Generation

	Held   int    // messages that wait on this node now
	Kept   uint64 // how many messages told here have ever had to wait
	Closed bool   // newly told messages wait behind those being recalled from the previous host

	// Unacknowledged is the number of messages told here that an instance may not have handled, with
	// [AtLeastOnce]. Messages that wait for the window are in Held instead.
	Unacknowledged int
	// Dropped counts messages that became dead letters here because the buffer was full.
	Dropped uint64

	Starts   uint64 // how many instances have started here
	Failures uint64 // how many have failed here, while starting or later

	// LastError is the error with which the last instance that failed here has failed, and FailedAt
	// the time; nil and zero while none has.
	LastError error
	FailedAt  time.Time

	// RestartsInARow is how many times in a row the instance has ended here by itself, with an error
	// or without, and was or will be restarted. It is 0 on other nodes than the host, and once an
	// instance has run for as long as the delays of [RestartBackoff] take to start over.
	RestartsInARow int
	wellAt         time.Time // when the running instance will have run for that long

	// Why says why no instance runs, as far as this node knows; "" when it knows no reason.
	Why string

	// WaitingFor has the addresses of the members whose answer an asking node waits for.
	WaitingFor []string
	// NotBefore is when an asking node may start an instance, if not now: former members may still
	// be stopping, or the last instance has failed. For an acquiring node it is the next attempt.
	NotBefore time.Time

	// Stuck is when the instance on this node was told to stop, if it does not because one of its
	// handlers does not return. It is zero otherwise, and until that is certain. See [Stuck].
	Stuck time.Time

	Lease     string // the lease that protects the singleton, "" without one
	LeaseHeld bool   // by this node
	Obstacle  error  // why the lease or the term was not acquired in the last attempt, or why the lease was lost
}

// failed notes the error with which an instance has ended.
func (s *Status) failed(err error, now time.Time) {
	s.Failures++
	s.LastError, s.FailedAt = err, now
}

// crashLoop is how many restarts in a row make a crash loop.
const crashLoop = 3

// CrashLoop reports whether the instance has ended at least three times in a row before it had run
// well.
func (s Status) CrashLoop() bool { return s.RestartsInARow >= crashLoop }

// at returns s as of a time after it was written.
func (s Status) at(now time.Time) Status {
	if !s.wellAt.IsZero() && !now.Before(s.wellAt) {
		s.RestartsInARow, s.wellAt = 0, time.Time{}
	}
	return s
}

// StatusOf returns what the manager of a singleton in s knows. The name is the path of the manager
// without "/user/". ok is false when there is no such manager.
func StatusOf(s *actor.System, name string) (status Status, ok bool) {
	r, ok := extension.Get[*registry](s)
	if !ok {
		return Status{}, false
	}
	return r.read(name)
}

// Statuses returns the status of every singleton that has a manager in s, sorted by name.
func Statuses(s *actor.System) []Status {
	r, ok := extension.Get[*registry](s)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.statuses), func(x, y Status) int { return strings.Compare(x.Name, y.Name) })
	now := time.Now()
	for i := range all {
		all[i] = all[i].at(now)
	}
	return all
}

// A registry has the statuses of the singletons of a system.
type registry struct {
	explain  sync.Once
	mu       sync.Mutex // guards statuses
	statuses map[string]Status
	most     int // statuses
}

// admit reports whether there is room for the singleton of that name.
func (r *registry) admit(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.statuses[name]
	return known || len(r.statuses) < r.most
}

func registryOf(s *actor.System) *registry {
	r := extension.Ensure(s, func() *registry { return &registry{statuses: make(map[string]Status), most: MaxPerNode} })
	r.explain.Do(func() { extension.OnAskTimeout(s, r.unavailable) })
	return r
}

func (r *registry) read(name string) (Status, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.statuses[name]
	return s.at(time.Now()), ok
}

func (r *registry) write(s Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statuses[s.Name] = s
}

func (r *registry) erase(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.statuses, name)
}

// unavailable explains why an ask of a singleton got no reply, see [extension.OnAskTimeout].
func (r *registry) unavailable(path string) error {
	s, ok := r.read(nameOf(path))
	switch {
	case !ok:
		return nil
	case s.Phase == Ended:
		return ErrFinished
	case s.Why != "":
		return fmt.Errorf("%w: %s", ErrUnavailable, s.Why)
	case s.Phase == Standby && s.Held > 0:
		return fmt.Errorf("%w: its host %s does not take messages yet", ErrUnavailable, s.Host)
	}
	return nil
}
