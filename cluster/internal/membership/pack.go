package membership

import (
	"maps"
	"slices"
)

// A packed is a table as it is sent: sorted, so that equal tables have equal bytes.
type packed struct {
	_          struct{} `cbor:",toarray"`
	Cluster    ClusterID
	Members    []Member
	Tombstones []packedTombstone
	Rows       []packedRow
}

type packedTombstone struct {
	_        struct{} `cbor:",toarray"`
	ID       ID
	Name     string
	UpNumber uint64
	Clean    bool
	At       int64
	Roles    []string
}

type packedRow struct {
	_           struct{} `cbor:",toarray"`
	ID          ID
	Version     uint64
	Unreachable []ID
}

func (t table) pack() packed {
	p := packed{Cluster: t.cluster}
	for _, id := range t.ids() {
		p.Members = append(p.Members, t.members[id])
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.tombstones), ID.Compare) {
		d := t.tombstones[id]
		p.Tombstones = append(p.Tombstones, packedTombstone{ID: id, Name: d.Name, UpNumber: d.UpNumber, Clean: d.Clean, At: d.At, Roles: d.Roles})
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.rows), ID.Compare) {
		r := t.rows[id]
		p.Rows = append(p.Rows, packedRow{ID: id, Version: r.Version, Unreachable: r.Unreachable})
	}
	return p
}

func (p packed) table() table {
	t := newTable(p.Cluster)
	for _, m := range p.Members {
		t.members[m.ID()] = m
	}
	for _, d := range p.Tombstones {
		t.tombstones[d.ID] = tombstone{Name: d.Name, UpNumber: d.UpNumber, Clean: d.Clean, At: d.At, Roles: d.Roles}
	}
	for _, r := range p.Rows {
		t.rows[r.ID] = row{Version: r.Version, Unreachable: r.Unreachable}
	}
	return t
}

// entries returns each entry of t as a table of its own. The key of an entry stays the same
// when the entry changes.
func (t table) entries() map[string]table {
	all := map[string]table{}
	part := func(key string) table {
		all[key] = newTable(t.cluster)
		return all[key]
	}
	for id, m := range t.members {
		part("member " + id.String()).members[id] = m
	}
	for id, d := range t.tombstones {
		part("tombstone " + id.String()).tombstones[id] = d
	}
	for id, r := range t.rows {
		part("row " + id.String()).rows[id] = r
	}
	return all
}
