package allot

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/deadlines"
)

// A Config has the settings of a [Machine]. Every field but Forgetful and Strategy is required.
// Forgetful says that the coordinators share no journal.
type Config struct {
	home.Config
	FirstTerm      uint64 // the lowest generation that a shard gets
	RebalanceEvery time.Duration
	HelloWait      time.Duration // how long a new coordinator waits for what nodes offer before it gives homes
	LeaseRetry     time.Duration // after which a lease is tried again that was not to be had

	// Strategy returns the user's strategy for a type. ok is false for the default, which chooses
	// the node with the fewest shards of the type.
	Strategy func(typ string) (own Strategy, ok bool)
}

// A Machine decides everything that the coordinator does; see the package documentation.
type Machine struct {
	Unfit  []string // keys in the ledger whose records fit nothing, and are left out
	cfg    Config
	nodes  *home.Nodes
	shards *shards
	book   *table.Book
	has    map[home.NodeID]table.Version // the tables that nodes have
	pushes deadlines.Map[home.NodeID]    // when a table is sent again
}

// New returns a machine that continues from the ledger of the journal. The caller then calls Step
// with home.Recovered. With a ledger that has lost facts, the machine does not trust the others,
// and asks all nodes what they run.
func New(cfg Config, l home.Ledger) *Machine {
	m := &Machine{Unfit: unfit(l.All()), has: map[home.NodeID]table.Version{}, book: table.NewBook(cfg.Epoch)}
	cfg.Forgetful = cfg.Forgetful || len(m.Unfit) > 0
	m.cfg, m.nodes = cfg, home.New(cfg.Config)
	m.shards = newShards(cfg, m.nodes, m.book)
	m.nodes.Add(m.shards)
	m.replay(l)
	return m
}

// Step handles an input. The caller must store the facts before it carries out the effects.
func (m *Machine) Step(in home.Input, now time.Time) ([]home.Fact, []home.Effect) {
	if in, says := in.(Hello); says && (m.has[in.Node].Less(in.Has) || in.Has.Epoch != m.cfg.Epoch) {
		m.has[in.Node] = in.Has
	}
	m.nodes.Step(in, now)
	if m.nodes.Settled() {
		m.push()
		m.answerRescales()
	}
	return m.nodes.Facts(), m.nodes.Take()
}

// push sends the table to the nodes that do not have it, once all nodes have said what they run:
// what the coordinator knows before is not the whole truth.
func (m *Machine) push() {
	due := map[home.NodeID]bool{}
	for _, id := range m.pushes.Pass(m.nodes.Now()) {
		due[id] = true
	}
	for _, n := range m.nodes.View().Nodes {
		id := home.IDOf(n)
		u, news := m.book.Since(m.has[id])
		if !news || !m.shards.offers.any(id) {
			m.pushes.Clear(id)
			continue
		}
		if _, waits := m.pushes.Of(id); waits && !due[id] && !m.shards.changed {
			continue
		}
		m.pushes.Set(id, m.nodes.Now().Add(m.cfg.AckTimeout))
		m.nodes.Emit(Push{Node: n, Update: u, Refuse: m.shards.offers.mismatches(id, m.shards.kinds)})
	}
	m.shards.changed = false
}

// Next returns when a home.Tick is due.
func (m *Machine) Next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(m.nodes.Next())
	e.Add(m.pushes.First())
	e.Add(m.shards.hearing.next())
	e.Add(m.shards.balance.at, !m.shards.balance.at.IsZero())
	return e.At, e.OK
}

// Knows reports whether that node may run shards.
func (m *Machine) Knows(id home.NodeID) bool {
	_, known := m.nodes.Node(id)
	return known
}

// View returns the cluster as the machine knows it.
func (m *Machine) View() home.View { return m.nodes.View() }
