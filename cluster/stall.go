package cluster

import (
	"time"

	"go.uber.org/zap"
)

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
