package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/history"
)

// A historyWriter puts changes and decisions of the membership into the history of a node, in the
// words of the log.
type historyWriter struct{ ring *history.Ring }

func newHistoryWriter(s *actor.System) historyWriter {
	return historyWriter{extension.Ensure(s, history.New)}
}

// noted adds a decision of the membership. v is the view in which the decision was taken.
func (h historyWriter) noted(a membership.Note, v View) {
	h.ring.Add(time.Now(), a.Text, cmp.Or(memberAt(v, a.Address), a.Address), a.Reason)
}

// changed adds the changes that lead from the view before to v. A node that joins does not add the
// members that it finds, because they may be more than a history can hold.
func (h historyWriter) changed(changes []Event, before, v View) {
	if len(before.Members) == 0 && len(v.Members) > 0 {
		h.ring.Add(time.Now(), "this node is a member", v.Self.Name, fmt.Sprintf("the cluster has %d members", len(v.Members)))
		return
	}
	for _, e := range changes {
		h.add(e, before.Self)
	}
}

// self is this node as it was before.
func (h historyWriter) add(e Event, self Member) {
	add := func(kind, subject, reason string) { h.ring.Add(time.Now(), kind, subject, reason) }
	switch e := e.(type) {
	case MemberUp:
		add("member up", e.Member.Name, "")
	case MemberLeaving:
		add("member leaving", e.Member.Name, "")
	case MemberDowned:
		add("member down", e.Member.Name, "")
	case MemberRemoved:
		add("member removed", e.Member.Name, whyRemoved(e))
	case MemberUnreachable:
		add("member unreachable", e.Member.Name, "")
	case MemberReachable:
		add("member reachable again", e.Member.Name, "")
	case LeaderChanged:
		if e.Role == "" {
			add("leader changed", cmp.Or(e.After.Name, "no member"), "")
		}
	case MembershipLost:
		if leftInOrder(e, self) {
			add("node has left the cluster", self.Name, "")
		} else {
			add("membership lost", e.Self.Name, "")
		}
	case MemberJoined, MemberExiting:
	}
}

func whyRemoved(e MemberRemoved) string {
	switch {
	case e.Before == Down && !e.Clean:
		return "it was down"
	case e.Clean:
		return "nothing runs there any more"
	}
	return "it has not said that it has stopped"
}

// self is the node as it was before.
func leftInOrder(e MembershipLost, self Member) bool {
	return e.Self.Status != Down && (self.Status == Leaving || self.Status == Exiting)
}

func (h historyWriter) ended(name string, err error) {
	h.ring.Add(time.Now(), "node has ended", name, err.Error())
}
