package home

import (
	"time"

	"github.com/understudy-go/understudy/internal/deadlines"
)

// A Config has the settings of [Nodes]. Every field but Forgetful is required.
type Config struct {
	Epoch      uint64        // of the coordinator: greater than the epochs of all earlier ones
	AckTimeout time.Duration // after which a request to an agent is sent again
	Retry      time.Duration // the delay after the first failure; it doubles with each further one
	RetryMax   time.Duration // the longest delay

	// Forgetful says that the coordinator knows nothing of its predecessors. It then is not settled
	// before each member has reported, whether it can be reached or not, and however long that
	// takes.
	Forgetful bool
}

// Delay returns how long to wait after that many failures.
func (cfg Config) Delay(failures int) time.Duration {
	d := cfg.Retry
	for range failures - 1 {
		if d >= cfg.RetryMax {
			break
		}
		d *= 2
	}
	return min(d, cfg.RetryMax)
}

// Nodes has what a coordinator knows of its cluster, for its workloads to decide on: the nodes, the
// known places of actors on them, and the unanswered requests to agents. Requests are sent again
// until they are answered or the node is lost.
//
// Each input of the coordinator is a Step. Take then returns what is to be done.
type Nodes struct {
	clock
	outbox
	changes
	vacancies
	records
	cfg       Config
	workloads workloads

	known       known
	members     members
	places      placeIndex
	orphans     orphans
	drains      []NodeID // nodes whose drain has not ended
	lastRequest uint64

	unanswered deadlines.Map[placeKey] // when requests are sent again
	reportsDue deadlines.Map[NodeID]   // when nodes are asked for a report again
	goneUntil  deadlines.Map[NodeID]   // when former members have certainly stopped

	hasView  bool      // a view of the cluster has been received
	settleAt time.Time // when the nodes' time to report is over
	settled  bool
}

// New returns nodes without members and workloads.
func New(cfg Config) *Nodes {
	return &Nodes{
		cfg: cfg, outbox: outbox{waits: map[Token]string{}}, known: known{}, members: members{}, places: placeIndex{}, orphans: orphans{},
		vacancies: vacancies{epoch: cfg.Epoch, all: map[string]vacancy{}}, changes: changes{touched: map[string]bool{}},
		records: records{all: map[string]Record{}},
	}
}

// Add adds a workload, before the first step.
func (f *Nodes) Add(w Workload) { f.workloads = append(f.workloads, w) }

// A clock has the time of the current step.
type clock struct{ now time.Time }

// advance begins a step at that time, or at the time of the last step if that was later.
func (c *clock) advance(now time.Time) {
	if c.now.Before(now) {
		c.now = now
	}
}

// Now returns the time of the current step.
func (c *clock) Now() time.Time { return c.now }

// changes are what the workloads have not noticed yet.
type changes struct {
	touched    map[string]bool       // labels to be reviewed
	wakes      deadlines.Map[string] // when labels are touched although nothing has happened
	moreRoom   bool                  // a node may be eligible now that was not before
	cachedView *View                 // nil after a change
}

// Touch has the workloads review a label in this step, or as soon as the nodes are settled.
func (c *changes) Touch(label string) { c.touched[label] = true }

// Wake touches a label at a time, which replaces an earlier one.
func (c *changes) Wake(label string, at time.Time) { c.wakes.Set(label, at) }

func (c *changes) touch(p *Place) {
	c.touched[p.Request.Label] = true
	c.cachedView = nil
}

// makeRoom notes that a node may have become eligible.
func (c *changes) makeRoom() { c.cachedView, c.moreRoom = nil, true }

// Node returns the known state of an incarnation, whether it is a member or not.
func (f *Nodes) Node(id NodeID) (Node, bool) {
	n, ok := f.known[id]
	if !ok {
		return Node{}, false
	}
	return n.snapshot(), true
}

// Member returns the node of that name, if it is a member.
func (f *Nodes) Member(name string) (Node, bool) {
	id, ok := f.members[name]
	if !ok {
		return Node{}, false
	}
	return f.Node(id)
}

// Draining reports whether a node is being drained, or is leaving.
func (f *Nodes) Draining(id NodeID) bool {
	n, ok := f.known[id]
	return ok && n.draining
}

// View returns the known members.
func (f *Nodes) View() View {
	if f.cachedView == nil {
		nodes := make([]Node, 0, len(f.members))
		for _, id := range f.members {
			nodes = append(nodes, f.known[id].snapshot())
		}
		v := NewView(nodes)
		f.cachedView = &v
	}
	return *f.cachedView
}

// Unsettled is why a request waits while the nodes are not settled.
const Unsettled = "not all nodes have reported what they run"

// Settled reports whether every reachable node that is up has reported its actors, or has had
// [Config.AckTimeout] to do so; see also [Config.Forgetful]. Before that nothing should be placed.
func (f *Nodes) Settled() bool {
	if !f.hasView {
		return false
	}
	if f.settled || !f.cfg.Forgetful && !f.now.Before(f.settleAt) {
		return true
	}
	for _, id := range f.members {
		if n := f.known[id]; !n.Ready && (f.cfg.Forgetful || n.Up && n.Reachable) {
			return false
		}
	}
	f.settled, f.settleAt = true, f.now
	return true
}

// tick handles the deadlines that have passed.
func (f *Nodes) tick() {
	for _, label := range f.wakes.Pass(f.now) {
		f.Touch(label)
	}
	for _, key := range f.unanswered.Pass(f.now) {
		if n, ok := f.known[key.on]; ok {
			f.request(n, n.places[key.label])
		}
	}
	for _, id := range f.reportsDue.Pass(f.now) {
		f.requestReport(f.known[id])
	}
	f.expireGone()
}

// Next returns when a step is due even if nothing happens.
func (f *Nodes) Next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(f.wakes.First())
	e.Add(f.unanswered.First())
	e.Add(f.reportsDue.First())
	e.Add(f.goneUntil.First())
	e.Add(f.settleAt, f.hasView && f.now.Before(f.settleAt))
	return e.At, e.OK
}
