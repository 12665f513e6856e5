package allot

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// The keys of records begin with these: a shard is known by its label, a type by its name.
const (
	ofShard = "shard/"
	ofType  = "type/"
)

// A declaration is the spec in the record of a type.
type declaration struct {
	_    struct{} `cbor:",toarray"`
	Type table.Type
	Next int // the number of shards that the type is about to have; 0 if it stays
}

// unfit returns the keys of records that fit nothing: another program has written them, or the
// journal has lost the facts before.
func unfit(all map[string]home.Record) (keys []string) {
	declared := func(typ string) bool {
		d := home.Decode[declaration](all[ofType+typ].Spec).Type
		return d.Name == typ && d.Shards > 0
	}
	for key := range all {
		name, isType := strings.CutPrefix(key, ofType)
		label, isShard := strings.CutPrefix(key, ofShard)
		typ, n, labels := ParseLabel(label)
		fits := isType && declared(name) || isShard && labels && n < table.MaxShards && declared(typ)
		if !fits {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// replay takes over the ledger of the journal, and has the records removed that fit nothing.
func (m *Machine) replay(l home.Ledger) {
	m.nodes.Recall(l)
	for _, key := range m.Unfit {
		m.nodes.Put(key, nil)
	}
	for _, key := range m.nodes.Keys() {
		if r, _ := m.nodes.Record(key); strings.HasPrefix(key, ofType) {
			d := home.Decode[declaration](r.Spec)
			m.shards.add(d.Type).next = d.Next
		}
	}
	for _, key := range m.nodes.Keys() {
		if label, is := strings.CutPrefix(key, ofShard); is {
			r, _ := m.nodes.Record(key)
			m.shards.replay(label, r)
		}
	}
}

// declare stores what a type is, and is about to be.
func declare(s *shards, k *kind) {
	s.nodes.Put(ofType+k.Name, &home.Record{Spec: home.Encode(declaration{Type: k.Type, Next: k.next})})
}

// declareNew declares the type of an offer as it is offered, if it is new. To a coordinator without
// a journal a type that runs is new as well, and the node that is heard first may differ from all
// others. So as long as it hears the members, it believes only those that agreed with the former
// coordinator.
func declareNew(s *shards, o Offer) {
	t := o.Type
	t.Sourced = table.Open
	if s.kinds[t.Name] != nil || s.cfg.Forgetful && !s.hearing.over && !o.Agreed {
		return
	}
	if t.Name != "" && t.Shards > 0 && t.Shards <= table.MaxShards {
		declare(s, s.add(t))
	}
}

// declareHeard declares the types on which no member has agreed with a former coordinator.
func declareHeard(s *shards) {
	byName := func(a, b home.NodeID) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.offers), byName) {
		for _, name := range slices.Sorted(maps.Keys(s.offers[id])) {
			declareNew(s, s.offers[id][name])
		}
	}
}

// A hearing is the time in which a new coordinator gives no homes, because members have not said
// yet what they host: the first one to say so would get all shards.
type hearing struct {
	until time.Time // when it ends at the latest; zero before the nodes have said what they run
	over  bool
}

// listen ends the hearing when all members have been heard, or have had their time. Before a member
// is up there is nobody to hear.
func listen(s *shards) {
	up, silent := heard(s)
	if s.hearing.over || up == 0 {
		return
	}
	if s.hearing.until.IsZero() {
		s.hearing.until = s.nodes.Now().Add(s.cfg.HelloWait)
	}
	if silent == "" || !s.nodes.Now().Before(s.hearing.until) {
		s.hearing.over = true
		declareHeard(s)
		s.touchAll()
	}
}

// heard returns how many members are up and can be reached, and the name of one of these that has
// not said yet what it hosts, or "".
func heard(s *shards) (up int, silent string) {
	for _, n := range s.nodes.View().Nodes {
		if !n.Up || !n.Reachable {
			continue
		}
		up++
		if !s.offers.said(n) && silent == "" {
			silent = n.Name
		}
	}
	return up, silent
}

// next returns when the hearing ends at the latest.
func (h *hearing) next() (time.Time, bool) { return h.until, !h.over && !h.until.IsZero() }
