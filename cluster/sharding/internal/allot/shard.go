package allot

import (
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/remote"
)

// A shard is what is known of one shard.
type shard struct {
	typ    *kind
	number int
	label  string
	stage  stage
	home.Record
	since     time.Time // of stage
	met       bool      // this coordinator has started it, or has found where it runs
	failures  int       // in a row
	lastError string
	retryAt   time.Time
	moves     uint64
	former    []remote.NodeID // the nodes on which it may have run since it began for the last time
	chosenBy  string          // the strategy that has chosen its node; "" if a former coordinator has, or it has none
}

// A stage is what the machine is doing with a shard.
type stage uint8

const (
	homeless stage = iota
	starting       // requested from its node
	settled        // its node has said that it runs
	leaving        // being stopped in order to be allotted again
)

// A kind is a type of entities.
type kind struct {
	table.Type
	next            int           // the number of shards that it is about to have; 0 if it stays
	declaredAt      table.Version // of the table with that number; zero if it has not changed
	shards          []*shard      // also those that a type of daemons has no more: their generations never go back
	strategyProblem string        // why the user's strategy has not chosen the last time; "" if it has
}

func newKind(t table.Type) *kind {
	k := &kind{Type: t}
	k.grow(t.Shards)
	return k
}

// grow adds the shards that are missing for that number of them.
func (k *kind) grow(to int) {
	for n := len(k.shards); n < to; n++ {
		k.shards = append(k.shards, &shard{typ: k, number: n, label: Label(k.Name, n)})
	}
}

// live returns the shards that the type has now.
func (k *kind) live() []*shard { return k.shards[:k.Shards] }

// loads returns how many shards each node has.
func (k *kind) loads() map[home.NodeID]int {
	all := map[home.NodeID]int{}
	for _, s := range k.live() {
		if s.stage != homeless {
			all[s.On()]++
		}
	}
	return all
}

// inTransit reports whether a shard is between nodes.
func (k *kind) inTransit() bool {
	for _, s := range k.live() {
		if s.stage != settled {
			return true
		}
	}
	return false
}

// Label returns the label of a shard.
func Label(typ string, shard int) string { return typ + "/" + strconv.Itoa(shard) }

// ParseLabel returns the type and the number of a shard. It returns false if no shard has that
// label.
func ParseLabel(label string) (typ string, shard int, ok bool) {
	at := strings.LastIndexByte(label, '/')
	if at < 0 {
		return "", 0, false
	}
	shard, err := strconv.Atoi(label[at+1:])
	return label[:at], shard, err == nil && shard >= 0
}

// A StartState is what a node needs to start a shard besides its label: the state of a request.
type StartState struct {
	_      struct{}        `cbor:",toarray"`
	Lease  uint64          // the token of the lease under which it must start the shard; 0 for none
	Shards int             // how many daemons the type has; 0 for other types
	Fenced bool            // the node must run event-sourced entities only
	Former []remote.NodeID // the nodes on which it may have run since it began for the last time
}

// state returns the state of a request to start the shard.
func (sh *shard) state() []byte {
	s := StartState{Lease: sh.Lease, Fenced: sh.fenced(), Former: sh.former}
	if sh.typ.Mode == table.Daemons {
		s.Shards = sh.typ.Shards
	}
	return home.Encode(s)
}

// ParseState is the inverse. It returns the zero StartState for any other data.
func ParseState(state []byte) StartState { return home.Decode[StartState](state) }
