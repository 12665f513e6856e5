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
