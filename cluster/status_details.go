package cluster

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/cronstatus"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/linkstatus"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/internal/storestatus"
	"github.com/understudy-go/understudy/singleton"
)

func (n *statusSource) Details() statuspage.Details {
	v, _, _ := n.views.read()
	d := statuspage.Details{Time: time.Now(), Links: shownLinks(v, n.endpoint.Links())}
	if journals, ok := extension.Get[storestatus.Journals](n.System); ok {
		d.Journals = journals()
	}
	if projections, ok := extension.Get[*storestatus.Projections](n.System); ok {
		d.Projections = projections.Read()
	}
	seen := n.looks.placement.seen.read()
	d.Placement, d.PlacementFailure = seen.answer, seen.failure
	if schedules, ok := extension.Get[cronstatus.Source](n.System); ok {
		d.Schedules = schedules()
	}
	d.EntityTypes = shardTypes(n.System)
	if homeless := n.looks.homeless.seen.read(); hasHomeless(d.EntityTypes) {
		d.HomelessFailure = homeless.failure
		if homeless.answer != nil {
			d.Homeless = *homeless.answer
		}
	}
	return d
}

func shownLinks(v View, channels []linkstatus.Link) []statuspage.Link {
	shown := []statuspage.Link{}
	for _, c := range channels {
		if last := len(shown) - 1; last < 0 || shown[last].Peer != c.Peer {
			shown = append(shown, statuspage.Link{Peer: c.Peer, Name: memberAt(v, c.Peer)})
		}
		addChannel(&shown[len(shown)-1], c)
	}
	return shown
}

func memberAt(v View, address string) string {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Address == address && m.Status < Down })
	if i < 0 {
		return ""
	}
	return v.Members[i].Name
}

// addChannel adds the numbers of a channel to its link. The worst channel decides the state.
func addChannel(l *statuspage.Link, c linkstatus.Link) {
	if state := linkState(c); l.State == "" || linkRank(state) < linkRank(l.State) {
		l.State, l.Since = state, timeOrNil(c.Since)
	}
	l.Queued += c.Queued
	l.Bytes += c.QueuedBytes
	l.InDoubt += c.InDoubt
	l.Full = l.Full || c.Full
	l.Dropped += c.Dropped
	l.SentMessages += c.SentMessages
	l.SentBytes += c.SentBytes
	l.Resent += c.Resent
	l.ReceivedMessages += c.ReceivedMessages
	l.ReceivedBytes += c.ReceivedBytes
	if c.LastError != "" && (l.LastErrorAt == nil || c.LastErrorAt.After(*l.LastErrorAt)) {
		l.LastError, l.LastErrorAt = figureText(c.LastError), timeOrNil(c.LastErrorAt)
	}
}

func linkState(c linkstatus.Link) string {
	if c.Refused {
		return statuspage.LinkRefused
	}
	return string(c.State)
}

// linkRank ranks states: the worst has the lowest rank.
func linkRank(state string) int {
	worst := []string{statuspage.LinkRefused, string(linkstatus.Failing), string(linkstatus.Connecting), string(linkstatus.Connected)}
	return cmp.Or(slices.Index(worst, state)+1, len(worst)+1)
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
