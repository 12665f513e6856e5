package clustertest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/memnet"
)

type edge struct {
	at    time.Duration
	fault int
	ends  bool
}

// Ends come before beginnings.
func (s Schedule) edges() (all []edge) {
	for i, f := range s {
		all = append(all, edge{f.At, i, false}, edge{f.At + f.For, i, true})
	}
	slices.SortStableFunc(all, func(a, b edge) int {
		switch {
		case a.at != b.at || a.ends == b.ends || a.fault == b.fault:
			return cmp.Compare(a.at, b.at)
		case a.ends:
			return -1
		default:
			return 1
		}
	})
	return all
}

func (r *Round) runFaults(s Schedule) {
	begin := time.Now()
	for _, e := range s.edges() {
		r.until(begin.Add(e.at))
		r.whole = 0
		if _, settled := r.state(); settled {
			r.whole = r.size()
		}
		r.changed = time.Now()
		if e.ends {
			r.endFault(e.fault)
		} else {
			r.beginFault(e.fault, s[e.fault])
		}
		r.retune()
	}
}

func (r *Round) beginFault(i int, f Fault) {
	r.active[i] = f
	r.sentAt[i] = r.sent()
	switch f.Kind {
	case Partition, Isolate:
		r.mends[i] = r.net.Partition(f.Sides...)
	case OneWay:
		r.mends[i] = r.net.OneWay(f.node(), f.Sides[1][0])
	case Crash:
		if r.kill(f.node()) {
			r.absent[f.node()] = i
		}
	case Leave:
		if r.dismiss(f.node()) {
			r.absent[f.node()] = i
		}
	case Pause:
		r.net.Pause(f.node())
	case Jump:
		r.Jump(f.node(), f.Time)
	case Delay, Lose, Duplicate, Drift:
	}
}

func (r *Round) endFault(i int) {
	f := r.active[i]
	delete(r.active, i)
	r.met = r.met || r.sent() > r.sentAt[i]
	switch f.Kind {
	case Partition, Isolate, OneWay:
		r.mends[i]()
		delete(r.mends, i)
	case Crash, Leave:
		if by, absent := r.absent[f.node()]; absent && by == i {
			delete(r.absent, f.node())
			r.begin(f.node())
		}
	case Pause:
		if !r.suffers(Pause, f.node()) {
			r.net.Resume(f.node())
		}
	case Delay, Lose, Duplicate, Drift, Jump:
	}
}

func (r *Round) suffers(kind Kind, node string) bool {
	for _, f := range r.active {
		if f.Kind == kind && f.node() == node {
			return true
		}
	}
	return false
}

// Several faults may set the same: the worst counts, and for the rate of a clock the last one.
func (r *Round) retune() {
	delay, jitter := memnet.UsualDelay, memnet.UsualJitter
	var loss, duplicates float64
	rates := make(map[string]float64)
	for _, i := range slices.Sorted(maps.Keys(r.active)) {
		switch f := r.active[i]; f.Kind {
		case Delay:
			delay, jitter = max(delay, f.Time), max(jitter, f.Time/2)
		case Lose:
			loss = max(loss, f.Amount)
		case Duplicate:
			duplicates = max(duplicates, f.Amount)
		case Drift:
			rates[f.node()] = f.Amount
		case Partition, OneWay, Isolate, Crash, Leave, Pause, Jump:
		}
	}
	r.Delay(delay, jitter)
	r.Lose(loss)
	r.Duplicate(duplicates)
	for _, name := range r.chaos.names() {
		r.Drift(name, cmp.Or(rates[name], 1))
	}
}
