package cluster

import (
	"net"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
)

func (n *Node) logStart() {
	expected := n.cfg.Expected()
	n.log.Info("node started",
		zap.String("address", n.endpoint.Addr()),
		zap.Strings("seeds", n.cfg.Seeds),
		zap.Bool("discovery", n.cfg.Discovery != nil),
		zap.Stringer("downing", n.cfg.Downing),
		zap.String("leader", n.cfg.Leader.Name),
		zap.Duration("expected_detection", expected.Detection),
		zap.Duration("worst_detection", expected.WorstDetection),
		zap.String("expected_downing", orNever(expected.Downing)),
		zap.String("expected_failover_fenced", orNever(expected.FailoverFenced)),
		zap.String("expected_failover_unfenced", orNever(expected.FailoverUnfenced)),
	)
	if len(n.cfg.Seeds) == 0 && n.cfg.Discovery == nil {
		n.cfg.logAlone(n.log, n.endpoint.Addr())
	}
}

// logAlone logs that a node founds a cluster by itself, because c names no other node. The line is
// a warning if an operator has chosen the address: then other nodes may be meant to find this one,
// and without seeds each of them would be a cluster of its own.
func (c Config) logAlone(log *zap.Logger, address string) {
	level := zap.InfoLevel
	if c.hasChosenAddress() {
		level = zap.WarnLevel
	}
	log.Log(level, "founding a cluster alone, as there are no seeds and no discovery",
		zap.String("address", address),
		zap.String("to_join_others", "set Config.Seeds, or Discovery, to the same on all nodes"),
		zap.String("to_be_the_only_node", "set Config.Seeds to this address"),
	)
}

// hasChosenAddress reports whether the address of this node is known before it starts. By default a
// free port is picked.
func (c Config) hasChosenAddress() bool {
	chosen := func(address string) bool {
		_, port, err := net.SplitHostPort(address)
		return err == nil && strings.Trim(port, "0") != ""
	}
	return chosen(c.Bind) || chosen(c.Advertise)
}

func (n *Node) show(v membership.View) {
	before := n.View().in
	n.views.publish(viewOf(v))
	noteProcesses(n, v)
	changes := v.Since(before)
	for _, c := range changes {
		n.counters.Changed(c.Kind)
		n.logChange(c, before.Self)
	}
	n.history.changed(changes, before, v)
}

// self is this node as it was before.
func (n *Node) logChange(c membership.Change, self membership.Member) {
	about := fields(c.Member)
	switch c.Kind {
	case membership.MemberJoined, membership.MemberUp, membership.MemberLeaving, membership.MemberExiting, membership.MemberDowned:
		n.log.Info("member changed", about...)
	case membership.MemberRemoved:
		n.log.Info("member changed", append(about, zap.Stringer("status_before", c.Before.Status), zap.Bool("left_in_order", c.Clean))...)
	case membership.MemberUnreachable:
		n.log.Warn("member unreachable", append(about, zap.Strings("unreachable_from", memberNames(c.By)))...)
	case membership.MemberReachable:
		n.log.Info("member reachable again", about...)
	case membership.LeaderChanged:
		n.log.Info("leader changed", zap.String("role", c.Role), zap.String("leader", c.Member.Name), zap.String("leader_before", c.Before.Name))
	case membership.MembershipLost:
		if leftInOrder(c.Member, self) {
			n.log.Info("node has left the cluster", fields(self)...)
		} else {
			n.log.Warn("membership lost", append(about, zap.Stringer("status_before", self.Status))...)
		}
	}
}

func fields(m membership.Member) []zap.Field {
	all := []zap.Field{
		zap.String("member", m.Name),
		zap.Stringer("status", m.Status),
		zap.Stringer("id", m.ID()),
		zap.Uint64("up_number", m.UpNumber),
	}
	if m.AppVersion != "" {
		all = append(all, zap.String("app_version", m.AppVersion))
	}
	return all
}

func memberNames(members []membership.Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}

func (n *Node) whyNotUp() (why string, advice []string) {
	v := n.View()
	if v.Self.Status != 0 {
		return "joined, but the members have not agreed to make it up: some may be unreachable, or fewer than MinMembers", nil
	}
	why = "found no cluster to join"
	addresses, failure := n.discoverer.latest()
	if trouble := n.dialErrors.of(slices.Concat(n.cfg.Seeds, addresses)); trouble != "" {
		why += " (" + trouble + ")"
	}
	if failure != nil {
		why += "; discovery fails: " + guard.Text(failure)
	}
	if reasons := membership.Reasons(v.in); len(reasons) > 0 {
		why += "; " + reasons[0]
		advice = slices.Clone(reasons[1:])
	}
	if n.cfg.Discovery == nil {
		advice = append(advice, "the first seed founds a cluster when each other seed has answered or refused the connection; if no node is its own first seed, the lowest address of a group of nodes that name only each other founds it")
	}
	return why, advice
}

// stallAfter is how long a node waits for the same reason before it logs that.
const stallAfter = 5 * time.Second

type stallTimer struct {
	why   string
	since time.Time
	told  bool
}

// lost reports, once per reason, that the node has waited for stallAfter.
func (p *stallTimer) lost(why string, now time.Time) bool {
	if why != p.why {
		*p = stallTimer{why: why, since: now}
	}
	if why == "" || p.told || now.Sub(p.since) < stallAfter {
		return false
	}
	p.told = true
	return true
}

func (l *machineLoop) explain(now time.Time) {
	if why := l.node.View().Waiting(); l.stall.lost(why, now) {
		l.node.log.Warn("waiting", zap.String("reason", why))
	}
}
