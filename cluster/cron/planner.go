package cron

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/cron/internal/calendar"
)

// The limits of runs.
const (
	maxOpen  = 1000 // runs of an entry that have not ended; others are skipped
	maxHosts = 10   // on which a run begins, because each ends or loses the schedule while it is going on
)

// A planner decides which runs of a schedule begin, and remembers what has become of them. It is
// pure: the state of a schedule is a value, facts change it, and the time is an argument.
type planner struct {
	calendars map[[2]string]parsed
	next      map[string]upcoming
}

type parsed struct {
	*calendar.Calendar
	err error
}

// upcoming is the first time after a cursor.
type upcoming struct {
	spec, zone string
	cursor     time.Time
	due        time.Time
}

// newPlanner returns a planner.
func newPlanner() *planner {
	return &planner{calendars: map[[2]string]parsed{}, next: map[string]upcoming{}}
}

// Declare returns the facts that bring a ledger up to date with what the program declares. What was
// changed at run time stays, until the program declares something else than before.
func (p *planner) Declare(l ledger, entries []Entry, now time.Time) []fact {
	var facts []fact
	declared := map[string]bool{}
	for _, e := range entries {
		declared[e.Name] = true
		if i, there := l.Items[e.Name]; !there || i.Declared == nil || *i.Declared != e {
			facts = append(facts, p.Set(l, entrySet{Entry: e, Declared: true, At: now})...)
		}
	}
	for name, i := range l.Items {
		if i.Declared != nil && !declared[name] {
			facts = append(facts, entryRemoved{Name: name, Gone: true})
		}
	}
	return facts
}

// Set returns the facts by which an entry is new or has changed. If a clock that was ahead has used
// up its times, it starts from now.
func (p *planner) Set(l ledger, f entrySet) []fact {
	i := l.With(f).Items[f.Entry.Name]
	if p.usedUp(i, f.At) {
		return []fact{f, rewound{Name: f.Entry.Name, To: f.At}}
	}
	return []fact{f}
}

// Due returns the facts about the runs that are due.
func (p *planner) Due(l ledger, now time.Time) []fact {
	var due []string
	for name, i := range l.Items {
		if at := p.Next(i); !at.IsZero() && !at.After(now) {
			due = append(due, name)
		}
	}
	slices.Sort(due)
	var facts []fact
	for _, name := range due {
		facts = append(facts, p.dueOf(l.Items[name], now)...)
	}
	return facts
}

// Next returns when the next run of an entry is to begin; the zero time if never.
func (p *planner) Next(i *item) time.Time {
	e := i.Entry
	c, err := p.calendar(e)
	if err != nil || e.Paused || i.Removed {
		return time.Time{}
	}
	known := p.next[e.Name]
	if known.spec != e.Spec || known.zone != e.Zone || !known.cursor.Equal(i.Cursor) {
		known = upcoming{spec: e.Spec, zone: e.Zone, cursor: i.Cursor, due: c.Next(i.Cursor)}
		p.next[e.Name] = known
	}
	if known.due.IsZero() {
		return known.due
	}
	return known.due.Add(delay(e, known.due))
}

// First returns when the next run of any entry is to begin; the zero time if never.
func (p *planner) First(l ledger) time.Time {
	var first time.Time
	for _, i := range l.Items {
		if at := p.Next(i); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Problem returns why an entry has no runs, though it should; nil if it has.
func (p *planner) Problem(i *item, now time.Time) error {
	if _, err := p.calendar(i.Entry); err != nil {
		return err
	}
	if p.usedUp(i, now) {
		return fmt.Errorf("a clock that was ahead has used up its times until %s; Schedule.Rewind starts it from now", i.Cursor.UTC().Format(time.DateTime+" MST"))
	}
	return nil
}

// usedUp reports whether times that are yet to come have been dealt with. The next one alone has
// been if a clock was only corrected by seconds.
func (p *planner) usedUp(i *item, now time.Time) bool {
	c, err := p.calendar(i.Entry)
	if err != nil || i.Entry.Paused || i.Removed || !i.Cursor.After(now) {
		return false
	}
	next := c.Next(now)
	return !next.IsZero() && next.Before(i.Cursor)
}

func (p *planner) calendar(e Entry) (*calendar.Calendar, error) {
	key := [2]string{e.Spec, e.Zone}
	c, known := p.calendars[key]
	if !known {
		c.Calendar, c.err = calendar.Parse(e.Spec, e.Zone)
		p.calendars[key] = c
	}
	return c.Calendar, c.err
}

// delay is by how much the jitter of an entry delays a run.
func delay(e Entry, due time.Time) time.Duration {
	if e.Jitter == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s@%d", e.Name, due.Unix())
	return time.Duration(h.Sum64() % uint64(e.Jitter))
}

// dueOf divides the runs that are due into those that take place and those that do not.
func (p *planner) dueOf(i *item, now time.Time) []fact {
	e := i.Entry
	c, _ := p.calendar(e) // Next has
	fresh := c.Count(later(i.Cursor, now.Add(-e.grace()-e.Jitter-1)), now)
	times, count := c.Last(i.Cursor, now, min(fresh+int(e.Missed), maxMissed)+1), c.Count(i.Cursor, now)
	for n := len(times) - 1; n >= 0 && times[n].Add(delay(e, times[n])).After(now); n-- {
		times, count = times[:n], count-1
	}
	run := min(max(onTime(e, times, now), min(int(e.Missed), count)), maxMissed, len(times))
	if run == len(times) && count > run { // one of those that do not run is the last of them
		run--
	}
	var facts []fact
	if missed := times[:len(times)-run]; len(missed) > 0 {
		facts = append(facts, runsSkipped{Name: e.Name, Count: count - run, Last: missed[len(missed)-1], Why: NotRun, At: now})
	}
	return append(facts, dueNow(i, times[len(times)-run:], now)...)
}

// onTime returns how many of the last times are not longer ago than the grace.
func onTime(e Entry, times []time.Time, now time.Time) int {
	n := 0
	for _, due := range slices.Backward(times) {
		if now.Sub(due.Add(delay(e, due))) > e.grace() {
			break
		}
		n++
	}
	return n
}

// dueNow returns the facts for runs that are due and not missed.
func dueNow(i *item, due []time.Time, now time.Time) (facts []fact) {
	room := maxOpen - len(i.Open)
	if i.Entry.Overlap == SkipRun && len(i.Open) > 0 {
		room = 0
	}
	taken := due[:min(len(due), room)]
	for _, at := range taken {
		facts = append(facts, runDue{Name: i.Entry.Name, Due: at})
	}
	if rest := due[len(taken):]; len(rest) > 0 {
		facts = append(facts, runsSkipped{Name: i.Entry.Name, Count: len(rest), Last: rest[len(rest)-1], Why: Overlapped, At: now})
	}
	return facts
}

// A key identifies a run.
type key struct {
	Name string
	Due  int64 // in nanoseconds since 1970
}

// keyOf returns the key of the run of an entry that was due then.
func keyOf(name string, due time.Time) key { return key{Name: name, Due: due.UnixNano()} }

// A host is where runs begin.
type host struct {
	Node       string
	Process    uint64
	Generation uint64
	Running    func(key) bool // the run goes on here
	Room       int            // so many more may run here
}

// A candidate is a run that may begin.
type candidate struct {
	name string
	OpenRun
}

// beginDue returns the facts about runs that begin now, those that were due first before the
// others. A run that was going on elsewhere, on a host that has ended, begins again as another
// attempt. It is given up if that has happened too often; restarts of the instance in one process
// do not count. If its entry was removed, it begins again once the entry is back.
func beginDue(l ledger, h host, now time.Time) []fact {
	var facts []fact
	var all []candidate
	for name, i := range l.Items {
		for _, o := range mayBegin(i, func(o OpenRun) bool { return h.Running(keyOf(name, o.Due)) }) {
			switch {
			case o.Hosts >= maxHosts && o.hostedElsewhere(h.Process, h.Generation):
				facts = append(facts, runEnded{Name: name, Due: o.Due, Outcome: Failed, Error: "given up: each host of it has ended during the run", At: now})
			default:
				all = append(all, candidate{name, o})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.name, b.name)) })
	for _, c := range all[:min(len(all), max(h.Room, 0))] {
		facts = append(facts, runBegun{
			Name: c.name, Due: c.Due, Attempt: c.Attempt + 1,
			Generation: h.Generation, Node: h.Node, Process: h.Process, At: now,
		})
	}
	return facts
}

// mayBegin returns the runs of an entry that may begin now. Any of them may be running, because the
// entry may have allowed it before.
func mayBegin(i *item, running func(OpenRun) bool) []OpenRun {
	switch {
	case i.Removed:
		return nil
	case i.Entry.Overlap == Allow:
		return slices.DeleteFunc(slices.Clone(i.Open), running)
	case slices.ContainsFunc(i.Open, running):
		return nil
	}
	return i.Open[:min(len(i.Open), 1)]
}
