// Package telemetry reads what a system counts: [Gather] returns its metrics, and [AddSource]
// adds others. Counting is always on. Most of it happens once for all messages that an actor has
// found in its mailbox. How long messages take is measured for a sample of them, see
// [actor.WithTimeSampling].
//
// Actors are counted by kind, not one by one, so that the numbers stay few however many actors
// there are. The kind of an actor is the name of its message type, or what [actor.WithKind] says.
// Actors that belong to the framework itself have the kind "understudy". Messages of actors that
// have not emptied their mailbox for some hundred messages are counted a little later.
package telemetry

import (
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
)

// A Source returns families of metrics, read at that moment. It must not block for longer than a
// millisecond or so, may be called by several goroutines, and may be called after the end of the
// system.
type Source func() []Family

type sources struct {
	mu  sync.Mutex
	all map[*Source]struct{}
}

// AddSource adds the families of source to what [Gather] returns, until remove is called. Packages
// of the framework use it for what they count, and a program may use it likewise.
//
// Sources that return a family of the same name share it: each adds its series, and the values of
// series with equal labels add up. All of them must give it the same help, type and labels.
func AddSource(s *actor.System, source Source) (remove func()) {
	in := extension.Ensure(s, func() *sources { return &sources{all: map[*Source]struct{}{}} })
	in.mu.Lock()
	defer in.mu.Unlock()
	key := &source
	in.all[key] = struct{}{}
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		delete(in.all, key)
	}
}

// Gather reads all metrics of a system: what it counts itself, and what its sources return. The
// families are sorted by name, and each name occurs once. A family has no series while there is
// nothing to tell. If a source panics, its families are left out and the panic is logged. Any
// goroutine may call it, also after the end of s.
func Gather(s *actor.System) []Family {
	var all []Family
	for _, source := range Sources(s) {
		err := guard.Do(func() { all = append(all, source()...) })
		if err != nil {
			s.Log().Error("source of metrics has panicked; its families are missing", zap.Error(err))
		}
	}
	slices.SortStableFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return merged(all)
}

// Sources returns the sources of a system: its own first, and then those that were added, in no
// order. Programs call [Gather]; tests look for sources that disagree about a family.
func Sources(s *actor.System) []Source {
	list := []Source{func() []Family { return own(s) }}
	in, ok := extension.Get[*sources](s)
	if !ok {
		return list
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for source := range in.all {
		list = append(list, *source)
	}
	return list
}

// Neighbours of the same name become one family, and their series with the same labels one series.
func merged(all []Family) []Family {
	joined := all[:0]
	for _, f := range all {
		if last := len(joined) - 1; last >= 0 && joined[last].Name == f.Name {
			joined[last].Series = slices.Concat(joined[last].Series, f.Series)
			continue
		}
		joined = append(joined, f)
	}
	for i := range joined {
		joined[i].Series = added(joined[i].Series)
	}
	return joined
}

// The result is sorted by labels, and series with equal labels are added up.
func added(all []Series) []Series {
	all = slices.Clone(all) // a source may keep its own
	slices.SortStableFunc(all, func(a, b Series) int { return slices.Compare(a.Labels, b.Labels) })
	sums := all[:0]
	for _, s := range all {
		if last := len(sums) - 1; last >= 0 && slices.Equal(sums[last].Labels, s.Labels) {
			sums[last] = sums[last].plus(s)
			continue
		}
		sums = append(sums, s)
	}
	return sums
}

func (s Series) plus(other Series) Series {
	s.Value += other.Value
	s.Durations.Count += other.Durations.Count
	s.Durations.Sum += other.Durations.Sum
	s.Durations.Buckets = slices.Clone(s.Durations.Buckets)
	for i, b := range other.Durations.Buckets[:min(len(s.Durations.Buckets), len(other.Durations.Buckets))] {
		s.Durations.Buckets[i].Count += b.Count // all have the same bounds
	}
	return s
}
