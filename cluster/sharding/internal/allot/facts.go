package allot

import (
	"slices"
	"strings"

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
