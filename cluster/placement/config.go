package placement

import (
	"cmp"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/singleton/generation"
)

// Config says how actors are placed. But for Factories it must be the same on all nodes.
type Config struct {
	// Journal keeps the specs, and so must be shared by all nodes: it is what the next
	// coordinator goes on from. It must be given. Closing it is for who has opened it, after
	// the node has left.
	Journal persistence.Journal

	// Factories are what this node can run: one for each type. They may be others on each
	// node, and none where nothing is to run; see [Type.Factory]. A spec of a type for which
	// a node has no factory does not start there, and is tried elsewhere.
	Factories []Factory

	// Strategy chooses among the nodes that may run an actor. The default is [LeastLoaded].
	Strategy Strategy

	// Election says which node runs the coordinator. The default is [Oldest] of all nodes.
	Election Election

	// Generations is where singletons get their generations from, shared by all nodes. The
	// default is generations.NewJournal of Journal.
	Generations generation.Source

	// RemovalMargin is how long after a node was removed, without a sign that it has stopped,
	// what ran on it may still be running, and so is not started elsewhere: a node that was
	// cut off needs the time to find out. The default is what the cluster recommends, see
	// cluster.Gone. Where it does no harm that an actor runs twice for a while, as it only
	// reads, or is event-sourced, or has a fence at what it writes to, take a negative one:
	// there is none then.
	RemovalMargin time.Duration

	// AckTimeout is how long a node may take to answer before it is asked again; it may take
	// longer to start an actor. The default is five seconds.
	AckTimeout time.Duration

	// Retry is how long a start that has failed waits for the next attempt, doubled each time
	// from Min up to Max. The default is from one second up to a minute. Jitter and
	// ResetAfter mean nothing here.
	Retry actor.Backoff

	// SourceTimeout is how long Generations may take to answer. The default is ten seconds.
	SourceTimeout time.Duration

	// DrainTimeout is how long cluster.Node.Leave waits until what runs on the node has been
	// moved; it becomes the time of actor.ServiceRequestsDone of that node. The default is 30
	// seconds.
	DrainTimeout time.Duration
}

// withDefaults returns c with what was left out, or what is wrong with it.
func (c Config) withDefaults() (Config, error) {
	if c.Journal == nil {
		return c, plan.BadField("Config.Journal", "Config.Journal is nil; give all nodes the same journal, as persistence/sqlite opens one, or persistence/memory in tests")
	}
	for name, d := range map[string]time.Duration{
		"AckTimeout": c.AckTimeout, "Retry.Min": c.Retry.Min, "Retry.Max": c.Retry.Max,
		"SourceTimeout": c.SourceTimeout, "DrainTimeout": c.DrainTimeout,
	} {
		if d < 0 {
			return c, plan.BadField("Config."+name, "Config.%s is negative: %v; leave it out for the default", name, d)
		}
	}
	if c.Strategy == nil {
		c.Strategy = LeastLoaded()
	}
	if c.Election.Elect == nil {
		c.Election = Oldest("")
	}
	if c.Election.Name == "" {
		return c, plan.BadField("Config.Election.Name", "Config.Election has no Name; nodes tell elections apart by it")
	}
	if c.Generations == nil {
		c.Generations = generations.NewJournal(c.Journal)
	}
	c.AckTimeout = cmp.Or(c.AckTimeout, 5*time.Second)
	c.Retry.Min = cmp.Or(c.Retry.Min, time.Second)
	c.Retry.Max = max(cmp.Or(c.Retry.Max, time.Minute), c.Retry.Min)
	c.SourceTimeout = cmp.Or(c.SourceTimeout, 10*time.Second)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 30*time.Second)
	return c, nil
}

// machine returns the settings of the machine of a coordinator on the node of that name.
func (c Config) planner(epoch uint64, self string) plan.Config {
	return plan.Config{
		Epoch: epoch, Strategy: c.Strategy, Election: c.Election.HeldBy(self),
		AckTimeout: c.AckTimeout, Retry: c.Retry.Min, RetryMax: c.Retry.Max, SourceTimeout: c.SourceTimeout,
	}
}
