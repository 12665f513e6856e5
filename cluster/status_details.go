package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/cronstatus"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/linkstatus"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/internal/storestatus"
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
