package placement

import (
	"strings"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// recorded returns r with a spec, of an actor or of a singleton.
func recorded(spec any, r home.Record) home.Record {
	r.Spec = home.Encode(spec)
	return r
}

func specIn(r home.Record) Spec            { return home.Decode[Spec](r.Spec) }
func singleIn(r home.Record) SingletonSpec { return home.Decode[SingletonSpec](r.Spec) }

// ledgerOf returns the ledger after some facts.
func ledgerOf(all ...home.Fact) (l home.Ledger) {
	for _, f := range all {
		l = l.With(f)
	}
	return l
}

// split returns the records of specs, and those of singletons, by label.
func split(l home.Ledger) (specs, singles map[string]home.Record) {
	specs, singles = map[string]home.Record{}, map[string]home.Record{}
	for key, r := range l.All() {
		if label, is := strings.CutPrefix(key, ofSpec); is {
			specs[label] = r
		} else {
			singles[strings.TrimPrefix(key, ofSingleton)] = r
		}
	}
	return specs, singles
}

// join is the inverse.
func join(specs, singles map[string]home.Record) home.Ledger {
	l := home.Ledger{Records: map[string]home.Record{}}
	for label, r := range specs {
		l.Records[ofSpec+label] = r
	}
	for label, r := range singles {
		l.Records[ofSingleton+label] = r
	}
	return l
}

// labelOf returns the label of a fact, and whether it is about a singleton.
func labelOf(f home.Fact) (label string, single bool) {
	_, label, _ = strings.Cut(f.Key, "/")
	return label, strings.HasPrefix(f.Key, ofSingleton)
}
