package membership

import (
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// Settings configure the machine of one incarnation. They are values: the machine does not
// change them.
type Settings struct {
	Self         Member    // name, address, incarnation, roles and metadata of this incarnation
	Seeds        []string  // the first may found a cluster, unless there is discovery
	Discovers    bool      // there is discovery
	MinSeeds     int       // how many nodes it must have found before a cluster is founded
	Force        bool      // found one although not all have answered
	Known        []string  // where members of the cluster lived that this node was in before
	Earlier      []uint64  // incarnations of this node that have ended
	Founding     ClusterID // of a cluster that this node founds, should it
	Version      uint64    // of the last view of the incarnation before
	MinMembers   int
	MinMembersOf map[string]int // by role
	Detector     Detector
	Downing      downing.Strategy
	Leader       LeaderElection
	Rejoin       bool // as a new incarnation, when down
}

// The rhythms of a machine that nobody has needed to change.
const (
	askAgain         = 250 * time.Millisecond // between rounds of questions, at first
	askSeldom        = 2 * time.Second        // and after a while
	answerHolds      = 3 * time.Second        // how long it counts that there is no cluster
	askPatience      = 5 * time.Second        // which is this long
	askAtOnce        = 16                     // how many are asked at a time, by who founds nothing
	tellEvery        = 30 * time.Second       // between two reasons why there is no cluster, for people
	discoverAgain    = time.Second            // between questions to discovery, while there is no cluster
	discoverSeldom   = 30 * time.Second       // and when there is one
	discoveryHolds   = 10 * time.Second       // how long it counts what discovery has found
	discoveryStable  = 5 * time.Second        // how long that must have been the same before a cluster is founded
	vanishAfter      = time.Minute            // how long it takes to believe that an address will not be found again
	namePatience     = 3 * time.Second        // how long another member may keep our name before we give up
	greetEvery       = 2 * time.Second        // between rounds of greetings to addresses that are lost
	newsEvery        = 20 * time.Millisecond  // between heartbeats that are not due, but tell news
	requestHolds     = 30 * time.Second       // how long who asks for heartbeats gets them
	greetAtOnce      = 8                      // how many of them are greeted in a round
	departPatience   = 500 * time.Millisecond // how long a node that is gone waits to be noticed
	unknownFor       = 5 * time.Second        // how long heartbeats of an unknown sender may come until it is told
	tombstoneFor     = 24 * time.Hour         // how long removed members are remembered
	tombstoneAtLeast = 10 * time.Minute       // and whatever the date: calendars may be set wrongly
)
