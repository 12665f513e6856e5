package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A fact is what the journal keeps: the record of one spec, in place of the one before;
// nil when it has been removed. Facts say what is, not what has changed: to apply one
// twice is to apply it once. Only the spec itself, which may be large, is in the first fact
// alone: a record without a spec has that of the record before.
type Fact struct {
	_      struct{} `cbor:",toarray"`
	Label  string
	Record *record
}

// A record is all that is to survive of a spec.
type record struct {
	_           struct{}  `cbor:",toarray"`
	Spec        Spec      // none when it is that of the record before, or is not needed any more
	Node        string    // where it is, or is expected back; "" when unplaced
	Incarnation uint64    // of that node
	Request     RequestID // by which it was started; zero when it is not
	Until       time.Time // until when the node is waited for; zero when it is not
	Drained     bool      // the node is being drained, so that it is not waited for
	Removed     bool      // it is no spec or singleton any more, and is being stopped

	// Where the label is a singleton's, whose spec is in the source: the generation of the last
	// instance; the last that the source has granted, never zero; and the number of the call
	// that changes what the source keeps, until it is known to have happened.
	Generation, Granted Generation
	Call                RequestID
}

// ofSingleton reports whether it is about a singleton.
func (f Fact) ofSingleton() bool { return f.Record != nil && f.Record.Granted != Generation{} }

// submits reports whether it brings a spec that the journal does not have.
func (f Fact) submits() bool { return f.Record != nil && f.Record.Spec.Label != "" }

// size is about how many bytes f has in the journal.
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

// after returns r with the spec of the record before, if it has none of its own.
func (r record) after(before record) record {
	if r.Spec.Label == "" && !r.Removed && r.Granted == (Generation{}) {
		r.Spec = before.Spec
	}
	return r
}

// same reports whether both records of one spec say the same.
func (r record) same(o record) bool {
	return r.Node == o.Node && r.Incarnation == o.Incarnation && r.Request == o.Request && r.Until.Equal(o.Until) &&
		r.Drained == o.Drained && r.Removed == o.Removed && r.Generation == o.Generation && r.Granted == o.Granted && r.Call == o.Call && r.Spec.Equal(o.Spec)
}

// sparing returns r as the fact has it that follows the record before.
func (r record) sparing(before record) record {
	if r.Spec.Equal(before.Spec) {
		r.Spec = Spec{}
	}
	return r
}

// A ledger is what the journal says of the specs: a state made of facts. No entry that it
// shows ever changes, so who holds one may keep it; but only the newest may be extended.
// Facts pile up in News until they are half as many as what they are about, so each costs
// the same, on average.
type Ledger struct {
	_    struct{} `cbor:",toarray"`
	Base map[string]record
	News []Fact
}

func init() {
	actor.RegisterType[Fact]("understudy/placement.fact")
	actor.RegisterType[Ledger]("understudy/placement.ledger")
}

// minNews is how many facts may pile up in any case.
const minNews = 64

// with returns what l is after one more fact.
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

// each calls use with facts that lead to l.
func (l Ledger) Each(use func(Fact)) {
	for label, r := range l.Base {
		use(Fact{Label: label, Record: &r})
	}
	for _, f := range l.News {
		use(f)
	}
}
