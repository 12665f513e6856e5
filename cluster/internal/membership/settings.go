package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// Settings configure the machine of one incarnation. The machine does not change them.
type Settings struct {
	Self         Member    // name, address, incarnation, roles and metadata of this incarnation
	Seeds        []string  // the first seed may found a cluster, unless there is discovery
	Discovers    bool      // whether there is discovery
	MinSeeds     int       // how many nodes discovery must have found before this node founds a cluster
	Force        bool      // found a cluster although not all nodes have answered
	Known        []string  // member addresses of the cluster that this node was in before
	Earlier      []uint64  // incarnations of this node that have ended
	Founding     ClusterID // the ID of the cluster, if this node founds one
	Version      uint64    // the version of the last view of the previous incarnation
	MinMembers   int
	MinMembersOf map[string]int // by role
	Detector     Detector
	Downing      downing.Strategy
	Leader       LeaderElection
	Lost         string // why the incarnation before this one was taken down, or ""
	Rejoin       bool   // join as a new incarnation after this one was taken down
}

// The intervals and limits of a machine. They cannot be configured.
const (
	askAgain         = 250 * time.Millisecond // between rounds of questions, during askPatience
	askSeldom        = 2 * time.Second        // between rounds of questions, after askPatience
	answerHolds      = 3 * time.Second        // how long the answer that there is no cluster is valid
	askPatience      = 5 * time.Second        // how long this node asks often before it asks seldom
	askAtOnce        = 16                     // how many nodes a non-founder asks at a time
	tellEvery        = 30 * time.Second       // between two log lines that say why there is no cluster
	discoverAgain    = time.Second            // between calls of discovery, while joining
	discoverSeldom   = 30 * time.Second       // between calls of discovery, as a member
	discoveryHolds   = 10 * time.Second       // how long an answer of discovery is valid
	discoveryStable  = 5 * time.Second        // unchanged answer before a cluster is founded
	vanishAfter      = time.Minute            // how long an address is missing until ignored
	namePatience     = 3 * time.Second        // how long a name conflict may last
	greetEvery       = 2 * time.Second        // between rounds of greetings to lost addresses
	newsEvery        = 20 * time.Millisecond  // between heartbeats that are sent early because of news
	requestHolds     = 30 * time.Second       // how long a node gets requested heartbeats
	greetAtOnce      = 8                      // how many lost addresses are greeted in a round
	departPatience   = 500 * time.Millisecond // how long a departing node waits for acknowledgements
	unknownFor       = 5 * time.Second        // heartbeats of an unknown node until youAreDown
	tombstoneFor     = 24 * time.Hour         // how long tombstones are kept, by date
	tombstoneAtLeast = 10 * time.Minute       // minimum for tombstones; a calendar may be wrong
)

// An agreement holds the settings that the members of a cluster must share.
type agreement struct {
	_       struct{} `cbor:",toarray"`
	Downing []string // names of the strategies; two nodes must share one
	Leader  string   // the name of the election
	Minimum string   // how many members must join before the first is up; irrelevant afterwards
}

func (r Settings) agreement() agreement {
	return agreement{Downing: downing.Names(r.Downing), Leader: r.Leader.Name, Minimum: r.minimum()}
}

// minimum describes how many members must join before the first is up. Users see the text, and
// admission compares it between nodes.
func (r Settings) minimum() string {
	all := []string{fmt.Sprintf("at least %d members", r.MinMembers)}
	for _, role := range slices.Sorted(maps.Keys(r.MinMembersOf)) {
		if r.MinMembersOf[role] > 0 {
			all = append(all, fmt.Sprintf("%d with the role %q", r.MinMembersOf[role], role))
		}
	}
	return strings.Join(all, ", ")
}

func (a agreement) check() error {
	return checkTexts(append([]string{a.Leader, a.Minimum}, a.Downing...), maxText)
}

func (a agreement) difference(o agreement) string {
	var all []string
	if !slices.Equal(a.Downing, o.Downing) {
		all = append(all, fmt.Sprintf("it has downing %s, this node has %s", strings.Join(o.Downing, " and "), strings.Join(a.Downing, " and ")))
	}
	if a.Minimum != o.Minimum {
		all = append(all, fmt.Sprintf("it has %s, this node has %s", o.Minimum, a.Minimum))
	}
	return strings.Join(all, "; ")
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
