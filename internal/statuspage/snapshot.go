package statuspage

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// A Source is what a status page shows. Its methods may be called by any goroutine.
type Source interface {
	// Refresh asks other members for what only they know, unless that is new enough, so that
	// the next snapshot has it. It blocks until they have answered, or for half a second.
	Refresh(ctx context.Context)

	// Snapshot returns how things are, and a channel that is closed when members have
	// changed; nil when they will not change any more, as the node has ended. What else is
	// in a snapshot may change at any time. It does not block.
	Snapshot() (Snapshot, <-chan struct{})
}

// A Snapshot is how a cluster looks from one node at one moment. The names of its fields
// in JSON are an interface that does not change; docs/status.md describes them.
type Snapshot struct {
	Cluster    string      `json:"cluster"`
	Version    uint64      `json:"version"` // grows with every change of members
	Time       time.Time   `json:"time"`    // of the node's clock
	Self       Member      `json:"self"`
	Leader     string      `json:"leader"` // the ID of a member, "" when there is none
	Converged  bool        `json:"converged"`
	Members    []Member    `json:"members"`
	Singletons []Singleton `json:"singletons"`

	SingletonsLeftOut int      `json:"singletonsLeftOut"` // as there are too many for one answer
	FiguresLeftOut    int      `json:"figuresLeftOut"`    // singletons of which their hosts have told nothing, as they have too many
	Unanswered        []string `json:"unanswered"`        // IDs of the members that have told nothing of theirs

	Waiting  []string `json:"waiting"` // why something does not move, in sentences
	Absent   []string `json:"absent"`  // addresses that a node without a cluster waits for in vain
	Actions  bool     `json:"actions"` // the handler has any
	Settings Settings `json:"settings"`
	Expected Expected `json:"expected"`
	Live     []Check  `json:"live"`
	Ready    []Check  `json:"ready"`
}

// A Member is one incarnation of a node.
type Member struct {
	ID            string            `json:"id"` // host:port#incarnation
	Name          string            `json:"name"`
	Address       string            `json:"address"`
	Status        string            `json:"status"`
	Number        uint64            `json:"number"` // the order of age, 0 while joining
	Roles         []string          `json:"roles"`
	Meta          map[string]string `json:"meta"`
	Reachable     bool              `json:"reachable"`
	UnreachableBy []string          `json:"unreachableBy"` // IDs of the members that do not hear from it
}

// A Singleton is what the node knows of a singleton.
type Singleton struct {
	Name       string     `json:"name"`
	Phase      string     `json:"phase"` // of the manager here, "" when there is none
	Since      *time.Time `json:"since"` // when the phase began
	Host       string     `json:"host"`  // the ID of the member that hosts it or is to, "" when none can or it is not known
	Here       bool       `json:"here"`  // the instance runs on this node
	Generation string     `json:"generation"`
	Term       uint64     `json:"term"`   // the highest that the cluster knows of
	Fenced     bool       `json:"fenced"` // the instance of that term fences its writes by a journal
	Managers   []string   `json:"managers"`
	Held       int        `json:"held"` // messages that wait here

	Unacknowledged int    `json:"unacknowledged"` // messages told here that may not have been handled, where that is known
	Dropped        uint64 `json:"dropped"`        // messages that had no room here
	Starts         uint64 `json:"starts"`         // of instances, here
	Failures       uint64 `json:"failures"`       // of instances, here
	GenerationTerm uint64 `json:"-"`              // the parts of Generation
	GenerationSeq  uint64 `json:"-"`

	Placement string `json:"placement"` // where it may be, in words
	Lease     string `json:"lease"`     // what protects it, "" without a lease
	LeaseHeld bool   `json:"leaseHeld"` // by this node
	Obstacle  string `json:"obstacle"`  // why the lease or a term was not got the last time, or why the lease was lost
	Mismatch  string `json:"mismatch"`  // in what this node's singleton is another one, "" when it is not

	WaitingFor []string   `json:"waitingFor"`
	NotBefore  *time.Time `json:"notBefore"`
	Why        string     `json:"why"` // why it does not run, "" when it does

	CrashLoop bool    `json:"crashLoop"` // the instance ends again and again before it has run well
	Nowhere   bool    `json:"nowhere"`   // no member can host it
	AtHost    *AtHost `json:"atHost"`    // nil when no host has told anything
}

// AtHost is what the member that hosts a singleton, or is about to, knows of it. What is
// counted is counted there, since its manager was spawned.
type AtHost struct {
	Member         string     `json:"member"` // its ID
	Phase          string     `json:"phase"`  // of its manager
	Since          *time.Time `json:"since"`
	Starts         uint64     `json:"starts"`
	Failures       uint64     `json:"failures"`
	RestartsInARow int        `json:"restartsInARow"`
	LastError      string     `json:"lastError"` // of the last instance that has failed there, "" when none has
	FailedAt       *time.Time `json:"failedAt"`
	Why            string     `json:"why"`
}

// mostSingletons is how many a page shows.
const mostSingletons = 1000

// bounded returns s with no more singletons than a page shows: those in trouble first, then
// those of which something is known, all in the order of s.
func (s Snapshot) bounded() Snapshot {
	left := len(s.Singletons) - mostSingletons
	if left <= 0 {
		return s
	}
	order := make([]int, len(s.Singletons))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Singletons[a].dullness(), s.Singletons[b].dullness()) })
	order = order[:mostSingletons]
	slices.Sort(order)
	shown := make([]Singleton, 0, mostSingletons)
	for _, i := range order {
		shown = append(shown, s.Singletons[i])
	}
	s.Singletons, s.SingletonsLeftOut = shown, left
	return s
}

// dullness is less for what people should rather see.
func (s Singleton) dullness() int {
	switch {
	case s.CrashLoop || s.Nowhere || s.Mismatch != "":
		return 0
	case s.Why != "":
		return 1
	case s.AtHost != nil:
		return 2
	}
	return 3
}

// Settings are what a cluster was started with.
type Settings struct {
	Seeds                    []string `json:"seeds"`
	Downing                  string   `json:"downing"`
	Leader                   string   `json:"leader"`
	MinMembers               int      `json:"minMembers"`
	StayDown                 bool     `json:"stayDown"`
	HeartbeatIntervalSeconds float64  `json:"heartbeatIntervalSeconds"`
	AcceptablePauseSeconds   float64  `json:"acceptablePauseSeconds"`
	Threshold                float64  `json:"threshold"`
}

// Expected are the times that follow from the settings, on a quiet network.
type Expected struct {
	DetectionSeconds      float64  `json:"detectionSeconds"`
	FailoverSeconds       *float64 `json:"failoverSeconds"`       // of what is fenced; nil is never, unless somebody is asked
	UnfencedMarginSeconds float64  `json:"unfencedMarginSeconds"` // on top of that, for what is not fenced
}

// A Check is one condition of being live or ready.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"` // why not
}

// encode returns s as JSON of one line. It escapes what HTML would take for markup.
func (s Snapshot) encode() ([]byte, error) { return json.Marshal(s) }

// key returns what two snapshots that differ in nothing but the time have in common.
func (s Snapshot) key() (string, error) {
	s.Time = time.Time{}
	b, err := s.encode()
	return string(b), err
}
