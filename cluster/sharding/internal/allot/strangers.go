package allot

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// strangers are the former members that may still be running, and that have not told this
// coordinator what they run. Without a journal it cannot know that.
type strangers struct {
	all []home.Gone
}

func (o *strangers) update(gone []home.Gone, nodes *home.Nodes) {
	o.all = nil
	for _, g := range gone {
		if n, known := nodes.Node(home.NodeID{Name: g.Name, Incarnation: g.Incarnation}); !known || !n.Ready {
			o.all = append(o.all, g)
		}
	}
}

// running returns one that may still be running, if there is one. Of several it returns the one
// that may run the longest.
func (o *strangers) running(now time.Time) (last home.Gone, ok bool) {
	for _, g := range o.all {
		switch {
		case !g.Until.IsZero() && !now.Before(g.Until):
		case g.Until.IsZero():
			return g, true
		case !ok || last.Until.Before(g.Until):
			last, ok = g, true
		}
	}
	return last, ok
}

// stranger returns a former member that may still run a shard without a home, if there is one.
func (s *shards) stranger(sh *shard) (g home.Gone, ok bool) {
	if !s.cfg.Forgetful || sh.met || sh.fenced() {
		return g, false
	}
	return s.strangers.running(s.nodes.Now())
}

// awaitsStranger reports whether a shard must not start yet because a former member may run it.
func (s *shards) awaitsStranger(sh *shard) bool {
	g, waits := s.stranger(sh)
	if waits && !g.Until.IsZero() {
		s.nodes.Wake(sh.label, g.Until)
	}
	return waits
}

func whyStranger(g home.Gone) string {
	return fmt.Sprintf("%s, which is no longer a member, may still run it, and the coordinator has no journal that says whether it does", g.Name)
}
