package plan

import (
	"cmp"
	"time"
)

// A tenant is a part of the machine that has actors on nodes: the specs, or the
// singletons. The fleet tells each of what it has asked for; labels are told to whom they
// belong. All of it may come again, and an answer may come to what has been forgotten.
type workload interface {
	// owns reports whether the label is the tenant's, also while its actor is being removed.
	owns(label string) bool
	// started: the actor of that request runs.
	started(label string, id RequestID, on nodeID)
	// failed: it could not be started, and does not run.
	failed(label string, id RequestID, on nodeID, why string)
	// stopped: it has terminated, as it was asked to, or does not run there.
	stopped(label string, id RequestID, on nodeID)
	// refused: the agent goes on with it, as it has a later generation.
	refused(label string, id RequestID, on nodeID, why string)
	// ended: it has terminated without having been asked to.
	ended(label string, id RequestID, on nodeID, why string)
	// found: an agent reports what no request of this coordinator has led to. It is a stray
	// until it is started by the request that was found, or has been stopped.
	found(label string, on nodeID, actor Reported)
	// lost: that incarnation of a node is no member any more, and nothing of it runs. What was
	// on it is on it no more; the fleet forgets it after this, whoever the labels belong to.
	lost(on nodeID)
	// leaving reports whether the tenant is about to move something away from a node, though
	// it has not told it to stop yet.
	leaving(on nodeID) bool
	// reconcile looks at everything that may be placed, started, stopped or moved, as
	// something has changed. It is called last in each step.
	reconcile()
	// next returns when something is due.
	next() (time.Time, bool)
}

// A nodeID is one incarnation of a node.
type nodeID struct {
	name        string
	incarnation uint64
}

func (n nodeID) isZero() bool { return n == nodeID{} }

func compareNodeIDs(a, b nodeID) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.incarnation, b.incarnation))
}

// A fleet is what the parts of the machine share: the nodes, what runs on them as far as
// is known, and the requests that have not been answered yet. They are sent again until
// they are, or the node is lost.
type nodes struct {
	cfg       Config
	now       time.Time
	effects   []Effect
	workloads []workload

	known       map[nodeID]*nodeState
	names       map[string]nodeID // of members, the latest incarnation
	places      map[string][]*place
	orphans     map[*place]bool // that nobody has decided about
	drains      []nodeID        // whose end somebody waits for
	lastRequest uint64          // requests

	unanswered deadlines[placeKey] // when requests are sent again
	reportsDue deadlines[nodeID]   // when nodes are asked for a report again
	goneUntil  deadlines[nodeID]   // until when former members may run

	hasView  bool      // there has been a view
	settleAt time.Time // when nodes have had their time to report

	cachedView *View           // as long as it holds
	touched    map[string]bool // labels whose places have changed since the last reconcile
	moreRoom   bool            // something may be placed now that could not be before
}

// A fleetNode is one incarnation of a node.
type nodeState struct {
	Node
	id             nodeID
	member         bool
	draining       bool
	reportAttempts int    // reports in a row that it has not answered
	reportedTo     string // the last label of what it has reported so far, while it is asked for more
	places         map[string]*place
	drainTokens    []Token // who waits for the end of its drain
}

func newNodes(cfg Config) *nodes {
	return &nodes{
		cfg:   cfg,
		known: map[nodeID]*nodeState{}, names: map[string]nodeID{}, places: map[string][]*place{},
		orphans: map[*place]bool{}, touched: map[string]bool{},
	}
}

func (f *nodes) emit(e Effect) { f.effects = append(f.effects, e) }

func (f *nodes) reply(to Token, value any, err error) {
	f.emit(Reply{Token: to, Value: value, Err: err})
}

// owner returns whose label it is; nil when it is nobody's.
func (f *nodes) owner(label string) workload {
	for _, t := range f.workloads {
		if t.owns(label) {
			return t
		}
	}
	return nil
}

// node returns an incarnation of a node as it is known, member or not.
func (f *nodes) node(id nodeID) (Node, bool) {
	n, ok := f.known[id]
	if !ok {
		return Node{}, false
	}
	return n.snapshot(), true
}

// current returns the incarnation of a node that is a member.
func (f *nodes) current(name string) (nodeID, bool) {
	id, ok := f.names[name]
	return id, ok
}

func (f *nodes) isMember(id nodeID) bool { return !id.isZero() && f.names[id.name] == id }

// draining reports whether a node is being drained, or is leaving in good order.
func (f *nodes) draining(id nodeID) bool {
	n, ok := f.known[id]
	return ok && n.draining
}

// view returns the members as they are known.
func (f *nodes) view() View {
	if f.cachedView == nil {
		nodes := make([]Node, 0, len(f.names))
		for _, id := range f.names {
			nodes = append(nodes, f.known[id].snapshot())
		}
		v := NewView(nodes)
		f.cachedView = &v
	}
	return *f.cachedView
}

func (n *nodeState) snapshot() Node {
	shown := n.Node
	shown.Draining = n.draining
	return shown
}

// settled reports whether every node that could has told what runs on it, or has had its
// time to do so. Before that nothing is placed.
func (f *nodes) settled() bool {
	if !f.hasView {
		return false
	}
	if !f.now.Before(f.settleAt) {
		return true
	}
	for _, id := range f.names {
		if n := f.known[id]; n.Up && n.Reachable && !n.Ready {
			return false
		}
	}
	f.settleAt = f.now
	return true
}

// busy reports whether something on a node is being stopped, or may be.
func (f *nodes) busy(id nodeID) bool {
	n, ok := f.known[id]
	return ok && len(n.passing) > 0
}

// pass does what is due.
func (f *nodes) tick() {
	for _, key := range f.unanswered.pass(f.now) {
		if n, ok := f.known[key.on]; ok {
			f.request(n, n.places[key.label])
		}
	}
	for _, id := range f.reportsDue.pass(f.now) {
		f.requestReport(f.known[id])
	}
	f.expireGone()
}

func (f *nodes) next() (time.Time, bool) {
	var e earliest
	e.add(f.unanswered.first())
	e.add(f.reportsDue.first())
	e.add(f.goneUntil.first())
	e.add(f.settleAt, f.hasView && f.now.Before(f.settleAt))
	return e.at, e.ok
}
