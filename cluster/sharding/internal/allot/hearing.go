package allot

import "time"

// A hearing is the time in which a new coordinator gives no homes, because members have not said
// yet what they host: the first one to say so would get all shards.
type hearing struct {
	until time.Time // when it ends at the latest; zero before the nodes have said what they run
	over  bool
}

// listen ends the hearing when all members have been heard, or have had their time. Before a member
// is up there is nobody to hear.
func listen(s *shards) {
	up, silent := heard(s)
	if s.hearing.over || up == 0 {
		return
	}
	if s.hearing.until.IsZero() {
		s.hearing.until = s.nodes.Now().Add(s.cfg.HelloWait)
	}
	if silent == "" || !s.nodes.Now().Before(s.hearing.until) {
		s.hearing.over = true
		declareHeard(s)
		s.touchAll()
	}
}

// heard returns how many members are up and can be reached, and the name of one of these that has
// not said yet what it hosts, or "".
func heard(s *shards) (up int, silent string) {
	for _, n := range s.nodes.View().Nodes {
		if !n.Up || !n.Reachable {
			continue
		}
		up++
		if !s.offers.said(n) && silent == "" {
			silent = n.Name
		}
	}
	return up, silent
}

// next returns when the hearing ends at the latest.
func (h *hearing) next() (time.Time, bool) { return h.until, !h.over && !h.until.IsZero() }
