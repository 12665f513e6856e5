package membership

import (
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
