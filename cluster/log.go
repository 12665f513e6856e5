package cluster

import (
	"slices"

	"go.uber.org/zap"
)

// logStart says what to expect of the settings.
func (n *Node) logStart() {
	n.log.Info("node started",
		zap.String("address", n.endpoint.Addr()),
		zap.Strings("seeds", n.cfg.Seeds),
		zap.Bool("discovery", n.cfg.Discovery != nil),
		zap.Stringer("downing", n.cfg.Downing),
		zap.String("leader", n.cfg.Leader.Name),
		zap.Duration("expected_detection", n.cfg.Detector.detection()),
		zap.Duration("expected_failover", n.cfg.failover()),
		zap.Duration("margin_unfenced", n.cfg.margin()),
	)
}

// show publishes a view, and logs what has changed since the one before.
func (n *Node) show(v View) {
	before := n.View()
	n.views.show(v)
	n.logMembers(before, v)
	n.logReachability(before, v)
	if old, is := name(before.Leader()), name(v.Leader()); old != is {
		n.log.Info("leader changed", zap.String("leader", is), zap.String("before", old))
	}
}

func name(m Member, ok bool) string {
	if !ok {
		return ""
	}
	return m.Name
}

func (n *Node) logMembers(before, v View) {
	for _, m := range v.Members {
		if i := slices.IndexFunc(before.Members, m.same); i < 0 || before.Members[i].Status != m.Status {
			n.log.Info("member changed", fields(m)...)
		}
	}
	for _, m := range before.Members {
		if !slices.ContainsFunc(v.Members, m.same) && len(v.Members) > 0 {
			m.Status = Removed
			n.log.Info("member changed", fields(m)...)
		}
	}
}

func (n *Node) logReachability(before, v View) {
	for _, m := range v.Members {
		if was, is := before.Reachable(m), v.Reachable(m); was && !is {
			n.log.Warn("member unreachable", append(fields(m), zap.Strings("by", namesOf(v.UnreachableBy(m))))...)
		} else if !was && is {
			n.log.Info("member reachable again", fields(m)...)
		}
	}
}

func fields(m Member) []zap.Field {
	return []zap.Field{
		zap.String("member", m.Name),
		zap.Stringer("status", m.Status),
		zap.Stringer("id", m.ID()),
		zap.Uint64("number", m.UpNumber),
	}
}

func namesOf(members []Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}

func (m Member) same(o Member) bool { return m.ID() == o.ID() }

// whyNotUp says what the node is waiting for.
func (n *Node) whyNotUp() string {
	if n.View().Self.Status != 0 {
		return "joined, but the members have not agreed to make it up: some may be unreachable, or fewer than MinMembers"
	}
	why := "found no cluster to join"
	addresses, failure := n.searches.latest()
	if trouble := n.troubles.of(slices.Concat(n.cfg.Seeds, addresses)); trouble != "" {
		why += " (" + trouble + ")"
	}
	if failure != nil {
		why += "; discovery fails: " + failure.Error()
	}
	if waiting := n.View().Waiting; waiting != "" {
		why += "; " + waiting
	}
	if n.cfg.Discovery != nil {
		return why
	}
	return why + "; a cluster is founded by the first seed alone, when each of the others has answered or refused the connection"
}
