package membership

import (
	"encoding/hex"
	"maps"
	"slices"
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
