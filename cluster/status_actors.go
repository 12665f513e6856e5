package cluster

import (
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/statuspage"
)

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
