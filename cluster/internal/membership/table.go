package membership

import (
	"encoding/hex"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/remote"
)

// A ClusterID tells clusters of one name apart. The node that founds a cluster draws it.
type ClusterID [16]byte

func (c ClusterID) String() string { return hex.EncodeToString(c[:4]) }

// A table is what a node knows of its cluster, or a part of that. Tables form a
// join-semilattice: see merge.
type table struct {
	cluster    ClusterID
	members    map[ID]Member    // members that are not removed
	tombstones map[ID]tombstone // removed members
	rows       map[ID]row       // what each member reports about the others
}

// A tombstone records that a member was removed, so that no late news revives it.
type tombstone struct {
	Name     string
	UpNumber uint64
	Clean    bool     // nothing of it runs any more: it said so, or was replaced at its address
	At       int64    // when it was removed, in seconds of Unix time
	Roles    []string // empty if Clean
}

// A row is what one member reports. Only that member writes it, so the newer version is right.
type row struct {
	Version     uint64
	Unreachable []ID // sorted
}

func newTable(c ClusterID) table {
	return table{
		cluster:    c,
		members:    map[ID]Member{},
		tombstones: map[ID]tombstone{},
		rows:       map[ID]row{},
	}
}

func (t table) empty() bool {
	return len(t.members)+len(t.tombstones)+len(t.rows) == 0
}

func (t table) ids() []ID { return slices.SortedFunc(maps.Keys(t.members), ID.Compare) }

func (t table) status(id ID) Status {
	if _, removed := t.tombstones[id]; removed {
		return Removed
	}
	return t.members[id].Status
}

func (t table) at(address string) []ID {
	return slices.DeleteFunc(t.ids(), func(id ID) bool { return id.Address != address })
}

func (t table) count(s Status) int {
	n := 0
	for _, m := range t.members {
		if m.Status == s {
			n++
		}
	}
	return n
}

// youngest returns the highest known up-number, including removed members.
func (t table) youngest() uint64 {
	var n uint64
	for _, m := range t.members {
		n = max(n, m.UpNumber)
	}
	for _, dead := range t.tombstones {
		n = max(n, dead.UpNumber)
	}
	return n
}

// An ID identifies a member: another incarnation at the same address is another member.
type ID = remote.NodeID

// A Status is the stage of a member. Within an incarnation it only moves forward.
type Status uint8

// The statuses of a member. A node that looks for a cluster has none of them.
const (
	Joining Status = iota + 1 // known to the cluster and learning from it, but not active yet
	Up                        // a full member
	Leaving                   // handing over what it runs
	Exiting                   // its singletons have ended; its other actors are being stopped
	Down                      // declared dead: it must stop what it runs
	Removed                   // no longer a member, for good
)

// String returns the name of the status in lower case.
func (s Status) String() string {
	switch s {
	case Joining:
		return "joining"
	case Up:
		return "up"
	case Leaving:
		return "leaving"
	case Exiting:
		return "exiting"
	case Down:
		return "down"
	case Removed:
		return "removed"
	}
	return "none"
}

// A Member is one incarnation of a node, as the cluster sees it. Treat it as a value: its
// slices and maps are shared and must not be changed.
type Member struct {
	_           struct{} `cbor:",toarray"`
	Name        string   // Config.NodeID
	Address     string   // host:port, as the node advertises itself
	Incarnation uint64   // random: it does not tell which of two incarnations is later
	Status      Status
	UpNumber    uint64            // the order in which members came up: the oldest has the lowest; 0 while joining
	Roles       []string          // Config.Roles
	Meta        map[string]string // Config.Meta
	Downing     []string          // the name of Config.Downing; two during a downing.Transition
	AppVersion  string            // Config.AppVersion
}

// ID returns the identity of m.
func (m Member) ID() ID { return ID{Address: m.Address, Incarnation: m.Incarnation} }

// HasRole reports whether m has a role. Every member has the empty role.
func (m Member) HasRole(role string) bool { return role == "" || slices.Contains(m.Roles, role) }
