package shell

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
)

// IncarnationOf returns the incarnation under which a node is a member, or 0 if it is not one.
func IncarnationOf(self cluster.Member) uint64 {
	if self.Status < cluster.Joining || self.Status > cluster.Exiting {
		return 0
	}
	return self.Incarnation
}

// ViewChanged tells a coordinator that the view of its node has changed. It has no content, because
// what counts is the view at the time when it is handled; see [ViewOf].
type ViewChanged struct{}

// IsInput implements [home.Input].
func (ViewChanged) IsInput() {}

// Listen has a coordinator told of each change of the view of its node. It returns where agents
// send their messages.
func Listen(ctx *actor.Context[home.Input], n *cluster.Node) actor.ActorRef[home.FromAgent] {
	ctx.Defer(cluster.Subscribe(n, actor.Adapt(ctx, func(cluster.View) home.Input { return ViewChanged{} })))
	return actor.Adapt(ctx, func(msg home.FromAgent) home.Input { return home.Received{Message: msg} })
}

// ViewOf returns the view of n. It always has the whole state, so no change is missed, and a new
// coordinator knows as much as the old one. A former member may still be running for the duration
// margin after its removal. A margin of 0 stands for the one that the cluster recommends, and a
// negative margin for no time. member is false if n is no member, because the view of a former
// member says nothing about the others.
func ViewOf(n *cluster.Node, margin time.Duration) (now home.ViewChanged, member bool) {
	v := n.View()
	for _, m := range v.Members {
		if m.Status == cluster.Down { // its time to run is known once it has been removed
			now.Gone = append(now.Gone, home.Gone{Name: m.Name, Incarnation: m.Incarnation})
			continue
		}
		now.Nodes = append(now.Nodes, NodeOf(m, v.Reachable(m))) // an exiting node is still stopping its actors
	}
	for _, g := range n.Gone(v) {
		until := g.Until
		if margin != 0 {
			until = g.Since.Add(max(margin, 0))
		}
		now.Gone = append(now.Gone, home.Gone{Name: g.Name, Incarnation: g.ID.Incarnation, Until: until})
	}
	return now, IncarnationOf(v.Self) != 0
}

// NodeOf returns what the cluster knows of a member.
func NodeOf(m cluster.Member, reachable bool) home.Node {
	return home.Node{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Up: m.Status == cluster.Up, Reachable: reachable,
		AppVersion: m.AppVersion,
	}
}

// Tell sends a message of a coordinator to the agent of that name on the message's node, if that is
// in v. Without it, the coordinator has already taken the node into account.
func Tell(s *actor.System, agent string, v home.View, msg home.Send, replyTo actor.ActorRef[home.FromAgent]) {
	n, known := v.Node(msg.Node)
	if !known || n.Incarnation != msg.Incarnation {
		return
	}
	actor.Resolve[home.ToAgent](s, "understudy://"+s.Name()+"@"+n.Address+Path(agent)).Tell(msg.Message(replyTo))
}
