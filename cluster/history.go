package cluster

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
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
func (h historyWriter) changed(changes []membership.Change, before, v membership.View) {
	if len(before.Members) == 0 && len(v.Members) > 0 {
		h.ring.Add(time.Now(), "this node is a member", v.Self.Name, fmt.Sprintf("the cluster has %d members", len(v.Members)))
		return
	}
	for _, each := range changes {
		h.add(each, before.Self)
	}
}

// self is this node as it was before.
func (h historyWriter) add(change membership.Change, self membership.Member) {
	add := func(kind, subject, reason string) { h.ring.Add(time.Now(), kind, subject, reason) }
	name := change.Member.Name
	switch change.Kind {
	case membership.MemberUp:
		add("member up", name, "")
	case membership.MemberLeaving:
		add("member leaving", name, "")
	case membership.MemberDowned:
		add("member down", name, "")
	case membership.MemberRemoved:
		add("member removed", name, whyRemoved(change))
	case membership.MemberUnreachable:
		add("member unreachable", name, "")
	case membership.MemberReachable:
		add("member reachable again", name, "")
	case membership.LeaderChanged:
		if change.Role == "" {
			add("leader changed", cmp.Or(name, "no member"), "")
		}
	case membership.MembershipLost:
		if leftInOrder(change.Member, self) {
			add("node has left the cluster", self.Name, "")
		} else {
			add("membership lost", name, "")
		}
	case membership.MemberJoined, membership.MemberExiting:
	}
}

func whyRemoved(c membership.Change) string {
	switch {
	case c.Before.Status == membership.Down && !c.Clean:
		return "it was down"
	case c.Clean:
		return "nothing runs there any more"
	}
	return "it has not said that it has stopped"
}

// self is the node as it is, before as it was.
func leftInOrder(self, before membership.Member) bool {
	return self.Status != membership.Down && (before.Status == membership.Leaving || before.Status == membership.Exiting)
}

func (h historyWriter) ended(name string, err error) {
	h.ring.Add(time.Now(), "node has ended", name, err.Error())
}
