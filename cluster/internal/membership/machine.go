package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A Machine is the membership of one incarnation of a node. It passes each [Input] to the
// responsible part. The parts share a core, and each has a state of its own.
type Machine struct {
	*core
	contacts      *contacts        // the nodes to ask for a cluster
	group         *seedGroup       // which node founds when no seed lists itself first
	bootstrap     *bootstrap       // whether this node founds a cluster
	join          *join            // how this node gets into a cluster
	admission     *admission       // which nodes may become members
	leader        *leadership      // what the leader does for the cluster
	dissemination *dissemination   // heartbeats and changes for other members
	observation   *observation     // which members are unreachable
	resolver      *splitResolver   // which members are taken down
	clusters      *clusterMerge    // what happens when there are two clusters
	departure     *departure       // how this incarnation ends
	discovery     *discovery       // what discovery has found
	unknown       map[ID]time.Time // senders that are not members, and since when they send
}

// New returns the machine of an incarnation. Its first input is [Started].
func New(set Settings) *Machine {
	set.Self.Downing = downing.Names(set.Downing)
	c := &core{
		set:     set,
		self:    set.Self.ID(),
		table:   newTable(ClusterID{}),
		version: set.Version,
		removed: map[ID]time.Time{},
	}
	c.begin()
	m := &Machine{
		core:          c,
		discovery:     &discovery{core: c, last: map[string]time.Time{}},
		admission:     &admission{core: c},
		leader:        &leadership{core: c},
		dissemination: &dissemination{core: c, requests: map[ID]time.Time{}},
		observation:   &observation{core: c, monitor: newMonitor(set.Detector), doubted: map[ID]bool{}},
		resolver:      &splitResolver{core: c},
		departure:     &departure{core: c, acked: map[ID]bool{}, known: map[string]bool{}},
		unknown:       map[ID]time.Time{},
	}
	for _, address := range set.Known {
		m.departure.known[address] = true
	}
	m.contacts = newContacts(c, m.discovery)
	m.group = &seedGroup{core: c, contacts: m.contacts, lists: map[string]seedList{}}
	m.bootstrap = &bootstrap{core: c, contacts: m.contacts, group: m.group}
	m.join = &join{core: c, contacts: m.contacts, group: m.group, bootstrap: m.bootstrap, departure: m.departure, replaces: set.Earlier}
	m.clusters = &clusterMerge{core: c, contacts: m.contacts, departure: m.departure, gossip: map[ID]bool{}}
	return m
}

// Self returns the identity of this incarnation.
func (m *Machine) Self() ID { return m.self }

// SetCalendar sets how far the calendar is ahead of the time that [Machine.Step] gets. Only the
// dates at which removed members are forgotten depend on it.
func (m *Machine) SetCalendar(ahead time.Duration) { m.wallAhead = ahead }

// HighestPhi returns the highest phi of the members that this node observes, see package phi; 0 if
// it observes none.
func (m *Machine) HighestPhi(now time.Time) float64 { return m.observation.monitor.highestPhi(now) }

// Step handles one input at time now, and returns the resulting actions. The caller executes
// them in order. The time must not go back. Step is not safe for concurrent use.
func (m *Machine) Step(ev Input, now time.Time) []Action {
	m.now = now
	before := m.phase
	m.handle(ev)
	if before != phaseMember && m.phase == phaseMember {
		m.entered()
	}
	m.settle()
	m.out, m.deferred = append(m.out, m.deferred...), nil
	m.dissemination.sendNewsHeartbeat()
	out := m.out
	m.out = nil
	return out
}

func (m *Machine) handle(ev Input) {
	switch ev := ev.(type) {
	case Started:
		if m.phase == phaseIdle {
			m.join.begin()
		}
	case Ticked:
		m.tick()
	case Received:
		m.receive(ev.From, ev.msg)
	case Gossiped:
		m.learn(ev.msg)
	case DialFailed:
		if m.phase == phaseMember {
			m.observation.refusedFor(ev)
		}
		m.join.dialFailed(ev)
	case Found:
		m.join.foundAddresses(ev)
	case Connected:
		m.clusters.connected(ev)
	case LeaseAnswered:
		m.resolver.leaseAnswered(ev)
	case LeaveAsked:
		m.departure.leave()
	case DownAsked:
		m.resolver.down(ev.Name)
	case FoundWithoutAsked:
		m.do(Reply{To: ev.Answer, Err: m.join.foundWithout(ev.Addresses)})
	case Drained:
		m.departure.drained()
	case Stopped:
		m.departure.stopped()
	}
}

// settle handles the consequences of changes, until nothing changes any more.
func (m *Machine) settle() {
	if !m.dirty {
		return
	}
	for m.dirty {
		m.dirty = false
		if m.phase != phaseMember {
			continue
		}
		m.addUp()
		m.watch()
		m.leader.lead()
	}
	if m.phase == phaseMember {
		m.converged = m.agree()
		m.dissemination.tellNews()
		m.resolver.stability.note(m.table, m.now)
	}
	m.begin()
	if m.phase == phaseMember && m.table.status(m.self) >= Down {
		m.departure.goDown(m.resolver.whyDown(), nil)
	} else {
		m.publish()
	}
}

// addUp computes the sums of the table, and starts to collect witnesses anew if the members
// have changed.
func (m *Machine) addUp() {
	before := m.sums
	m.sums = m.table.sums()
	if m.sums.members != m.seenBy.sum || m.seenBy.ids == nil {
		m.seenBy = newSeenBy(m.sums.members, m.table.ids(), m.self)
	}
	m.dissemination.hasNews = m.dissemination.hasNews || m.sums != before
}

func (m *Machine) watch() {
	m.dissemination.near = m.table.neighbours(m.self)
	m.observation.observed = m.dissemination.near.observed
	m.observation.watchSubjects()
	for _, id := range slices.SortedFunc(maps.Keys(m.news.tombstones), ID.Compare) {
		if _, known := m.removed[id]; !known && id != m.self {
			m.removed[id] = m.now
			m.do(Forget{id})
		}
	}
}

func (m *Machine) tick() {
	switch m.phase {
	case phaseJoining:
		m.discovery.discoverWhenDue()
		m.join.askWhenDue()
	case phaseMember:
		m.dissemination.sendWhenDue()
		m.observation.report()
		m.settle() // a change that is seen only now begins a new stable period
		m.resolver.judge()
		m.discovery.discoverWhenDue()
		m.clusters.greetWhenDue()
		m.tidy()
	case phaseDeparting:
		m.departure.endWhenDue()
	case phaseIdle, phaseDowned, phaseEnded:
	}
}

func (m *Machine) tidy() {
	m.table.forget(m.unix()-int64(tombstoneFor/time.Second), func(id ID) bool { return m.now.Sub(m.removed[id]) >= tombstoneAtLeast })
	maps.DeleteFunc(m.removed, func(id ID, _ time.Time) bool { return m.table.status(id) != Removed })
	maps.DeleteFunc(m.dissemination.requests, func(_ ID, until time.Time) bool { return m.now.After(until) })
	maps.DeleteFunc(m.unknown, func(_ ID, since time.Time) bool { return m.now.Sub(since) > 2*unknownFor })
}

func (m *Machine) entered() {
	clear(m.departure.known)
	m.dissemination.beatAt, m.clusters.greetAt = m.now, m.now.Add(greetEvery)
	if m.founded {
		m.clusters.greetAt = m.now // nodes that ask only rarely by now then join at once
	}
}

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
