package cluster

import (
	"time"

	"go.uber.org/zap"
)

// stallAfter is how long the same must have been waited for before it is logged.
const stallAfter = 5 * time.Second

// A stallTimer notices when something is being waited for that does not come.
type stallTimer struct {
	why   string
	since time.Time
	told  bool
}

// lost reports, once, that the same has been waited for too long.
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

// explain logs what this node is waiting for, when it has been for a while.
func (l *incarnation) explain(now time.Time) {
	if why := l.node.View().Waiting(); l.stall.lost(why, now) {
		l.node.log.Warn("waiting", zap.String("reason", why))
	}
}
