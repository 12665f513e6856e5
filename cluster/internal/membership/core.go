package membership

import (
	"slices"
	"time"
)

type phase uint8

const (
	phaseIdle      phase = iota
	phaseJoining         // asks for a cluster to join
	phaseMember          // is in the table: joining, up, leaving or exiting
	phaseDowned          // is down; stops its actors
	phaseDeparting       // has stopped everything and has told the others
	phaseEnded
)

// A core holds what all parts of a machine share: the settings, the time, the table, and the
// actions of the current step.
type core struct {
	set      Settings
	self     ID
	phase    phase
	now      time.Time
	out      []Action
	deferred []Action // sent after the changes that the step decides

	wallAhead time.Duration // calendar minus now; when it jumps, only dates may change

	table      table
	sums       sums // of the table
	seenBy     seenBy
	dirty      bool  // a change may have consequences in other parts
	converged  bool  // the members agreed at the end of the last step that changed anything
	news       table // what has changed in this step
	own        table // the part of news that this node has decided
	acting     bool  // this node is up and knows all members that are up, from a whole table
	founded    bool  // this node has founded the cluster
	version    uint64
	removed    map[ID]time.Time // when this node learned of each removal
	waitingFor obstacle         // of a node without a cluster, as shown to users
	lost       string           // why this incarnation was taken down
	absent     []string         // the addresses that it waits for

	onDecide func(change table) // for tests: receives each decision before its merge
}

// recent reports whether at is set and at most d ago.
func (c *core) recent(at time.Time, d time.Duration) bool {
	return !at.IsZero() && c.now.Sub(at) <= d
}

func (c *core) do(a Action) { c.out = append(c.out, a) }

func (c *core) tell(id ID, msg message) { c.do(Send{To: id, msg: msg}) }

func (c *core) change() table { return newTable(c.table.cluster) }

func (c *core) begin() { c.news, c.own = c.change(), c.change() }

// merge adopts what another node knows, and returns the part that is new.
func (c *core) merge(t table) table {
	news := c.table.merge(t)
	c.news.merge(news)
	c.dirty = c.dirty || !news.empty()
	return news
}

// decide applies a change that this node has decided. The node sends it to all members at the
// end of the step.
func (c *core) decide(t table) {
	if c.onDecide != nil {
		c.onDecide(t)
	}
	c.own.merge(c.merge(t))
}

func (c *core) agree() bool { return c.table.converged(c.seenBy, c.table.unreachable()) }

func (c *core) unix() int64 { return c.now.Add(c.wallAhead).Unix() }

func (c *core) others() []ID {
	return slices.DeleteFunc(c.table.ids(), func(id ID) bool { return id == c.self })
}

// enter makes this node a member of the cluster that a whole table describes.
func (c *core) enter(t table) {
	c.phase = phaseMember
	c.table = newTable(t.cluster)
	c.begin()
	c.merge(t)
	change := c.change()
	change.rows[c.self] = row{Version: 1}
	c.decide(change)
}

// afterwards adds an action that is done after the changes of this step have been sent.
func (c *core) afterwards(a Action) { c.deferred = append(c.deferred, a) }
