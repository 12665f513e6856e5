package placement

import (
	"cmp"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// A Config has the settings of placement on a node. Apart from Factories it must be the same on all
// nodes.
type Config struct {
	// Factories make the actors that this node can run, one for each type; see [Type.Factory]. They
	// may differ from node to node. If a node has no factory for the type of an actor, the actor
	// does not start there, and is tried elsewhere. By default no actors run on this node.
	Factories []Factory

	// Strategy chooses among the nodes that the constraints of an actor allow. The default is
	// [LeastLoaded].
	Strategy Strategy

	// Election orders the nodes for the coordinator: the first node that is up and has Role runs
	// it. It may differ from cluster.Config.Leader. The default is cluster.Oldest. An election of
	// your own needs a Name.
	Election cluster.LeaderElection

	// Role is the role that a node needs to run the coordinator. While no node has it there is no
	// coordinator. The default, "", allows all nodes.
	Role string

	// Generations issues the terms of singletons. All nodes must share it. The default is nil: the
	// coordinator issues them in cluster.Config.Journal.
	Generations GenerationSource

	// RemovalMargin is how long the actors of a removed node are not started elsewhere, unless the
	// node is known to have stopped. It gives a partitioned node time to down itself. The default
	// is what the cluster recommends; see cluster.Gone. A negative value means no margin: use it if
	// two actors at once do no harm, because they only read, are event-sourced, or write to
	// something that fences them.
	RemovalMargin time.Duration

	// AckTimeout is how long a node may take to answer before a request is repeated; starting an
	// actor may take longer. The default is 5 s. It must not be negative.
	AckTimeout time.Duration

	// Retry is the delay before the next attempt after a failed start. It doubles with each
	// failure, from Min to Max. The default is from 1 s to 1 min. Neither may be negative; a Max
	// below Min counts as Min. The fields Jitter and Reset are ignored.
	Retry actor.Backoff

	// DrainTimeout is how long cluster.Node.Leave waits until the actors of the node have been
	// moved. It becomes the timeout of the phase actor.ServiceRequestsDone of the node. The default
	// is 30 s. It must not be negative.
	DrainTimeout time.Duration
}

// withDefaults returns c with the defaults of the fields that are not set, or a [*FieldError].
func (c Config) withDefaults() (Config, error) {
	for name, d := range map[string]time.Duration{
		"AckTimeout": c.AckTimeout, "Retry.Min": c.Retry.Min, "Retry.Max": c.Retry.Max,
		"DrainTimeout": c.DrainTimeout,
	} {
		if d < 0 {
			return c, badField("Config."+name, "Config.%s is negative: %v; leave it out for the default", name, d)
		}
	}
	if c.Strategy == nil {
		c.Strategy = LeastLoaded()
	}
	if c.Election.Compare == nil {
		c.Election = cluster.Oldest()
	}
	if c.Election.Name == "" {
		return c, badField("Config.Election.Name", "Config.Election has no Name; nodes tell elections apart by it")
	}
	c.AckTimeout = cmp.Or(c.AckTimeout, 5*time.Second)
	c.Retry.Min = cmp.Or(c.Retry.Min, time.Second)
	c.Retry.Max = max(cmp.Or(c.Retry.Max, time.Minute), c.Retry.Min)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 30*time.Second)
	return c, nil
}

// planner returns the settings of the planner of a coordinator on the node of that name.
func (c Config) planner(epoch uint64, self string) plannerConfig {
	cfg := plannerConfig{
		Config:   home.Config{Epoch: epoch, AckTimeout: c.AckTimeout, Retry: c.Retry.Min, RetryMax: c.Retry.Max},
		Strategy: c.Strategy, Election: c.election(self),
	}
	if c.Generations != nil {
		cfg.SourceTimeout = claimTimeout
	}
	return cfg
}

// election returns the election for the planner. holder is the name of the node that runs the
// coordinator; "" means an unknown node.
func (c Config) election(holder string) election {
	order := membership.LeaderElection{Name: c.Election.Name, Compare: func(a, b membership.Member) int {
		return c.Election.Compare(candidate(a), candidate(b))
	}}
	return election{Order: order, Role: c.Role, Holder: holder}
}

func candidate(m membership.Member) cluster.Member {
	return cluster.Member{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: cluster.Status(m.Status),
		UpNumber: m.UpNumber, Roles: m.Roles, Meta: m.Meta,
	}
}
