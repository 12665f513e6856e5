package cluster

import (
	"time"

	"github.com/understudy-go/understudy/internal/statuspage"
)

func (n *statusSource) History() statuspage.History {
	return statuspage.History{Time: time.Now(), Node: n.cfg.NodeID, Events: n.chronicle.ring.Events(n.cfg.NodeID)}
}
