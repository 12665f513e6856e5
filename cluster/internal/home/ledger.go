package home

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/singleton"
)

// A Fact is an event in the journal of a coordinator: the new record of a key, which replaces the
// previous one. Without a record there is nothing more to know about the key. Applying a fact twice
// is the same as applying it once.
type Fact struct {
	_      struct{} `cbor:",toarray"`
	Key    string   // a label, after the name of its workload
	Record *Record
}

// A Record is all that the next coordinator knows about a key. Workloads leave out what they have
// no use for.
type Record struct {
	_     struct{} `cbor:",toarray"`
	Spec  []byte   // what is to run, encoded; empty if the previous record has the same, or with Ended
	Ended bool     // nothing is to run any more, but the last actor may still be ending

	Node        string // where the actor may run, or is expected back; "" for no node
	Address     string // of that node
	Incarnation uint64
	Request     RequestID            // that started the actor; zero if it has not been requested
	Generation  singleton.Generation // of the last actor, even if it has ended
	Lease       uint64               // the token of the lease under which it has been started; 0 for none

	Owner   string               // the name of the node to which Granted was granted
	Granted singleton.Generation // the last one
	Pin     string               // the name of the node where it is to run whenever it can; "" for any
	Until   time.Time            // when the wait for the node's return ends; zero if the return is not awaited
	Drained bool                 // the node is being drained, so its return will not be awaited
}

// On returns the node of the actor.
func (r Record) On() NodeID { return NodeID{Name: r.Node, Incarnation: r.Incarnation} }

// same reports whether two records of a key are equal.
func (r Record) same(o Record) bool {
	return bytes.Equal(r.Spec, o.Spec) && r.Ended == o.Ended && r.Node == o.Node && r.Address == o.Address && r.Incarnation == o.Incarnation &&
		r.Request == o.Request && r.Generation == o.Generation && r.Lease == o.Lease &&
		r.Owner == o.Owner && r.Granted == o.Granted && r.Pin == o.Pin && r.Until.Equal(o.Until) && r.Drained == o.Drained
}

// Size returns about how many bytes f takes in the journal.
func (f Fact) Size() int {
	size := len(f.Key) + 256
	if f.Record != nil {
		size += len(f.Record.Spec) + len(f.Record.Node) + len(f.Record.Address) + len(f.Record.Owner) + len(f.Record.Pin)
	}
	return size
}

// apply brings the records up to date. Only the first fact of a key has the spec, which may be
// large.
func (f Fact) apply(all map[string]Record) {
	if f.Record == nil {
		delete(all, f.Key)
		return
	}
	now := *f.Record
	if len(now.Spec) == 0 && !now.Ended {
		now.Spec = all[f.Key].Spec
	}
	all[f.Key] = now
}

// A Ledger is the persistent state of a coordinator: the result of all facts so far. Its entries
// never change, so an old Ledger stays valid; but only the newest one may be extended. Facts
// accumulate in News until there are half as many as records, so the amortized cost of a fact is
// constant.
type Ledger struct {
	_       struct{} `cbor:",toarray"`
	Records map[string]Record
	News    []Fact
}

// minNews is how many facts may accumulate, however few records there are.
const minNews = 64

// With returns the ledger after one more fact.
func (l Ledger) With(f Fact) Ledger {
	if len(l.News) < max(minNews, len(l.Records)/2) {
		l.News = append(l.News, f)
		return l
	}
	l.News = append(slices.Clip(l.News), f)
	return Ledger{Records: l.All()}
}

// Untouched reports whether there has never been a fact.
func (l Ledger) Untouched() bool { return l.Records == nil && len(l.News) == 0 }

// All returns a new map of all records, by key.
func (l Ledger) All() map[string]Record {
	all := make(map[string]Record, len(l.Records))
	maps.Copy(all, l.Records)
	for _, f := range l.News {
		f.apply(all)
	}
	return all
}

// records are those of all keys, as of the last step, with the facts that are not stored yet.
type records struct {
	all      map[string]Record
	news     []Fact
	replaced map[string]*Record // what the last fact with a spec has replaced; nil for nothing
}

// Recall takes over the records of the former coordinators, before the first step.
func (r *records) Recall(l Ledger) { r.all = l.All() }

// Keys returns the keys that have records, sorted.
func (r *records) Keys() []string { return slices.Sorted(maps.Keys(r.all)) }

// Record returns the record of a key.
func (r *records) Record(key string) (of Record, ok bool) {
	of, ok = r.all[key]
	return of, ok
}

// Put sets the record of a key. Nil removes it.
func (r *records) Put(key string, now *Record) {
	was, had := r.all[key]
	f := Fact{Key: key}
	switch {
	case now == nil && !had, now != nil && had && now.same(was):
		return
	case now == nil:
		delete(r.all, key)
	default:
		r.all[key] = *now
		news := *now
		if bytes.Equal(news.Spec, was.Spec) {
			news.Spec = nil
		}
		if f.Record = &news; len(news.Spec) > 0 {
			r.keep(key, was, had)
		}
	}
	r.news = append(r.news, f)
}

func (r *records) keep(key string, was Record, had bool) {
	if r.replaced == nil {
		r.replaced = map[string]*Record{}
	}
	r.replaced[key] = nil
	if had {
		r.replaced[key] = &was
	}
}

// Undo restores and returns the record that the last fact of a key has replaced, which has a spec,
// and which the journal does not take. It returns nil if it was the first fact of the key.
func (r *records) Undo(key string) *Record {
	was := r.replaced[key]
	delete(r.all, key)
	if was != nil {
		r.all[key] = *was
	}
	return was
}

// Facts returns the facts to store, once.
func (r *records) Facts() []Fact {
	news := r.news
	r.news = nil
	return news
}

// Encode returns a value as CBOR. The value must have a form that can be encoded.
func Encode(v any) []byte {
	data, err := codec.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Decode is the inverse. What cannot be decoded leaves the zero value: another program wrote it.
func Decode[T any](data []byte) T {
	var v, zero T
	if codec.Unmarshal(data, &v) != nil {
		return zero
	}
	return v
}

func init() {
	actor.RegisterType[Fact]("understudy/home.fact/1")
	actor.RegisterType[Ledger]("understudy/home.ledger/1")
}
