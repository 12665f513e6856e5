package allot

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// A Fact is an event in the journal: that a type is declared, the new record of a shard, or where
// the shard has been pinned to.
// Applying a fact twice is the same as applying it once.
type Fact struct {
	_        struct{} `cbor:",toarray"`
	Type     string
	Declared *table.Type // nil for the record of a shard
	Next     int         // with Declared: the number of shards that the type is about to have; 0 if it stays
	Shard    int
	Record   Record
	Pin      *Pin // nil unless the shard is pinned, or its pin ends
}

// A Record is all that the next coordinator knows about a shard.
type Record struct {
	_           struct{} `cbor:",toarray"`
	Node        string   // "" while it has no home
	Address     string
	Incarnation uint64
	Generation  uint64 // of the last home
	Request     home.RequestID
	Lease       uint64 // the token of the lease under which it has been started; 0 for none
}

func (r Record) on() home.NodeID {
	return home.NodeID{Name: r.Node, Incarnation: r.Incarnation}
}

// A Ledger is the persistent state of the coordinator: the result of all facts so far.
type Ledger struct {
	_     struct{} `cbor:",toarray"`
	Types map[string]Shards
}

// Shards are the records of the shards of one type.
type Shards struct {
	_       struct{} `cbor:",toarray"`
	Type    table.Type
	Next    int            // see [Fact]
	Records []Record       // also of shards that a type of daemons has no more
	Pins    map[int]string // the names of nodes, by shard
}

func init() {
	actor.RegisterType[Fact]("understudy/sharding.fact/1")
	actor.RegisterType[Ledger]("understudy/sharding.ledger/1")
}

// With returns the ledger after one more fact. A fact that does not fit is left out: see
// [Ledger.Fits].
func (l Ledger) With(f Fact) Ledger {
	if !l.Fits(f) {
		return l
	}
	next := Ledger{Types: maps.Clone(l.Types)}
	if next.Types == nil {
		next.Types = map[string]Shards{}
	}
	s := next.Types[f.Type]
	if f.Declared != nil {
		records := make([]Record, max(f.Declared.Shards, len(s.Records)))
		copy(records, s.Records)
		next.Types[f.Type] = Shards{Type: *f.Declared, Next: f.Next, Records: records, Pins: s.Pins}
		return next
	}
	if f.Pin != nil {
		s.Pins = s.with(f.Shard, *f.Pin)
		next.Types[f.Type] = s
		return next
	}
	s.Records = slices.Clone(s.Records)
	s.Records[f.Shard] = f.Record
	next.Types[f.Type] = s
	return next
}

// Fits reports whether a fact can be applied. One that cannot was written by another program, or
// the journal has lost those before it.
func (l Ledger) Fits(f Fact) bool {
	if f.Declared != nil {
		return f.Declared.Name == f.Type && f.Declared.Shards > 0
	}
	return f.Shard >= 0 && f.Shard < len(l.Types[f.Type].Records)
}
