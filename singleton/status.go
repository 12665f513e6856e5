package singleton

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A Phase is the state of the manager of one node.
type Phase string

// The phases of a manager.
const (
	Pending     = Phase(handover.Pending)     // no node can host, or this node is down or takes no part
	Standby     = Phase(handover.Standby)     // another node hosts
	Asking      = Phase(handover.Asking)      // this node is to host, and asks the others for permission
	Acquiring   = Phase(handover.Acquiring)   // it has permission, and acquires the lease or a term
	Host        = Phase(handover.Host)        // the instance is here, or is about to be restarted
	HandingOver = Phase(handover.HandingOver) // the instance is stopping, to run on another node
	Stopping    = Phase(handover.Stopping)    // the instance is stopping: this node is down, has lost the lease or has been overtaken
	Ended       = Phase(handover.Ended)       // the singleton has finished, see [Finish]
)

// A Status is what the manager of one node knows of its singleton.
type Status struct {
	Name  string
	Phase Phase
	Since time.Time // when the phase began

	// Host is the address of the node that hosts the singleton or is to host it; "" when no node
	// can. Here reports whether it is this node and the instance runs.
	Host string
	Here bool

	// Placement describes for people where the singleton may run.
	Placement string

	// Mismatch describes how the settings of this node's singleton differ from those of the other
	// nodes; "" when they do not. A node with other settings takes no part: messages sent to the
	// singleton there become dead letters with [ErrMismatch].
	Mismatch string

	// Generation is the generation of the instance here, or of the last one that ran here.
	Generation Generation

	Held   int    // messages that wait on this node now
	Kept   uint64 // how many messages sent here have ever had to wait
	Closed bool   // new messages wait behind those being recalled from the previous host

	// Unacknowledged is the number of messages sent here that an instance may not have handled,
	// with [AtLeastOnce]. Messages that wait for the window are in Held instead.
	Unacknowledged int
	// Dropped counts messages that became dead letters here because the buffer was full.
	Dropped uint64
	// GivenUp counts messages sent here that were given up, see [Attempts], and PutAside is the
	// number of those that this node keeps now, see [ListGivenUp].
	GivenUp  uint64
	PutAside int

	Starts   uint64 // how many instances have started here
	Failures uint64 // how many have failed here, while starting or later

	// LastError is the error of the last instance that failed here, and FailedAt the time of the
	// failure. They are nil and zero if none has failed.
	LastError error
	FailedAt  time.Time

	// RestartsInARow is how many times in a row the instance has ended here by itself, with or
	// without an error, and was or will be restarted. It is 0 on nodes other than the host. It
	// returns to 0 when an instance has run long enough for the delays of [RestartBackoff] to start
	// over.
	RestartsInARow int
	wellAt         time.Time // when the running instance will have run for that long

	// Why is the reason why no instance runs, as far as this node knows it; "" when it knows none.
	Why    string
	outage string // since when messages wait, and until when if a node has died
	waits  bool   // messages wait here, and not only for room in the window of AtLeastOnce
	cause  error  // what keeps the instance here from starting; nil if nothing is known

	// WaitingFor lists the addresses of the members whose answer an asking node waits for.
	WaitingFor []string
	// NotBefore is the earliest time at which an asking node may start an instance, if not now:
	// former members may still be stopping, or the last instance has failed. For an acquiring node
	// it is the time of the next attempt.
	NotBefore time.Time

	// Stuck is the time when the instance on this node was told to stop, if it does not end because
	// one of its handlers does not return. It is zero otherwise, and until the instance is
	// reported. See [Stuck].
	Stuck time.Time

	Lease       string // the lease that protects the singleton, "" without one
	LeaseHeld   bool   // by this node
	LeaseLosses uint64 // how often this node has lost it
	Obstacle    error  // why the last attempt to acquire the lease or the term failed, or why the lease was lost
}

func (s *Status) failed(err error, now time.Time) {
	s.Failures++
	s.LastError, s.FailedAt = err, now
}

const crashLoop = 3

// CrashLoop reports whether the instance has ended at least three times in a row without running
// long enough in between; see RestartsInARow.
func (s Status) CrashLoop() bool { return s.RestartsInARow >= crashLoop }

func (s Status) at(now time.Time) Status {
	if !s.wellAt.IsZero() && !now.Before(s.wellAt) {
		s.RestartsInARow, s.wellAt = 0, time.Time{}
	}
	return s
}

// StatusOf returns the status of a singleton's manager in s. The name is the path of the manager
// without "/user/". ok is false if there is no such manager.
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
	aside := r.givenUp.counts()
	for i := range all {
		all[i] = all[i].at(now)
		all[i].PutAside = aside[all[i].Name]
	}
	return all
}

type registry struct {
	begin    sync.Once
	mu       sync.Mutex // guards statuses
	statuses map[string]Status
	most     int // the maximum number of statuses
	proxies  proxies
	measured measured
	givenUp  givenUpMessages
}

func (r *registry) admit(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.statuses[name]
	return known || len(r.statuses) < r.most
}

func registryOf(s *actor.System) *registry {
	r := extension.Ensure(s, func() *registry { return &registry{statuses: make(map[string]Status), most: MaxPerNode} })
	r.begin.Do(func() {
		extension.OnAskTimeout(s, r.unavailable)
		telemetry.AddSource(s, func() []telemetry.Family { return families(Statuses(s), r.measured.read()) })
	})
	return r
}

func (r *registry) read(name string) (Status, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.statuses[name]
	s.PutAside = r.givenUp.counts()[name]
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
		return r.proxies.unavailable(path)
	case s.Phase == Ended:
		return ErrFinished
	case s.obstacle() != "":
		return s.unavailable()
	}
	return nil
}

func (s *Status) unavailable() error {
	why := s.obstacle()
	if why == "" {
		why = "there is no instance that takes messages yet"
	}
	err := fmt.Errorf("%w: %s%s", ErrUnavailable, why, s.outage)
	switch {
	case s.cause == nil:
		return err
	case strings.Contains(why, s.cause.Error()):
		return &caused{err, s.cause}
	}
	return fmt.Errorf("%w: %w", err, s.cause)
}

// A caused is an error whose text has the text of its cause.
type caused struct{ err, cause error }

func (e *caused) Error() string { return e.err.Error() }

func (e *caused) Unwrap() []error { return []error{e.err, e.cause} }

// obstacle is Why, or what messages wait for on a node that does not host.
func (s *Status) obstacle() string {
	if s.Why == "" && s.Phase == Standby && s.waits {
		return fmt.Sprintf("its host %s does not take messages yet", s.Host)
	}
	return s.Why
}
