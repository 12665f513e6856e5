package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// Settings are the settings of a machine.
type Settings struct {
	Self         Member    // name, address, incarnation, roles and metadata of this incarnation
	Seeds        []string  // the first may found a cluster, unless there is discovery
	Discovers    bool      // there is discovery
	MinSeeds     int       // how many nodes it must have found before a cluster is founded
	Force        bool      // found one although not all have answered
	Known        []string  // where members of the cluster lived that this node was in before
	Earlier      []uint64  // incarnations of this node that have ended
	Founding     ClusterID // of a cluster that this node founds, should it
	Version      uint64    // of the last view of the incarnation before
	MinMembers   int
	MinMembersOf map[string]int // by role
	Detector     Detector
	Downing      downing.Strategy
	Leader       LeaderElection
	Rejoin       bool // as a new incarnation, when down
}

// The rhythms of a machine that nobody has needed to change.
const (
	askAgain     = 250 * time.Millisecond // between rounds of questions, at first
	askSeldom    = 2 * time.Second        // and after a while
	answerHolds  = 3 * time.Second        // how long it counts that there is no cluster
	askPatience  = 5 * time.Second        // which is this long
	askAtOnce    = 16                     // how many are asked at a time, by who founds nothing
	tellEvery    = 30 * time.Second       // between two reasons why there is no cluster, for people
	findAgain    = time.Second            // between questions to discovery, while there is no cluster
	findSeldom   = 30 * time.Second       // and when there is one
	findHolds    = 10 * time.Second       // how long it counts what discovery has found
	findStable   = 5 * time.Second        // how long that must have been the same before a cluster is founded
	vanishAfter  = time.Minute            // how long it takes to believe that an address will not be found again
	namePatience = 3 * time.Second        // how long another member may keep our name before we give up
	greetEvery   = 2 * time.Second        // between rounds of greetings to addresses that are lost
	newsEvery    = 20 * time.Millisecond  // between heartbeats that are not due, but tell news
	guestFor     = 30 * time.Second       // how long who asks for heartbeats gets them
	greetAtOnce  = 8                      // how many of them are greeted in a round
	partPatience = 500 * time.Millisecond // how long a node that is gone waits to be noticed
	strangerFor  = 5 * time.Second        // how long heartbeats of a stranger may come until it is told
	tombFor      = 24 * time.Hour         // how long removed members are remembered
	tombAtLeast  = 10 * time.Minute       // and whatever the date: calendars may be set wrongly
)

// A phase is where an incarnation of a node is in its life.
type phase uint8

const (
	idle    phase = iota
	seeking       // asks for a cluster to join
	member        // stands in the table: joining, up, leaving or exiting
	downed        // has been given up; stops what it runs
	parting       // runs nothing any more, and has told so
	ended
)

// A Machine is the membership of one incarnation of a node. It is pure: events and the
// time go in, actions come out; it starts nothing, reads no clock and draws no numbers.
// What it does stands in files of their own: seeking, finding and founding (until it is a
// member), admitting (others who join), speaking and hearing (among members), leading (for
// the whole cluster), splitting and claiming (for one side of a split), islands (when
// there are two clusters), observing (who observes whom), parting (how it ends), showing
// (its view).
type Machine struct {
	set   Settings
	self  ID
	phase phase
	now   time.Time
	out   []Action

	wallAhead time.Duration // of the calendar over now; its steps must not move anything but dates

	table     table
	sums      sums // of the table
	witnesses witnesses
	dirty     bool  // something has changed that others may depend on
	converged bool  // the members agreed at the end of the last step that changed anything
	news      table // what has changed in this step
	own       table // what of that this node has decided
	acting    bool  // our being up rests on a whole table: we know of all that are up
	version   uint64

	monitor   monitor
	beatAt    time.Time // when the next heartbeat is due
	seq       uint64
	eager     bool      // there is something that the next heartbeat will tell
	spokeAt   time.Time // when the last heartbeat went out, due or not
	near      neighbours
	guests    map[ID]time.Time // who has asked for heartbeats, and until when it gets them
	doubted   map[ID]bool      // whom this node observes because it was refused there
	strangers map[ID]time.Time // since when we hear from whom that is no member

	questions   questions
	finds       finds
	calm        calm
	claim       claim
	greetAt     time.Time
	lastGreeted string      // in the last round
	gossip      map[ID]bool // whom gossip reaches
	removed     map[ID]time.Time
	leaving     bool // drain has been asked for by leave
	rejoin      bool // after the end
	partBy      time.Time
	acked       map[ID]bool
	known       map[string]bool // addresses where members live or lived

	onDecide func(change table) // nil but in tests: sees what this node decides, before it is in the table
}

func New(set Settings) *Machine {
	set.Self.Downing = downing.Names(set.Downing)
	m := &Machine{
		set:       set,
		self:      set.Self.ID(),
		table:     newTable(ClusterID{}),
		version:   set.Version,
		monitor:   newMonitor(set.Detector),
		guests:    map[ID]time.Time{},
		doubted:   map[ID]bool{},
		strangers: map[ID]time.Time{},
		gossip:    map[ID]bool{},
		removed:   map[ID]time.Time{},
		acked:     map[ID]bool{},
		known:     map[string]bool{},
		finds:     finds{last: map[string]time.Time{}},
	}
	for _, address := range set.Known {
		m.known[address] = true
	}
	m.begin()
	return m
}

// Self returns the identity of this incarnation.
func (m *Machine) Self() ID { return m.self }

// SetCalendar says how far the calendar is ahead of the clock by which [machine.step] is
// told the time.
func (m *Machine) SetCalendar(ahead time.Duration) { m.wallAhead = ahead }

// Step handles one event, and returns what is to be done, in order.
func (m *Machine) Step(ev Input, now time.Time) []Action {
	m.now = now
	m.handle(ev)
	m.settle()
	m.beatWhenEager()
	out := m.out
	m.out = nil
	return out
}

func (m *Machine) handle(ev Input) {
	switch ev := ev.(type) {
	case Started:
		if m.phase == idle {
			m.seek()
		}
	case Ticked:
		m.tick()
	case Received:
		m.receive(ev.From, ev.msg)
	case Gossiped:
		m.learn(ev.msg)
	case DialFailed:
		m.notReached(ev)
	case Found:
		m.found(ev)
	case Connected:
		m.connected(ev)
	case LeaseAnswered:
		m.leased(ev)
	case LeaveAsked:
		m.leave()
	case DownAsked:
		m.down(ev.Name)
	case FoundWithoutAsked:
		m.do(Reply{To: ev.Answer, Err: m.foundWithout(ev.Addresses)})
	case Drained:
		m.drained()
	case Stopped:
		m.stopped()
	}
}

func (m *Machine) do(a Action) { m.out = append(m.out, a) }

func (m *Machine) tell(id ID, msg message) { m.do(Send{To: id, msg: msg}) }

// change returns an empty table to fill in what is to change.
func (m *Machine) change() table { return newTable(m.table.cluster) }

// begin forgets what has changed, as the consequences have been drawn.
func (m *Machine) begin() { m.news, m.own = m.change(), m.change() }

// merge takes over what another node knows, and returns what of it is new.
func (m *Machine) merge(t table) table {
	news := m.table.merge(t)
	m.news.merge(news)
	m.dirty = m.dirty || !news.empty()
	return news
}

// decide changes the table by what this node has decided, which it tells everybody.
func (m *Machine) decide(t table) {
	if m.onDecide != nil {
		m.onDecide(t)
	}
	m.own.merge(m.merge(t))
}

// settle draws the consequences of what has changed, until nothing changes any more.
func (m *Machine) settle() {
	if !m.dirty {
		return
	}
	for m.dirty {
		m.dirty = false
		if m.phase != member {
			continue
		}
		m.addUp()
		m.watch()
		m.lead()
	}
	if m.phase == member {
		m.converged = m.agree()
		m.tellNews()
		m.calm.note(m.table, m.now)
	}
	m.begin()
	if m.phase == member && m.table.status(m.self) >= Down {
		m.fall("the cluster has given this node up", nil)
	} else {
		m.publish()
	}
}

// agree reports whether all members are known to agree on who is a member.
func (m *Machine) agree() bool { return m.table.converged(m.witnesses, m.table.unreachable()) }

// addUp makes the sums of the table, and looks for new witnesses if the members are
// others than before.
func (m *Machine) addUp() {
	before := m.sums
	m.sums = m.table.sums()
	if m.sums.members != m.witnesses.sum || m.witnesses.ids == nil {
		m.witnesses = newWitnesses(m.sums.members, m.table.ids(), m.self)
	}
	m.eager = m.eager || m.sums != before
}

// watch observes whom the table says, and notes who has been removed and when.
func (m *Machine) watch() {
	m.near = m.table.neighbours(m.self)
	m.watchSubjects()
	for _, id := range slices.SortedFunc(maps.Keys(m.news.tombs), ID.Compare) {
		if _, known := m.removed[id]; !known && id != m.self {
			m.removed[id] = m.now
			m.do(Forget{id})
		}
	}
}

// unix returns the date, in seconds of Unix time.
func (m *Machine) unix() int64 { return m.now.Add(m.wallAhead).Unix() }

// others returns the members but for this one.
func (m *Machine) others() []ID {
	return slices.DeleteFunc(m.table.ids(), func(id ID) bool { return id == m.self })
}

// tick does what is due.
func (m *Machine) tick() {
	switch m.phase {
	case seeking:
		m.findWhenDue()
		m.askWhenDue()
	case member:
		m.beatWhenDue()
		m.report()
		m.settle() // a change that was seen only now begins a new calm
		m.judge()
		m.findWhenDue()
		m.greetWhenDue()
		m.tidy()
	case parting:
		m.endWhenDue()
	case idle, downed, ended:
	}
}

// tidy forgets what is too old to matter.
func (m *Machine) tidy() {
	m.table.forget(m.unix()-int64(tombFor/time.Second), func(id ID) bool { return m.now.Sub(m.removed[id]) >= tombAtLeast })
	maps.DeleteFunc(m.removed, func(id ID, _ time.Time) bool { return m.table.status(id) != Removed })
	maps.DeleteFunc(m.guests, func(_ ID, until time.Time) bool { return m.now.After(until) })
	maps.DeleteFunc(m.strangers, func(_ ID, since time.Time) bool { return m.now.Sub(since) > 2*strangerFor })
}
