package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// A Fact is an event in the journal: the new record of one label, which replaces the previous one.
// A nil record means that the label has no record any more. Applying a fact twice is the same as
// applying it once. Only the first fact of a label has the spec, which may be large: a record
// without a spec keeps the previous record's spec.
type Fact struct {
	_      struct{} `cbor:",toarray"`
	Label  string
	Record *record
}

// A record is all that the next coordinator knows about a label.
type record struct {
	_           struct{}          `cbor:",toarray"`
	Spec        Spec              // empty if the previous record has the same, or if it is no longer needed
	Node        string            // the node of the actor, or the node that is expected back; "" when unplaced
	Incarnation uint64            // of that node
	Request     hosting.RequestID // the request that started the actor; zero if it has not been requested
	Until       time.Time         // when the wait for the node's return ends; zero if the return is not awaited
	Drained     bool              // the node is being drained, so its return will not be awaited
	Removed     bool              // the spec or singleton has been removed, and its actor is being stopped

	// These are set only for a singleton, whose spec is in the source. Generation is the last
	// instance's. Granted is the last generation that the source has granted; it is never zero.
	// Call is the number of the call that changes the spec in the source, until the call is known
	// to have taken effect.
	Generation, Granted Generation
	Call                hosting.RequestID
}

// ofSingleton reports whether the record is a singleton's.
func (f Fact) ofSingleton() bool { return f.Record != nil && f.Record.Granted != Generation{} }

// submits reports whether f has a spec that is new to the journal.
func (f Fact) submits() bool { return f.Record != nil && f.Record.Spec.Label != "" }

// Size returns about how many bytes f takes in the journal.
func (f Fact) Size() int {
	const besides = 256
	if f.Record == nil {
		return len(f.Label) + besides
	}
	return len(f.Label) + len(f.Record.Node) + f.Record.Spec.size() + besides
}

// stored has the records of one workload's labels, and the facts that the journal does not have
// yet.
type stored struct {
	records map[string]record
	news    []Fact
}

// put sets the record of a label to now; nil removes it.
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

// facts returns the facts to store, and forgets them.
func (s *stored) facts() []Fact {
	news := s.news
	s.news = nil
	return news
}

// after returns r with the spec of the previous record, if r has no spec.
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

// sparing returns r without its spec, if the previous record has the same one.
func (r record) sparing(before record) record {
	if r.Spec.Equal(before.Spec) {
		r.Spec = Spec{}
	}
	return r
}

// A Ledger is the persistent state of the coordinator: the result of all facts so far. Its entries
// never change, so an old Ledger stays valid; but only the newest one may be extended. Facts
// accumulate in News until there are half as many as records in Base, so the amortized cost of a
// fact is constant.
type Ledger struct {
	_    struct{} `cbor:",toarray"`
	Base map[string]record
	News []Fact
}

func init() {
	actor.RegisterType[Fact]("understudy/placement.fact/1")
	actor.RegisterType[Ledger]("understudy/placement.ledger/1")
}

// minNews is how many facts may accumulate, however small Base is.
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

// Each calls use with facts that reproduce l.
func (l Ledger) Each(use func(Fact)) {
	for label, r := range l.Base {
		use(Fact{Label: label, Record: &r})
	}
	for _, f := range l.News {
		use(f)
	}
}
