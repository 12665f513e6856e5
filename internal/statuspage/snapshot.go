package statuspage

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// A Source provides the snapshots of a status page. Its methods may be called by any goroutine.
type Source interface {
	// Refresh asks other members for data that only they have, so that the next snapshot and the
	// next details contain it. If the data is new enough it does nothing. It blocks until they have
	// answered, at most for half a second.
	Refresh(ctx context.Context)

	// Snapshot returns the current snapshot, and a channel that is closed when the members have
	// changed. The channel is nil once the node has ended, because the members do not change any
	// more. The rest of a snapshot may change at any time. Snapshot does not block.
	Snapshot() (Snapshot, <-chan struct{})

	// DeadLetters returns all that the node has kept. It does not block.
	DeadLetters() DeadLetters

	// GivenUp returns the messages to singletons that the node has put aside, the oldest first. It
	// does not block.
	GivenUp() GivenUp

	// History returns what the node has decided and noticed. It does not block.
	History() History

	// Actors returns what the actors of the node do, with all kinds in any order. It does not
	// block, and takes some milliseconds for 100 000 actors.
	Actors() Actors

	// Details returns the fields of the JSON under /details as of the last Refresh, and what is
	// wrong. It does not block. Package status says where they come from.
	Details() (details map[string]any, problems []status.Problem)
}

func snapshotOf(source Source) (Snapshot, <-chan struct{}) {
	s, changed := source.Snapshot()
	_, s.Problems = source.Details()
	return s, changed
}

// A Snapshot is the state of a cluster as one node sees it. The JSON names of its fields are a
// stable interface; docs/status.md describes them.
type Snapshot struct {
	Cluster    string      `json:"cluster"`
	Version    uint64      `json:"version"` // grows with each change of members
	Time       time.Time   `json:"time"`    // by the clock of the operating system
	Self       Member      `json:"self"`
	Leader     string      `json:"leader"` // its ID, "" if there is no leader
	Converged  bool        `json:"converged"`
	Members    []Member    `json:"members"`
	Singletons []Singleton `json:"singletons"`

	SingletonsLeftOut int      `json:"singletonsLeftOut"` // beyond mostSingletons
	FiguresLeftOut    int      `json:"figuresLeftOut"`    // singletons that hosts left out as too many
	Unanswered        []string `json:"unanswered"`        // IDs of members without figures

	AppVersions []string          `json:"appVersions"` // of the members that are up, without repetition
	Skipped     map[string]uint64 `json:"skipped"`     // messages of unknown kinds, by kind

	// DeadLetters counts those of this node by reason. It may never rest, so it is in the stream of
	// events, but a change of it alone is no event.
	DeadLetters map[string]uint64 `json:"deadLetters"`

	Waiting  []string         `json:"waiting"`  // why the node makes no progress, in sentences
	Problems []status.Problem `json:"problems"` // of the details; the handler finds them
	Absent   []string         `json:"absent"`   // addresses that do not answer a joining node
	Actions  bool             `json:"actions"`  // the page may request actions
	States   bool             `json:"states"`   // the page may request states
	Settings Settings         `json:"settings"`
	Expected Expected         `json:"expected"`
	Live     []Check          `json:"live"`
	Ready    []Check          `json:"ready"`
}

// A Member is one incarnation of a node.
type Member struct {
	ID            string            `json:"id"` // host:port#incarnation
	Name          string            `json:"name"`
	Address       string            `json:"address"`
	Status        string            `json:"status"`
	Number        uint64            `json:"number"` // up-number; 0 while joining
	Roles         []string          `json:"roles"`
	Meta          map[string]string `json:"meta"`
	AppVersion    string            `json:"appVersion"`
	Reachable     bool              `json:"reachable"`
	UnreachableBy []string          `json:"unreachableBy"` // IDs of the members that do not hear from it
}

// A Singleton is one singleton as the node sees it.
type Singleton struct {
	Name       string     `json:"name"`
	Phase      string     `json:"phase"` // of the manager here, "" without one
	Since      *time.Time `json:"since"` // when the phase began
	Host       string     `json:"host"`  // ID of the current or next host, "" if none or unknown
	Here       bool       `json:"here"`  // the instance runs on this node
	Generation string     `json:"generation"`
	Term       uint64     `json:"term"`   // the highest term that the cluster knows
	Fenced     bool       `json:"fenced"` // a journal fences the instance of that term
	Managers   []string   `json:"managers"`
	Held       int        `json:"held"` // messages buffered here

	Unacknowledged int    `json:"unacknowledged"` // sent here and maybe not handled
	Dropped        uint64 `json:"dropped"`        // messages dropped here: the buffer was full
	Starts         uint64 `json:"starts"`         // of instances on this node
	Failures       uint64 `json:"failures"`       // of instances on this node

	Placement string `json:"placement"` // where it may run, in words
	Lease     string `json:"lease"`     // the lease that protects it, "" without one
	LeaseHeld bool   `json:"leaseHeld"` // by this node
	Obstacle  string `json:"obstacle"`  // the last error of the lease or of a new term
	Mismatch  string `json:"mismatch"`  // how the singleton differs from the other nodes, or ""

	WaitingFor []string   `json:"waitingFor"`
	NotBefore  *time.Time `json:"notBefore"`
	Why        string     `json:"why"` // why it does not run, "" if it runs

	CrashLoop bool    `json:"crashLoop"` // the instance ends again and again before it has run well
	Nowhere   bool    `json:"nowhere"`   // no member can host it
	AtHost    *AtHost `json:"atHost"`    // nil if no host has sent figures
}

// AtHost has the figures of the current or next host of a singleton. It counts since the manager on
// that host was spawned.
type AtHost struct {
	Member         string     `json:"member"` // its ID
	Phase          string     `json:"phase"`  // of its manager
	Since          *time.Time `json:"since"`
	Starts         uint64     `json:"starts"`
	Failures       uint64     `json:"failures"`
	RestartsInARow int        `json:"restartsInARow"`
	LastError      string     `json:"lastError"` // of the last failed instance, or ""
	FailedAt       *time.Time `json:"failedAt"`
	Why            string     `json:"why"`
}

const mostSingletons = 1000

// The singletons keep their order. Those with problems are preferred, then those with figures.
func (s Snapshot) bounded() Snapshot {
	left := len(s.Singletons) - mostSingletons
	if left <= 0 {
		return s
	}
	order := make([]int, len(s.Singletons))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Singletons[a].rank(), s.Singletons[b].rank()) })
	order = order[:mostSingletons]
	slices.Sort(order)
	shown := make([]Singleton, 0, mostSingletons)
	for _, i := range order {
		shown = append(shown, s.Singletons[i])
	}
	s.Singletons, s.SingletonsLeftOut = shown, left
	return s
}

func (s Singleton) rank() int {
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

// Settings are the settings with which the node was started.
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

// Expected has the times that follow from the settings, on a quiet network.
type Expected struct {
	DetectionSeconds      float64  `json:"detectionSeconds"`
	FailoverSeconds       *float64 `json:"failoverSeconds"`       // if fenced; nil: operator decides
	UnfencedMarginSeconds float64  `json:"unfencedMarginSeconds"` // added if unfenced
}

// A Check is one condition of being live or ready.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"` // why it failed
}

func (s Snapshot) encode() ([]byte, error) { return json.Marshal(s) }

// What may never rest is left out: equal keys mean that nothing else has changed.
func (s Snapshot) key() (string, error) {
	s.Time, s.DeadLetters = time.Time{}, nil
	b, err := s.encode()
	return string(b), err
}

func (h *handler) details(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	details, _ := h.source.Details()
	answer(w, details)
}
