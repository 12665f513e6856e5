package placement

import (
	"cmp"
	"slices"
	"time"
)

// A tenant is a part of the machine that has actors on nodes: the specs, or the
// singletons. The fleet tells each of what it has asked for; labels are told to whom they
// belong. All of it may come again, and an answer may come to what has been forgotten.
type tenant interface {
	// owns reports whether the label is the tenant's, also while its actor is being removed.
	owns(label string) bool
	// started: the actor of that request runs.
	started(label string, id requestID, on nodeID)
	// failed: it could not be started, and does not run.
	failed(label string, id requestID, on nodeID, why string)
	// stopped: it has terminated, as it was asked to, or does not run there.
	stopped(label string, id requestID, on nodeID)
	// refused: the agent goes on with it, as it has a later generation.
	refused(label string, id requestID, on nodeID, why string)
	// ended: it has terminated without having been asked to.
	ended(label string, id requestID, on nodeID, why string)
	// found: an agent reports what no request of this coordinator has led to. It is a stray
	// until it is started by the request that was found, or has been stopped.
	found(label string, on nodeID, actor reported)
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

func compareNodes(a, b nodeID) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.incarnation, b.incarnation))
}

// A fleet is what the parts of the machine share: the nodes, what runs on them as far as
// is known, and the requests that have not been answered yet. They are sent again until
// they are, or the node is lost.
type fleet struct {
	cfg     machineConfig
	now     time.Time
	effects []effect
	tenants []tenant

	nodes  map[nodeID]*fleetNode
	names  map[string]nodeID // of members, the latest incarnation
	places map[string][]*place
	strays map[*place]bool // that nobody has decided about
	drains []nodeID        // whose end somebody waits for
	n      uint64          // requests

	unanswered deadlines[placeKey] // when requests are sent again
	asks       deadlines[nodeID]   // when nodes are asked for a report again
	ends       deadlines[nodeID]   // until when former members may run

	seen     bool      // there has been a view
	settleAt time.Time // when nodes have had their time to report

	shown   *View           // as long as it holds
	touched map[string]bool // labels whose places have changed since the last reconcile
	roomier bool            // something may be placed now that could not be before
}

// A fleetNode is one incarnation of a node.
type fleetNode struct {
	Node
	id       nodeID
	member   bool
	draining bool
	asked    int    // reports in a row that it has not answered
	heard    string // the last label of what it has reported so far, while it is asked for more
	places   map[string]*place
	drains   []token // who waits for the end of its drain
}

func newFleet(cfg machineConfig) *fleet {
	return &fleet{
		cfg:   cfg,
		nodes: map[nodeID]*fleetNode{}, names: map[string]nodeID{}, places: map[string][]*place{},
		strays: map[*place]bool{}, touched: map[string]bool{},
	}
}

func (f *fleet) emit(e effect) { f.effects = append(f.effects, e) }

func (f *fleet) reply(to token, value any, err error) {
	f.emit(reply{token: to, value: value, err: err})
}

// owner returns whose label it is; nil when it is nobody's.
func (f *fleet) owner(label string) tenant {
	for _, t := range f.tenants {
		if t.owns(label) {
			return t
		}
	}
	return nil
}

// node returns an incarnation of a node as it is known, member or not.
func (f *fleet) node(id nodeID) (Node, bool) {
	n, ok := f.nodes[id]
	if !ok {
		return Node{}, false
	}
	return n.shown(), true
}

// current returns the incarnation of a node that is a member.
func (f *fleet) current(name string) (nodeID, bool) {
	id, ok := f.names[name]
	return id, ok
}

func (f *fleet) isMember(id nodeID) bool { return !id.isZero() && f.names[id.name] == id }

// draining reports whether a node is being drained, or is leaving in good order.
func (f *fleet) draining(id nodeID) bool {
	n, ok := f.nodes[id]
	return ok && n.draining
}

// view returns the members as they are known.
func (f *fleet) view() View {
	if f.shown == nil {
		v := View{Nodes: make([]Node, 0, len(f.names))}
		for _, id := range f.names {
			v.Nodes = append(v.Nodes, f.nodes[id].shown())
		}
		slices.SortFunc(v.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
		f.shown = &v
	}
	return *f.shown
}

func (n *fleetNode) shown() Node {
	shown := n.Node
	shown.Draining = n.draining
	return shown
}

// settled reports whether every node that could has told what runs on it, or has had its
// time to do so. Before that nothing is placed.
func (f *fleet) settled() bool {
	if !f.seen {
		return false
	}
	if !f.now.Before(f.settleAt) {
		return true
	}
	for _, id := range f.names {
		if n := f.nodes[id]; n.Up && n.Reachable && !n.Ready {
			return false
		}
	}
	f.settleAt = f.now
	return true
}

// busy reports whether something on a node is being stopped, or may be.
func (f *fleet) busy(id nodeID) bool {
	n, ok := f.nodes[id]
	return ok && len(n.passing) > 0
}

// pass does what is due.
func (f *fleet) pass() {
	for _, key := range f.unanswered.pass(f.now) {
		if n, ok := f.nodes[key.on]; ok {
			f.request(n, n.places[key.label])
		}
	}
	for _, id := range f.asks.pass(f.now) {
		f.ask(f.nodes[id])
	}
	f.loseGone()
}

func (f *fleet) next() (time.Time, bool) {
	var e earliest
	e.add(f.unanswered.first())
	e.add(f.asks.first())
	e.add(f.ends.first())
	e.add(f.settleAt, f.seen && f.now.Before(f.settleAt))
	return e.at, e.ok
}
