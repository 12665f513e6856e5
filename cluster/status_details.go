package cluster

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
)

func (n *statusSource) Details() (map[string]any, []status.Problem) { return status.Read(n.System) }

func memberAt(v View, address string) string {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Address == address && m.Status < Down })
	if i < 0 {
		return ""
	}
	return v.Members[i].Name
}

func (n *statusSource) History() statuspage.History {
	return statuspage.History{Time: time.Now(), Node: n.cfg.NodeID, Events: n.history.ring.Events(n.cfg.NodeID)}
}

func (n *statusSource) GivenUp() statuspage.GivenUp {
	all := statuspage.GivenUp{Node: n.cfg.NodeID, Time: time.Now(), Messages: []statuspage.GivenUpMessage{}}
	for _, m := range singleton.ListGivenUp(n.System) {
		all.Messages = append(all.Messages, statuspage.GivenUpMessage{
			Number: m.Number, Singleton: m.Singleton, Type: typeText(reflect.TypeOf(m.Message)), Reason: guard.Text(m.Reason), Time: m.Time,
		})
	}
	return all
}

func (n *statusSource) DeadLetters() statuspage.DeadLetters {
	all := statuspage.DeadLetters{Time: time.Now(), Letters: []statuspage.DeadLetter{}}
	for _, d := range actorhook.KeptDeadLetters(n.System) {
		all.Letters = append(all.Letters, statuspage.DeadLetter{
			Recipient: d.Recipient, Sender: d.Sender, Type: typeText(d.Type), Reason: actorhook.ReasonText(d.Reason), Text: d.Text,
			Count: d.Count, First: d.First, Last: d.Last, Numbers: letterNumbers(d.Numbers), NotKept: d.NotKept, Asked: d.Asked,
		})
	}
	all.ByReason = deadLettersByReason(n.System) // after the letters, so that each has a reason in it
	return all
}

func typeText(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	return t.String()
}

func deadLettersByReason(s *actor.System) map[string]uint64 {
	all := map[string]uint64{}
	for reason, count := range s.DeadLettersByReason() {
		all[actorhook.ReasonText(reason)] = count
	}
	return all
}

func (n *statusSource) Actors() statuspage.Actors {
	counted := actorhook.Internals(n.System).(actorhook.Counted) // actor implements it
	shown := statuspage.Actors{Time: time.Now(), Handlers: []statuspage.Handler{}, Asks: []statuspage.Ask{}, Circles: [][]string{}}
	backlogs := counted.Backlogs()
	for _, k := range counted.Kinds() {
		shown.Kinds = append(shown.Kinds, shownKind(k, backlogs.Kinds[k.Name]))
	}
	v, _, _ := n.views.read()
	told := n.backlogs.known()
	told[v.Self.ID()] = toldBacklogs(backlogs.Actors)
	shown.Backlogs = shownBacklogs(v, n.Name(), mostBehind(told))
	a := counted.Activity()
	shown.Runners, shown.Ready, shown.Blocked, shown.Slow = a.Runners, a.Ready, a.Blocked, a.Slow
	for _, h := range a.Handlers {
		shown.Handlers = append(shown.Handlers, statuspage.Handler{
			Path: h.Path, Kind: h.Kind, Message: h.Message, Seconds: h.For.Seconds(), Blocked: h.Blocked,
		})
	}
	w := counted.Waits()
	for _, ask := range w.Oldest {
		shown.Asks = append(shown.Asks, statuspage.Ask{Asker: ask.Asker, Asked: ask.Asked, Seconds: ask.For.Seconds()})
	}
	shown.AsksLeft = w.Count - len(w.Oldest)
	shown.Circles = append(shown.Circles, w.Circles...)
	return shown
}

func shownKind(k actorhook.KindCount, b actorhook.Backlog) statuspage.ActorKind {
	shown := statuspage.ActorKind{
		Name: k.Name, Actors: k.Started - k.Stopped, Messages: k.Messages, Waiting: b.Waiting, Oldest: b.Oldest.Seconds(), Stashed: max(k.Stashed, 0),
		Dropped:  k.Dropped,
		Failures: k.Failures, Restarts: k.Restarts, Timed: k.Processing.Count,
	}
	if k.Processing.Count > 0 {
		shown.Mean = k.Processing.Sum.Seconds() / float64(k.Processing.Count)
		shown.Most = k.Processing.Quantile(0.99).Seconds()
	}
	return shown
}

// shownSingletons returns the singletons that have a manager here, and those that only other
// members have managers of, sorted by name.
func shownSingletons(v View, here []singleton.Status, known []directory.Known) []statuspage.Singleton {
	all := map[string]statuspage.Singleton{}
	for _, k := range known {
		all[k.Name] = statuspage.Singleton{Name: k.Name, Why: "this node has no manager for it, so it does not know"}
	}
	for _, s := range here {
		all[s.Name] = shownSingleton(v, s)
	}
	for _, k := range known {
		s := all[k.Name]
		s.Term, s.Fenced = k.Record.Term, k.Record.Fenced
		for _, id := range k.Managers {
			s.Managers = append(s.Managers, remote.NodeID{Address: id.Address, Incarnation: id.Incarnation}.String())
		}
		slices.Sort(s.Managers)
		all[k.Name] = s
	}
	shown := []statuspage.Singleton{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		s.Managers, s.WaitingFor = list(s.Managers), list(s.WaitingFor)
		shown = append(shown, s)
	}
	return shown
}

func shownSingleton(v View, s singleton.Status) statuspage.Singleton {
	shown := statuspage.Singleton{
		Name:  s.Name,
		Phase: string(s.Phase),
		Since: timeOrNil(s.Since),
		Here:  s.Here,
		Held:  s.Held,
		Why:   s.Why,

		Dropped: s.Dropped, Unacknowledged: s.Unacknowledged, Starts: s.Starts, Failures: s.Failures,
		Placement: s.Placement, Lease: s.Lease, LeaseHeld: s.LeaseHeld, Mismatch: s.Mismatch,
	}
	if s.Phase == singleton.Pending && v.Self.Status != Up {
		shown.Why = "this node is " + statusInWords(v.Self.Status)
	}
	if s.Obstacle != nil {
		shown.Obstacle = guard.Text(s.Obstacle)
	}
	if s.Host != "" {
		shown.Host = idAt(v, s.Host)
	}
	if s.Generation.Term != 0 {
		shown.Generation = s.Generation.String()
	}
	for _, address := range s.WaitingFor {
		shown.WaitingFor = append(shown.WaitingFor, idAt(v, address))
	}
	shown.NotBefore = timeOrNil(s.NotBefore)
	return shown
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
