package home

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Place is the known state of the actor of one label on one node.
type Place struct {
	On      NodeID
	Request StartRequest // the request that started it; an orphan's has only the ID, the label and the generation
	Phase   Phase
	Orphan  bool // reported, and not started by this coordinator

	since  time.Time // of Phase, as this coordinator knows it
	anchor string    // the label that has to run on the node before this one is requested; "" if none
	asked  bool      // the node has been asked to start it, or is starting it
	ran    bool      // the node has said that it runs
}

// A Phase is the state of a place.
type Phase uint8

// The phases of a place.
const (
	Starting Phase = iota // requested, and may be running
	Running               // its node has said that it runs
	Stopping              // requested to end
)

// A placeKey identifies a place.
type placeKey struct {
	on    NodeID
	label string
}

func (p *Place) key() placeKey { return placeKey{on: p.On, label: p.Request.Label} }

func (p *Place) enter(next Phase, now time.Time) { p.Phase, p.since = next, now }

// orphans are the places of actors that this coordinator has not started, and about which no
// workload has decided.
type orphans map[*Place]bool

func (o orphans) sorted() []*Place {
	if len(o) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(o), func(a, b *Place) int {
		return cmp.Or(strings.Compare(a.Request.Label, b.Request.Label), compareNodeIDs(a.On, b.On))
	})
}

// A placeIndex has all places by label; those of a label are sorted by node.
type placeIndex map[string][]*Place

func (x placeIndex) add(p *Place) {
	label := p.Request.Label
	x[label] = append(x[label], p)
	slices.SortFunc(x[label], func(a, b *Place) int { return compareNodeIDs(a.On, b.On) })
}

func (x placeIndex) remove(p *Place) {
	label := p.Request.Label
	x[label] = slices.DeleteFunc(x[label], func(o *Place) bool { return o == p })
	if len(x[label]) == 0 {
		delete(x, label)
	}
}

// NodeOf returns the node on which a label runs or is being started. It returns false while the
// label is on no node or is being stopped.
func (f *Nodes) NodeOf(label string) (NodeID, bool) {
	for _, p := range f.places[label] {
		if p.Phase != Stopping && !p.Orphan {
			return p.On, true
		}
	}
	return NodeID{}, false
}

// PlacesOf returns all places of a label, in any phase. While there is a place, an actor of the
// label may run. Another one must then not be started elsewhere, unless two may run at once.
func (f *Nodes) PlacesOf(label string) []Place {
	var all []Place
	for _, p := range f.places[label] {
		all = append(all, *p)
	}
	return all
}

// Awaited says for which places of a label an answer is missing, and since when. It returns "" if
// no answer is missing.
func (f *Nodes) Awaited(label string) string {
	var all []string
	for _, p := range f.places[label] {
		n, doing := f.known[p.On], map[Phase]string{Starting: "spawning", Stopping: "stopping"}[p.Phase]
		switch {
		case doing != "":
		case n.member:
			continue
		default:
			doing = "running"
		}
		text := fmt.Sprintf("%s on %s since %s", doing, p.On.Name, p.since.Format(time.RFC3339))
		switch {
		case !n.member:
			text += ", which is no longer a member and may still run it"
		case !n.hasReported(label):
			text += ", which has not reported what it runs"
		case !n.Reachable:
			text += ", which is unreachable"
		case n.waits(p):
			text += fmt.Sprintf(", once %q runs there", p.anchor)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// IsMember reports whether a node is a member. The actors of one that has been removed start
// elsewhere when it can no longer run them.
func IsMember(f *Nodes, id NodeID) bool {
	n, ok := f.known[id]
	return ok && n.member
}

// Place returns the place of a label on a node.
func (f *Nodes) Place(on NodeID, label string) (Place, bool) {
	n, ok := f.known[on]
	if !ok || n.places[label] == nil {
		return Place{}, false
	}
	return *n.places[label], true
}

// Start requests an actor from a node, which replaces the node's actor of that label. It sets
// Epoch. If the ID is zero, it assigns a new ID. A non-zero ID continues the request of a former
// coordinator: it is sent when the node has reported that it does not run the actor.
func (f *Nodes) Start(on NodeID, r StartRequest) RequestID { return f.StartBeside(on, "", r) }

// Stop requests the end of a node's actor of a label. It does nothing if the node has no such
// actor, or if the actor is already being stopped. With a cause the actor is to be started anew.
func (f *Nodes) Stop(on NodeID, label string, cause Cause) {
	n := f.known[on]
	if n == nil || n.places[label] == nil || n.places[label].Phase == Stopping {
		return
	}
	p := n.places[label]
	if cause != "" {
		f.leave(p, cause, f.now)
	}
	p.enter(Stopping, f.now)
	delete(f.orphans, p)
	n.passing = insertSorted(n.passing, label)
	f.touch(p)
	f.request(n, p)
}

// request sends the request of a place, and repeats it until it is answered. While the node has not
// reported on the label it sends nothing: the report will lead to a request. It also
// sends nothing while the place waits for its anchor.
func (f *Nodes) request(n *nodeState, p *Place) {
	if p == nil || p.Phase == Running {
		return
	}
	f.unanswered.Set(p.key(), f.now.Add(f.cfg.AckTimeout))
	if !n.member || !n.hasReported(p.Request.Label) || n.waits(p) {
		return
	}
	start := p.Request
	start.Epoch = f.cfg.Epoch
	if p.Phase == Stopping {
		f.send(p.On, start.stop())
		return
	}
	p.asked = true
	f.send(p.On, start)
}

func (f *Nodes) addPlace(n *nodeState, p *Place) {
	label := p.Request.Label
	n.places[label] = p
	n.Actors = insertSorted(n.Actors, label)
	if p.Orphan {
		n.passing = insertSorted(n.passing, label)
	}
	f.places.add(p)
	f.touch(p)
}

func (f *Nodes) dropPlace(n *nodeState, p *Place) {
	label := p.Request.Label
	delete(n.places, label)
	delete(f.orphans, p)
	f.unanswered.Clear(p.key())
	n.Actors, n.passing = removeSorted(n.Actors, label), removeSorted(n.passing, label)
	f.places.remove(p)
	f.makeRoom()
	f.touch(p)
}

// Expect adds an incarnation that may run actors, although it may not be a member any more. The
// workloads are told when it is lost.
func (f *Nodes) Expect(id NodeID) { f.known.incarnation(id) }

// Forget drops a place whose request has not been sent.
func (f *Nodes) Forget(on NodeID, label string) {
	if n := f.known[on]; n != nil && n.places[label] != nil {
		f.dropPlace(n, n.places[label])
	}
}

// insertSorted returns a new slice, because views in use share the old one.
func insertSorted(all []string, s string) []string {
	i, found := slices.BinarySearch(all, s)
	if found {
		return all
	}
	longer := make([]string, 0, len(all)+1)
	return append(append(append(longer, all[:i]...), s), all[i:]...)
}

// removeSorted returns a new slice; see insertSorted.
func removeSorted(all []string, s string) []string {
	i, found := slices.BinarySearch(all, s)
	if !found {
		return all
	}
	return append(slices.Clone(all[:i]), all[i+1:]...)
}
