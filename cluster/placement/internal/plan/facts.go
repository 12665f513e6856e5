package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A Fact is an event in the journal: the new record of one label, which replaces the previous one
// of its kind. With nil for both, no spec has the label any more. Applying a fact twice is the same
// as applying it once. Only the first fact of a label has the spec, which may be large: a record
// without a spec keeps the previous record's spec.
type Fact struct {
	_         struct{} `cbor:",toarray"`
	Label     string
	Record    *record
	Singleton *singletonRecord
}

// A record is all that the next coordinator knows about a spec.
type record struct {
	_           struct{}       `cbor:",toarray"`
	Spec        Spec           // empty if the previous record has the same, or if it is no longer needed
	Node        string         // the node of the actor, or the node that is expected back; "" when unplaced
	Incarnation uint64         // of that node
	Request     home.RequestID // the request that started the actor; zero if it has not been requested
	Until       time.Time      // when the wait for the node's return ends; zero if the return is not awaited
	Drained     bool           // the node is being drained, so its return will not be awaited
	Removed     bool           // the spec has been removed, and its actor is being stopped
}

// A singletonRecord is all that the next coordinator knows about a singleton. It stays when the
// singleton has been stopped, because terms only grow. It is stored before a grant is acted upon:
// before the instance is requested, and before the grant is the answer to a request.
type singletonRecord struct {
	_       struct{}      `cbor:",toarray"`
	Spec    SingletonSpec // empty if the previous record has the same, or Stopped
	Stopped bool          // it has ended, or ends
	Owner   string        // the node to which Granted was granted
	Granted Generation    // the last one

	Node        string         // where the last instance may run; "" if it has ended
	Incarnation uint64         // of that node
	Request     home.RequestID // the request that started it
	Generation  Generation     // of the last instance, even if it has ended
}

// submits reports whether f has a spec that is new to the journal.
func (f Fact) submits() bool {
	return f.Record != nil && f.Record.Spec.Label != "" || f.Singleton != nil && f.Singleton.Spec.Label != ""
}

// Size returns about how many bytes f takes in the journal.
func (f Fact) Size() int {
	size := len(f.Label) + 256
	if f.Record != nil {
		size += len(f.Record.Node) + f.Record.Spec.size()
	}
	if f.Singleton != nil {
		size += len(f.Singleton.Node) + len(f.Singleton.Owner) + len(f.Singleton.Spec.State)
	}
	return size
}

// stored has the records of specs, and the facts that the journal does not have yet.
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
	if r.Spec.Label == "" && !r.Removed {
		r.Spec = before.Spec
	}
	return r
}

// same reports whether two records of one label are equal.
func (r record) same(o record) bool {
	return r.Node == o.Node && r.Incarnation == o.Incarnation && r.Request == o.Request && r.Until.Equal(o.Until) &&
		r.Drained == o.Drained && r.Removed == o.Removed && r.Spec.Equal(o.Spec)
}

// sparing returns r without its spec, if the previous record has the same one.
func (r record) sparing(before record) record {
	if r.Spec.Equal(before.Spec) {
		r.Spec = Spec{}
	}
	return r
}

// after is as for record.
func (r singletonRecord) after(before singletonRecord) singletonRecord {
	if r.Spec.Label == "" && !r.Stopped {
		r.Spec = before.Spec
	}
	return r
}

// same is as for record.
func (r singletonRecord) same(o singletonRecord) bool {
	return r.Stopped == o.Stopped && r.Owner == o.Owner && r.Granted == o.Granted && r.Node == o.Node && r.Incarnation == o.Incarnation &&
		r.Request == o.Request && r.Generation == o.Generation && r.Spec.equal(o.Spec)
}

// sparing is as for record.
func (r singletonRecord) sparing(before singletonRecord) singletonRecord {
	if r.Spec.equal(before.Spec) {
		r.Spec = SingletonSpec{}
	}
	return r
}

// A Ledger is the persistent state of the coordinator: the result of all facts so far. Its entries
// never change, so an old Ledger stays valid; but only the newest one may be extended. Facts
// accumulate in News until there are half as many as records in the maps, so the amortized cost of
// a fact is constant.
type Ledger struct {
	_          struct{} `cbor:",toarray"`
	Specs      map[string]record
	Singletons map[string]singletonRecord
	News       []Fact
}

func init() {
	actor.RegisterType[Fact]("understudy/placement.fact/1")
	actor.RegisterType[Ledger]("understudy/placement.ledger/1")
}

// minNews is how many facts may accumulate, however few records there are.
const minNews = 64

// With returns the ledger after one more fact.
func (l Ledger) With(f Fact) Ledger {
	if records := len(l.Specs) + len(l.Singletons); len(l.News) < max(minNews, records/2) {
		l.News = append(l.News, f)
		return l
	}
	next := Ledger{Specs: map[string]record{}, Singletons: map[string]singletonRecord{}}
	maps.Copy(next.Specs, l.Specs)
	maps.Copy(next.Singletons, l.Singletons)
	for _, f := range append(slices.Clip(l.News), f) {
		switch {
		case f.Singleton != nil:
			next.Singletons[f.Label] = f.Singleton.after(next.Singletons[f.Label])
		case f.Record != nil:
			next.Specs[f.Label] = f.Record.after(next.Specs[f.Label])
		default:
			delete(next.Specs, f.Label)
		}
	}
	return next
}

// Each calls use with facts that reproduce l.
func (l Ledger) Each(use func(Fact)) {
	for label, r := range l.Specs {
		use(Fact{Label: label, Record: &r})
	}
	for label, r := range l.Singletons {
		use(Fact{Label: label, Singleton: &r})
	}
	for _, f := range l.News {
		use(f)
	}
}
