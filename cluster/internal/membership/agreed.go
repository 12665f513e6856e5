package membership

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/internal/codec"
)

// agreedV1 is the part of a table that members compare in version 1 of the protocol. It leaves out
// tombstones, because each node drops them in its own time. It is sorted, so that equal tables have
// equal bytes.
//
// This type and those of its elements never change: releases that compute different sums of one
// table never agree. A field that a release adds to [Member] or row stays out, until a version of
// the protocol agrees on it. A release that adds a field does the following:
//
//  1. It appends the field to [Member] and, if the node itself sets it, to joinRequest. Zero means
//     that the field is not known.
//  2. Member.merge takes the field from the entry that has it, and table.admit counts that as news.
//     Otherwise the sums of the next version would differ for ever.
//  3. A node that has become a member writes the field into its own entry (core.enter), and so
//     sends it to all members: the node that admitted it may not have known the field.
//  4. Nothing depends on the field until all members speak a version whose sum contains it. An
//     older release drops the field from each entry that it writes or relays.
//
// That version gets a type of its own beside this one. Its release computes both kinds of sums,
// sends those of the version in which it encodes the heartbeat, and compares those of a heartbeat
// with its own of the same version. [protocol.Range.ForAll] chooses the version. Two nodes may
// choose differently for a while, because each knows only the nodes that it has talked to.
type agreedV1 struct {
	_          struct{} `cbor:",toarray"`
	Cluster    ClusterID
	Members    []agreedMemberV1
	Tombstones []struct{} // always nil
	Rows       []agreedRowV1
}

type agreedMemberV1 struct {
	_           struct{} `cbor:",toarray"`
	Name        string
	Address     string
	Incarnation uint64
	Status      Status
	UpNumber    uint64
	Roles       []string
	Meta        map[string]string
	Downing     []string
	AppVersion  string
}

type agreedRowV1 struct {
	_           struct{} `cbor:",toarray"`
	ID          ID
	Version     uint64
	Unreachable []ID
}

func (t table) agreedV1() agreedV1 {
	a := agreedV1{Cluster: t.cluster}
	for _, id := range t.ids() {
		a.Members = append(a.Members, t.members[id].agreedV1())
	}
	if len(t.rows) > 0 {
		a.Rows = []agreedRowV1{} // nil has other bytes: it is only right for a table without any row
	}
	for _, id := range slices.SortedFunc(maps.Keys(t.rows), ID.Compare) {
		if r := t.rows[id]; t.members[id].Status != 0 {
			a.Rows = append(a.Rows, agreedRowV1{ID: id, Version: r.Version, Unreachable: r.Unreachable})
		}
	}
	return a
}

func (m Member) agreedV1() agreedMemberV1 {
	return agreedMemberV1{
		Name:        m.Name,
		Address:     m.Address,
		Incarnation: m.Incarnation,
		Status:      m.Status,
		UpNumber:    m.UpNumber,
		Roles:       m.Roles,
		Meta:        m.Meta,
		Downing:     m.Downing,
		AppVersion:  m.AppVersion,
	}
}

type sums struct {
	members uint64 // of the members alone, for convergence
	all     uint64 // of everything that becomes equal on all nodes
}

func (t table) sums() sums {
	agreed := t.agreedV1()
	all := sum(agreed)
	agreed.Rows = nil
	return sums{members: sum(agreed), all: all}
}

func sum(agreed agreedV1) uint64 {
	data, err := codec.Marshal(agreed)
	if err != nil {
		panic(fmt.Sprintf("cluster: table cannot be encoded: %v", err))
	}
	digest := sha256.Sum256(data)
	return binary.BigEndian.Uint64(digest[:])
}

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
