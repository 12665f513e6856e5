package membership

import (
	"slices"
	"time"
)

// A phase is where an incarnation of a node is in its life.
type phase uint8

const (
	phaseIdle      phase = iota
	phaseJoining         // asks for a cluster to join
	phaseMember          // stands in the table: joining, up, leaving or exiting
	phaseDowned          // has been given up; stops what it runs
	phaseDeparting       // runs nothing any more, and has told so
	phaseEnded
)

// A core is what all parts of a machine share: the settings, the time, the table, and the
// actions of the step.
type core struct {
	set      Settings
	self     ID
	phase    phase
	now      time.Time
	out      []Action
	deferred []Action // follow what the step decides

	wallAhead time.Duration // of the calendar over now; its steps must not move anything but dates

	table      table
	sums       sums // of the table
	seenBy     seenBy
	dirty      bool  // something has changed that others may depend on
	converged  bool  // the members agreed at the end of the last step that changed anything
	news       table // what has changed in this step
	own        table // what of that this node has decided
	acting     bool  // our being up rests on a whole table: we know of all that are up
	founded    bool  // this node has founded the cluster
	version    uint64
	removed    map[ID]time.Time // when this node learned of it
	waitingFor string           // for what a node without a cluster waits, as people are shown
	absent     []string         // for whom

	onDecide func(change table) // nil but in tests: sees what this node decides, before it is in the table
}

// recent reports whether at is set and at most d ago.
func (c *core) recent(at time.Time, d time.Duration) bool {
	return !at.IsZero() && c.now.Sub(at) <= d
}

func (c *core) do(a Action) { c.out = append(c.out, a) }

func (c *core) tell(id ID, msg message) { c.do(Send{To: id, msg: msg}) }

// change returns an empty table to fill in what is to change.
func (c *core) change() table { return newTable(c.table.cluster) }

// begin forgets the changes of a step once their consequences have been drawn.
func (c *core) begin() { c.news, c.own = c.change(), c.change() }

// merge takes over what another node knows, and returns the part that is new.
func (c *core) merge(t table) table {
	news := c.table.merge(t)
	c.news.merge(news)
	c.dirty = c.dirty || !news.empty()
	return news
}

// decide applies a change that this node has decided, and tells it to all members at the end of
// the step.
func (c *core) decide(t table) {
	if c.onDecide != nil {
		c.onDecide(t)
	}
	c.own.merge(c.merge(t))
}

// agree reports whether all members are known to agree on who is a member.
func (c *core) agree() bool { return c.table.converged(c.seenBy, c.table.unreachable()) }

// unix returns the date, in seconds of Unix time.
func (c *core) unix() int64 { return c.now.Add(c.wallAhead).Unix() }

// others returns the members except this node.
func (c *core) others() []ID {
	return slices.DeleteFunc(c.table.ids(), func(id ID) bool { return id == c.self })
}

// enter makes the node a member according to a whole table.
func (c *core) enter(t table) {
	c.phase = phaseMember
	c.table = newTable(t.cluster)
	c.begin()
	c.merge(t)
	change := c.change()
	change.rows[c.self] = row{Version: 1}
	c.decide(change)
}

// afterwards adds an action that follows what this step decides.
func (c *core) afterwards(a Action) { c.deferred = append(c.deferred, a) }
