package placement

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/actor"
)

// A ledger is what the journal says of the specs: a state made of facts. No entry that it
// shows ever changes, so who holds one may keep it; but only the newest may be extended.
// Facts pile up in News until they are half as many as what they are about, so each costs
// the same, on average.
type ledger struct {
	_    struct{} `cbor:",toarray"`
	Base map[string]record
	News []fact
}

func init() {
	actor.RegisterType[fact]("understudy/placement.fact")
	actor.RegisterType[ledger]("understudy/placement.ledger")
}

// minNews is how many facts may pile up in any case.
const minNews = 64

// with returns what l is after one more fact.
func (l ledger) with(f fact) ledger {
	if len(l.News) < max(minNews, len(l.Base)/2) {
		return ledger{Base: l.Base, News: append(l.News, f)}
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
	return ledger{Base: base}
}

// each calls use with facts that lead to l.
func (l ledger) each(use func(fact)) {
	for label, r := range l.Base {
		use(fact{Label: label, Record: &r})
	}
	for _, f := range l.News {
		use(f)
	}
}
