package home

import (
	"iter"
	"time"

	"github.com/understudy-go/understudy/internal/deadlines"
)

// A Config has the settings of [Nodes]. Epoch and AckTimeout are required.
type Config struct {
	Epoch      uint64        // of the coordinator: greater than the epochs of all earlier ones
	AckTimeout time.Duration // after which a request to an agent is sent again

	// Forgetful says that the coordinator knows nothing of its predecessors. It then is not settled
	// before each member has reported, whether it can be reached or not, and however long that
	// takes.
	Forgetful bool
}

// Nodes has what a coordinator knows of its cluster, for its workloads to decide on: the nodes, the
// known places of actors on them, and the unanswered requests to agents. Requests are sent again
// until they are answered or the node is lost.
//
// A step of the coordinator begins with Advance. It then passes its input to Update, Receive, Drain
// or a workload, and calls Tick, Reconcile and EndDrains. Take returns what is to be done.
type Nodes struct {
	clock
	outbox
	changes
	vacancies
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
		cfg: cfg, known: known{}, members: members{}, places: placeIndex{}, orphans: orphans{},
		vacancies: vacancies{epoch: cfg.Epoch, all: map[string]vacancy{}}, changes: changes{touched: map[string]bool{}},
	}
}

// Add adds a workload, before the first step. If two workloads own a label, the one that was added
// first is told what happens to it.
func (f *Nodes) Add(w Workload) { f.workloads = append(f.workloads, w) }

// A clock has the time of the current step.
type clock struct{ now time.Time }

// Advance begins a step at that time, or at the time of the last step if that was later.
func (c *clock) Advance(now time.Time) {
	if c.now.Before(now) {
		c.now = now
	}
}

// Now returns the time of the current step.
func (c *clock) Now() time.Time { return c.now }

// changes are what the workloads have not noticed yet.
type changes struct {
	touched    map[string]bool // labels whose places have changed
	moreRoom   bool            // a node may be eligible now that was not before
	cachedView *View           // nil after a change
}

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

// DrainingLabels returns the labels of the actors on nodes that are being drained, or are leaving.
func (f *Nodes) DrainingLabels() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range f.known {
			if !n.draining {
				continue
			}
			for label := range n.places {
				if !yield(label) {
					return
				}
			}
		}
	}
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

// Tick handles the deadlines that have passed.
func (f *Nodes) Tick() {
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

// Reconcile lets the workloads act until nothing changes any more: what one of them has placed may
// concern another. It stops the orphans of the labels for which unwanted returns true.
func (f *Nodes) Reconcile(unwanted func(label string) bool) {
	for again := true; again; again = f.moreRoom || len(f.touched) > 0 {
		touched, moreRoom := f.touched, f.moreRoom
		f.touched, f.moreRoom = map[string]bool{}, false
		for _, w := range f.workloads {
			w.Notice(touched, moreRoom)
		}
		for _, w := range f.workloads {
			w.Reconcile()
		}
		for _, p := range f.orphans.sorted() {
			if unwanted(p.Request.Label) {
				f.Stop(p.On, p.Request.Label, "")
			}
		}
	}
}

// Next returns when a step is due even if nothing happens.
func (f *Nodes) Next() (time.Time, bool) {
	var e deadlines.Earliest
	for _, w := range f.workloads {
		e.Add(w.Next())
	}
	e.Add(f.unanswered.First())
	e.Add(f.reportsDue.First())
	e.Add(f.goneUntil.First())
	e.Add(f.settleAt, f.hasView && f.now.Before(f.settleAt))
	return e.At, e.OK
}
