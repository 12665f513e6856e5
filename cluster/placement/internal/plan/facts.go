package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A Fact is what the journal stores: the record of one label, which replaces the one before; nil
// when the label has none any more. To apply a fact twice is the same as once. The spec, which may
// be large, is only in the first fact: a record without a spec keeps that of the record before.
type Fact struct {
	_      struct{} `cbor:",toarray"`
	Label  string
	Record *record
}

// A record is all that survives of a label when the coordinator moves.
type record struct {
	_           struct{}  `cbor:",toarray"`
	Spec        Spec      // empty if it is that of the record before, or is no longer needed
	Node        string    // where the actor is, or is expected back; "" when unplaced
	Incarnation uint64    // of that node
	Request     RequestID // that started it; zero if none has
	Until       time.Time // until when the node's return is awaited; zero if it is not
	Drained     bool      // the node is being drained, so its return will not be awaited
	Removed     bool      // the spec or singleton has been removed, and its actor is being stopped

	// For a singleton, whose spec is in the source: the generation of the last instance; the last
	// generation that the source has granted, never zero; and the number of the call that changes
	// what the source keeps, until that is known to have taken effect.
	Generation, Granted Generation
	Call                RequestID
}

// ofSingleton reports whether the record is a singleton's.
func (f Fact) ofSingleton() bool { return f.Record != nil && f.Record.Granted != Generation{} }

// submits reports whether f has a spec that is new to the journal.
func (f Fact) submits() bool { return f.Record != nil && f.Record.Spec.Label != "" }

// size returns about how many bytes f takes in the journal.
func (f Fact) size() int {
	const besides = 256
	if f.Record == nil {
		return len(f.Label) + besides
	}
	return len(f.Label) + len(f.Record.Node) + f.Record.Spec.size() + besides
}

// stored is what the journal has of the labels of one workload, and what it is to get.
type stored struct {
	records map[string]record
	news    []Fact
}

// put makes now the record of a label; nil removes it.
func (s *stored) put(label string, now *record) {
	was, has := s.records[label]
	switch {
	case now == nil && has:
		delete(s.records, label)
		s.news = append(s.news, Fact{Label: label})
	case now != nil && (!has || !now.same(was)):
		s.records[label] = *now
		news := now.sparing(was)
		s.news = append(s.news, Fact{Label: label, Record: &news})
	}
}

// facts returns what the journal is to get, once.
func (s *stored) facts() []Fact {
	news := s.news
	s.news = nil
	return news
}

// after returns r with the spec of the record before, if r has none of its own.
func (r record) after(before record) record {
	if r.Spec.Label == "" && !r.Removed && r.Granted == (Generation{}) {
		r.Spec = before.Spec
	}
	return r
}

// same reports whether two records of one label are equal.
func (r record) same(o record) bool {
	return r.Node == o.Node && r.Incarnation == o.Incarnation && r.Request == o.Request && r.Until.Equal(o.Until) &&
		r.Drained == o.Drained && r.Removed == o.Removed && r.Generation == o.Generation && r.Granted == o.Granted && r.Call == o.Call && r.Spec.Equal(o.Spec)
}

// sparing returns r without its spec, if the record before has the same one.
func (r record) sparing(before record) record {
	if r.Spec.Equal(before.Spec) {
		r.Spec = Spec{}
	}
	return r
}

// A Ledger is the state that facts lead to: the persistent state of the coordinator. Its entries
// never change, so a Ledger may be kept; but only the newest one may be extended. Facts accumulate
// in News until there are half as many as records in Base, so each costs the same on average.
type Ledger struct {
	_    struct{} `cbor:",toarray"`
	Base map[string]record
	News []Fact
}

func init() {
	actor.RegisterType[Fact]("understudy/placement.fact")
	actor.RegisterType[Ledger]("understudy/placement.ledger")
}

// minNews is how many facts may accumulate in any case.
const minNews = 64

// With returns the ledger after one more fact.
func (l Ledger) With(f Fact) Ledger {
	if len(l.News) < max(minNews, len(l.Base)/2) {
		return Ledger{Base: l.Base, News: append(l.News, f)}
	}
	base := make(map[string]record, len(l.Base)+len(l.News))
	maps.Copy(base, l.Base)
	for _, f := range append(slices.Clip(l.News), f) {
		if f.Record == nil {
			delete(base, f.Label)
		} else {
			base[f.Label] = f.Record.after(base[f.Label])
		}
	}
	return Ledger{Base: base}
}

// Each calls use with facts that lead to l.
func (l Ledger) Each(use func(Fact)) {
	for label, r := range l.Base {
		use(Fact{Label: label, Record: &r})
	}
	for _, f := range l.News {
		use(f)
	}
}
