package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/deadlines"
)

// A workload is a part of the planner that has actors on nodes: the specs or the singletons. The
// nodes tell a workload what happens to its labels. Each of these calls may be repeated, and may
// concern a request that the workload no longer knows.
type workload interface {
	// owns reports whether the label belongs to the workload. A label still belongs to it while its
	// actor is being removed.
	owns(label string) bool
	// started: the actor of that request runs.
	started(label string, id RequestID, on nodeID)
	// failed: the actor could not be started, and does not run.
	failed(label string, id RequestID, on nodeID, why ending)
	// stopped: the actor has terminated as requested, or does not run there.
	stopped(label string, id RequestID, on nodeID)
	// refused: the agent does not stop the actor, because it has a later generation.
	refused(label string, id RequestID, on nodeID, why string)
	// ended: the actor has terminated without a request.
	ended(label string, id RequestID, on nodeID, why ending)
	// found: an agent reports an actor that no request of this coordinator has started. It is an
	// orphan until the workload starts it again by the same request, or stops it.
	found(label string, on nodeID, actor Reported)
	// lost: that incarnation of a node is no longer a member, and none of its actors runs. The
	// nodes have forgotten its places.
	lost(on nodeID)
	// leaving reports whether the workload is about to move an actor away from a node, but has not
	// requested its stop yet.
	leaving(on nodeID) bool
	// reconcile places, starts, stops and moves actors as a change requires. It is called last in
	// each step.
	reconcile()
	// next returns when a step is due.
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

func sortedNodeIDs(all []nodeID) []nodeID {
	slices.SortFunc(all, compareNodeIDs)
	return all
}

// nodes has the state that the workloads share: the nodes, the known places of actors on them, and
// the unanswered requests to agents. Requests are sent again until they are answered or the node is
// lost.
type nodes struct {
	outbox
	cfg       Config
	now       time.Time
	workloads []workload

	known       map[nodeID]*nodeState
	members     members
	places      placeIndex
	orphans     orphans
	drains      []nodeID // nodes whose drain has not ended
	lastRequest uint64

	unanswered deadlines.Map[placeKey] // when requests are sent again
	reportsDue deadlines.Map[nodeID]   // when nodes are asked for a report again
	goneUntil  deadlines.Map[nodeID]   // when former members have certainly stopped

	hasView  bool      // the planner has received a view of the cluster
	settleAt time.Time // when the nodes' time to report is over

	cachedView *View           // nil after a change
	touched    map[string]bool // labels whose places have changed since the last reconcile
	moreRoom   bool            // a node may be eligible now that was not before
}

func newNodes(cfg Config) *nodes {
	return &nodes{
		cfg: cfg, known: map[nodeID]*nodeState{}, members: members{}, places: placeIndex{}, orphans: orphans{}, touched: map[string]bool{},
	}
}

// A nodeState has everything that is known about one incarnation of a node.
type nodeState struct {
	Node
	id             nodeID
	member         bool
	draining       bool
	reportAttempts int    // successive requests for a report that it has not answered
	reportedTo     string // the last label it has reported, while it is asked for more
	places         map[string]*place
	drainTokens    []Token // requests that wait for the end of its drain
}

// snapshot returns the node as views show it.
func (n *nodeState) snapshot() Node {
	shown := n.Node
	shown.Draining = n.draining
	return shown
}

// An outbox has the effects of a step.
type outbox struct{ effects []Effect }

func (o *outbox) emit(e Effect) { o.effects = append(o.effects, e) }

func (o *outbox) reply(to Token, value any, err error) {
	o.emit(Reply{Token: to, Value: value, Err: err})
}

func (o *outbox) send(to nodeID, msg any) {
	o.emit(Send{Node: to.name, Incarnation: to.incarnation, Msg: msg})
}

// take returns the effects, once.
func (o *outbox) take() []Effect {
	effects := o.effects
	o.effects = nil
	return effects
}

// members maps the names of members to their incarnations. If two members have one name, it has the
// later one.
type members map[string]nodeID

// current returns the incarnation of a node that is a member.
func (m members) current(name string) (nodeID, bool) {
	id, ok := m[name]
	return id, ok
}

func (m members) has(id nodeID) bool { return !id.isZero() && m[id.name] == id }

func (m members) sorted() []nodeID { return sortedNodeIDs(slices.Collect(maps.Values(m))) }

// orphans are the places of actors that this coordinator has not started, and about which no
// workload has decided.
type orphans map[*place]bool

func (o orphans) sorted() []*place {
	if len(o) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(o), func(a, b *place) int {
		return cmp.Or(strings.Compare(a.start.Label, b.start.Label), compareNodeIDs(a.on, b.on))
	})
}

// owner returns the workload that a label belongs to, or nil.
func (f *nodes) owner(label string) workload {
	for _, w := range f.workloads {
		if w.owns(label) {
			return w
		}
	}
	return nil
}

// notify calls do with the workload that a label belongs to, if there is one.
func (f *nodes) notify(label string, do func(workload)) {
	if w := f.owner(label); w != nil {
		do(w)
	}
}

// node returns the known state of an incarnation, whether it is a member or not.
func (f *nodes) node(id nodeID) (Node, bool) {
	n, ok := f.known[id]
	if !ok {
		return Node{}, false
	}
	return n.snapshot(), true
}

// draining reports whether a node is being drained, or is leaving.
func (f *nodes) draining(id nodeID) bool {
	n, ok := f.known[id]
	return ok && n.draining
}

// view returns the known members.
func (f *nodes) view() View {
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

// settled reports whether every reachable node that is up has reported its actors, or has had
// [Config.AckTimeout] to do so. Before that nothing is placed.
func (f *nodes) settled() bool {
	if !f.hasView {
		return false
	}
	if !f.now.Before(f.settleAt) {
		return true
	}
	for _, id := range f.members {
		if n := f.known[id]; n.Up && n.Reachable && !n.Ready {
			return false
		}
	}
	f.settleAt = f.now
	return true
}

// busy reports whether an actor on a node is being stopped, or may be.
func (f *nodes) busy(id nodeID) bool {
	n, ok := f.known[id]
	return ok && len(n.passing) > 0
}

// tick handles the deadlines that have passed.
func (f *nodes) tick() {
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

// next returns when a step is due.
func (f *nodes) next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(f.unanswered.First())
	e.Add(f.reportsDue.First())
	e.Add(f.goneUntil.First())
	e.Add(f.settleAt, f.hasView && f.now.Before(f.settleAt))
	return e.At, e.OK
}
