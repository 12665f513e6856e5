package statuspage

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/status"
)

// Actors are what the actors of this node do. The JSON names of its fields are a stable interface;
// docs/status.md describes them.
type Actors struct {
	Time         time.Time        `json:"time"`     // by the clock of the operating system
	Stuck        string           `json:"stuck"`    // why nothing happens, in a sentence, "" if no reason is known
	Problems     []status.Problem `json:"problems"` // circles of asks, the slowest handler, and actors that are behind
	Kinds        []ActorKind      `json:"kinds"`    // those with most waiting messages first
	KindsLeftOut int              `json:"kindsLeftOut"`

	Runners int `json:"runners"` // goroutines that run actors
	Ready   int `json:"ready"`   // actors that wait for a runner
	Blocked int `json:"blocked"` // handlers
	Slow    int `json:"slow"`    // handlers, for a second or longer

	Handlers []Handler  `json:"handlers"` // under way, slowest first
	Asks     []Ask      `json:"asks"`     // inside handlers, oldest first
	AsksLeft int        `json:"asksLeftOut"`
	Circles  [][]string `json:"circles"` // paths; each waits for the next, and the last for the first

	Backlogs []Backlog `json:"backlogs"` // of the actors of all nodes that are most behind, first
}

// A Backlog is what waits for one actor, on any node.
type Backlog struct {
	Node          string            `json:"node"`  // the name of the member
	Actor         string            `json:"actor"` // path, with the node
	Kind          string            `json:"kind"`
	Waiting       int               `json:"waiting"`       // messages
	OldestSeconds float64           `json:"oldestSeconds"` // for how long its oldest request has waited or been handled; 0 if that is not known
	AskSeconds    float64           `json:"askSeconds"`    // how long the ask of that request waits in all
	Dropped       map[string]uint64 `json:"dropped"`       // messages that have become dead letters, by reason
	Why           string            `json:"why"`           // which limits it exceeds, in sentences, "" if none
}

// An ActorKind has the numbers of the actors of one kind.
type ActorKind struct {
	Name     string            `json:"name"`
	Actors   uint64            `json:"actors"`
	Messages uint64            `json:"messages"` // handled
	Waiting  int               `json:"waiting"`
	Oldest   float64           `json:"oldestSeconds"` // for how long the oldest request has waited or been handled; 0 if that is not known
	Stashed  int64             `json:"stashed"`
	Dropped  map[string]uint64 `json:"dropped"` // messages that have become dead letters, by reason
	Failures uint64            `json:"failures"`
	Restarts uint64            `json:"restarts"`
	Timed    uint64            `json:"timed"`       // messages in the sample of the following two
	Mean     float64           `json:"meanSeconds"` // of handling a message
	Most     float64           `json:"p99Seconds"`  // 99 of 100 messages took at most that
}

// A Handler is a handler that is under way.
type Handler struct {
	Path    string  `json:"path"`
	Kind    string  `json:"kind"`
	Message string  `json:"message"` // the message type of the actor
	Seconds float64 `json:"seconds"` // for at least as long
	Blocked bool    `json:"blocked"`
}

// An Ask is an ask inside a handler that has no reply yet.
type Ask struct {
	Asker   string  `json:"asker"` // path
	Asked   string  `json:"asked"`
	Seconds float64 `json:"seconds"`
}

const mostKinds = 1000

// The kinds keep their order.
func (a Actors) bounded() Actors {
	kinds := slices.Clone(a.Kinds)
	slices.SortFunc(kinds, func(a, b ActorKind) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Messages, a.Messages), strings.Compare(a.Name, b.Name))
	})
	a.KindsLeftOut = max(0, len(kinds)-mostKinds)
	a.Kinds = append([]ActorKind{}, kinds[:len(kinds)-a.KindsLeftOut]...)
	a.Backlogs = append([]Backlog{}, a.Backlogs...)
	return a
}

func (h *handler) actors(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	a := h.source.Actors()
	s, _ := snapshotOf(h.source)
	a.Stuck, a.Problems = stuck(s, a), a.problems()
	answer(w, a.bounded())
}
