package statuspage

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/cronstatus"
	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
	"github.com/understudy-go/understudy/internal/storestatus"
)

// Details are what a node depends on and takes part in: other nodes, stores, placement, and types
// of entities. The JSON names of its fields are a stable interface; docs/status.md describes them.
type Details struct {
	Time        time.Time                 `json:"time"` // by the clock of the operating system
	Links       []Link                    `json:"links"`
	LinksLeft   int                       `json:"linksLeftOut"`
	Journals    []storestatus.Journal     `json:"journals"`
	Projections []storestatus.Projection  `json:"projections"`
	Placement   *placementstatus.Overview `json:"placement"` // nil: none was started here, or there is no answer

	PlacementFailure string `json:"placementFailure"` // why the coordinator has not answered, or ""

	EntityTypes     []shardstatus.Type     `json:"entityTypes"`     // that this node has started
	Homeless        []shardstatus.Homeless `json:"homeless"`        // shards that run nowhere, and why
	HomelessFailure string                 `json:"homelessFailure"` // why the coordinator of the shards has not answered, or ""

	Schedules []cronstatus.Schedule `json:"schedules"` // that were started on this node
}

// A Link is the connection with another node.
type Link struct {
	Peer  string     `json:"peer"`  // its address
	Name  string     `json:"name"`  // of the member at that address, "" if none is there
	State string     `json:"state"` // refused, failing, connecting, connected or receiving
	Since *time.Time `json:"since"` // when the state began; nil for receiving

	Queued  int    `json:"queued"`  // messages, and parts of messages, that wait to be written
	InDoubt int    `json:"inDoubt"` // those that were written, and are not acknowledged
	Bytes   int    `json:"bytes"`   // of both
	Full    bool   `json:"full"`    // the queue has no room
	Dropped uint64 `json:"dropped"` // since the first message to the peer

	SentMessages     uint64 `json:"sentMessages"`
	SentBytes        uint64 `json:"sentBytes"`
	Resent           uint64 `json:"resent"`
	ReceivedMessages uint64 `json:"receivedMessages"`
	ReceivedBytes    uint64 `json:"receivedBytes"`

	LastError   string     `json:"lastError"` // why a connection or an attempt has failed last, or ""
	LastErrorAt *time.Time `json:"lastErrorAt"`
}

// Links in these states send nothing.
const (
	LinkRefused = "refused" // one of the two nodes refuses the other
	LinkFailing = "failing" // it cannot connect, or has lost the connection
)

const mostLinks = 1000

// Links in trouble come first, then the longest queues.
func (d Details) bounded() Details {
	links := slices.Clone(d.Links)
	slices.SortStableFunc(links, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Queued, a.Queued), strings.Compare(cmp.Or(a.Name, a.Peer), cmp.Or(b.Name, b.Peer)))
	})
	d.LinksLeft = max(0, len(links)-mostLinks)
	d.Links = append([]Link{}, links[:len(links)-d.LinksLeft]...)
	d.Journals = append([]storestatus.Journal{}, d.Journals...) // not null in JSON
	d.Projections = append([]storestatus.Projection{}, d.Projections...)
	d.EntityTypes = append([]shardstatus.Type{}, d.EntityTypes...)
	d.Schedules = append([]cronstatus.Schedule{}, d.Schedules...)
	d.Homeless = append([]shardstatus.Homeless{}, d.Homeless...)
	return d
}

func (l Link) rank() int {
	switch {
	case l.State == LinkRefused, l.State == LinkFailing:
		return 0
	case l.Full:
		return 1
	}
	return 2
}

func (h *handler) details(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	answer(w, h.source.Details().bounded())
}
