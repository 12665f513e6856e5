package cluster

import (
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
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
			Count: d.Count, First: d.First, Last: d.Last,
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
	shown.Backlogs = shownBacklogs(v, n.System.Name(), mostBehind(told))
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
