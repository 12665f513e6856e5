package cron

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A ledger is the state of a schedule. It is immutable: With returns another one.
type ledger struct {
	Items map[string]*item // by the name of the entry; no item ever changes
}

// An item is an entry with what is known of its runs.
type item struct {
	Entry    Entry
	Declared *Entry    // as the program has declared it last; nil if it was set at run time only
	Removed  bool      // though the program declares it, or a run of it goes on
	Cursor   time.Time // due times up to here are dealt with
	Open     []OpenRun // runs that have not ended, those that are due first before the others
	History  []Record  // the last ones first
	Counts   map[Outcome]uint64
}

// An OpenRun is a run that has not ended.
type OpenRun struct {
	Due        time.Time
	Manual     bool
	Attempt    int       // 0 if none has begun
	Hosts      int       // on how many hosts one has begun; after ten of them the run has failed
	Generation uint64    // Generation.Packed of package singleton
	Node       string    // of the last attempt, like Begun and Process
	Process    uint64    // tells processes at the node's address apart
	Begun      time.Time // zero if none has begun
}

// A Record is what has become of a run, or of several that did not take place.
type Record struct {
	Due     time.Time     `json:"due"`   // of the last of them
	Count   int           `json:"count"` // of the runs; 1 for one that has taken place
	Outcome Outcome       `json:"outcome"`
	Error   string        `json:"error"`   // of the job, or ""
	Attempt int           `json:"attempt"` // the last one; 0 for runs that have not taken place
	Node    string        `json:"node"`    // on which it ran last
	Begun   time.Time     `json:"begun"`   // the last attempt
	Took    time.Duration `json:"took"`    // the last attempt; in nanoseconds
}

// kept is how many records an entry has, and maxError how many bytes of an error are kept.
const (
	kept     = 20
	maxError = 500
)

// With returns the ledger after a fact.
func (l ledger) With(f fact) ledger { return l.Apply([]fact{f}) }

// Apply returns the ledger after facts.
func (l ledger) Apply(facts []fact) ledger {
	if len(facts) == 0 {
		return l
	}
	items := maps.Clone(l.Items)
	if items == nil {
		items = map[string]*item{}
	}
	for _, f := range facts {
		apply(items, f)
	}
	return ledger{Items: items}
}

func apply(items map[string]*item, f fact) {
	switch f := f.(type) {
	case entrySet:
		set(items, f)
	case entryRemoved:
		remove(items, f)
	case rewound:
		change(items, f.Name, func(i *item) { i.Cursor = f.To })
	case runsSkipped:
		change(items, f.Name, func(i *item) { i.skip(f) })
	case runDue:
		change(items, f.Name, func(i *item) { i.due(f) })
	case runBegun:
		change(items, f.Name, func(i *item) { i.begin(f) })
	case runEnded:
		change(items, f.Name, func(i *item) { i.end(f) })
		forget(items, f.Name)
	}
}

// Names returns the names of the entries that there are, in order.
func (l ledger) Names() []string {
	names := slices.Sorted(maps.Keys(l.Items))
	return slices.DeleteFunc(names, func(name string) bool { return l.Items[name].Removed })
}

// Item returns an entry, unless it was removed.
func (l ledger) Item(name string) (*item, bool) {
	i, there := l.Items[name]
	return i, there && !i.Removed
}

func change(items map[string]*item, name string, by func(*item)) {
	if i, there := items[name]; there {
		changed := *i
		by(&changed)
		items[name] = &changed
	}
}

// remove keeps what has begun: the entry may come back while it goes on.
func remove(items map[string]*item, f entryRemoved) {
	i, there := items[f.Name]
	if !there {
		return
	}
	removed := &item{Entry: i.Entry, Declared: i.Declared, Removed: true, Open: begun(i.Open), History: i.History, Counts: i.Counts}
	if f.Gone {
		removed.Declared = nil
	}
	items[f.Name] = removed
	forget(items, f.Name)
}

func begun(open []OpenRun) []OpenRun {
	return slices.DeleteFunc(slices.Clone(open), func(o OpenRun) bool { return o.Attempt == 0 })
}

// forget forgets what is no longer needed of an entry that was removed.
func forget(items map[string]*item, name string) {
	i := items[name]
	switch {
	case i == nil || !i.Removed || len(i.Open) > 0:
	case i.Declared != nil:
		items[name] = &item{Entry: i.Entry, Declared: i.Declared, Removed: true}
	default:
		delete(items, name)
	}
}

func set(items map[string]*item, f entrySet) {
	var i item
	if before, there := items[f.Entry.Name]; there {
		i = *before
	}
	if i.Cursor.IsZero() || i.Removed || !i.Entry.sameTimes(f.Entry) {
		i.Cursor = later(i.Cursor, f.At)
	}
	i.Entry, i.Removed = f.Entry, false
	if f.Declared {
		declared := f.Entry
		i.Declared = &declared
	}
	items[f.Entry.Name] = &i
}

func (i *item) skip(f runsSkipped) {
	i.Cursor = later(i.Cursor, f.Last)
	i.record(Record{Due: f.Last, Count: f.Count, Outcome: f.Why})
}

func (i *item) due(f runDue) {
	if !f.Manual {
		i.Cursor = later(i.Cursor, f.Due)
	}
	if i.openAt(f.Due) >= 0 { // it goes on, and the clock was set back since it began
		return
	}
	i.Open = append(slices.Clone(i.Open), OpenRun{Due: f.Due, Manual: f.Manual})
}

func (i *item) begin(f runBegun) {
	if at := i.openAt(f.Due); at >= 0 {
		i.Open = slices.Clone(i.Open)
		o := &i.Open[at]
		if o.Attempt == 0 || o.hostedElsewhere(f.Process, f.Generation) {
			o.Hosts++
		}
		o.Attempt, o.Generation, o.Node, o.Process, o.Begun = f.Attempt, f.Generation, f.Node, f.Process, f.At
	}
}

func (i *item) end(f runEnded) {
	at := i.openAt(f.Due)
	if at < 0 {
		return
	}
	o := i.Open[at]
	i.Open = slices.Delete(slices.Clone(i.Open), at, at+1)
	r := Record{Due: o.Due, Count: 1, Outcome: f.Outcome, Error: f.Error, Attempt: o.Attempt, Node: o.Node, Begun: o.Begun}
	if !o.Begun.IsZero() {
		r.Took = max(f.At.Sub(o.Begun), 0)
	}
	i.record(r)
}

// hostedElsewhere reports whether the last attempt has begun on another host: in another process,
// or in another term of the schedule. A process that starts alone, again and again, does not begin
// a term.
func (o OpenRun) hostedElsewhere(process, generation uint64) bool {
	return o.Process != process || term(o.Generation) != term(generation)
}

// term returns the term of a packed generation.
func term(packed uint64) uint64 { return packed >> 32 }

// openAt returns the index of the run that was due then, or -1.
func (i *item) openAt(due time.Time) int {
	return slices.IndexFunc(i.Open, func(o OpenRun) bool { return o.Due.Equal(due) })
}

func (i *item) record(r Record) {
	i.History = append([]Record{r}, i.History[:min(len(i.History), kept-1)]...)
	i.Counts = maps.Clone(i.Counts)
	if i.Counts == nil {
		i.Counts = map[Outcome]uint64{}
	}
	i.Counts[r.Outcome] += uint64(r.Count)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// shortened returns the text of an error as it is stored.
func shortened(text string) string {
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + "…"
}
