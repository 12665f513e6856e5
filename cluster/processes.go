package cluster

import (
	"sync"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/volatile"
)

// inThisProcess has the addresses of the nodes of this process, as those of a test.
var inThisProcess sync.Map

// noteProcesses says that the cluster has another process, so that a journal in the memory of this
// one is a mistake.
func noteProcesses(n *Node, v membership.View) {
	for _, m := range v.Members {
		if _, here := inThisProcess.Load(m.Address); !here {
			volatile.Of(n.System).Spread(m.Name)
			return
		}
	}
}
