package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A place is the known state of the actor of one label on one node.
type place struct {
	on     nodeID
	start  StartRequest // the request that started it; an orphan's has only the ID, the label and the generation
	phase  phase
	since  time.Time // of phase, as this coordinator knows it
	orphan bool      // reported, and not started by this coordinator
}

// A phase is the state of a place.
type phase uint8

const (
	starting phase = iota // requested, and may be running
	running
	stopping // requested to end
)

// A placeKey identifies a place.
type placeKey struct {
	on    nodeID
	label string
}

func (p *place) key() placeKey { return placeKey{on: p.on, label: p.start.Label} }

func (p *place) enter(next phase, now time.Time) { p.phase, p.since = next, now }

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

// A placeIndex has all places by label; those of a label are sorted by node.
type placeIndex map[string][]*place

func (x placeIndex) add(p *place) {
	label := p.start.Label
	x[label] = append(x[label], p)
	slices.SortFunc(x[label], func(a, b *place) int { return compareNodeIDs(a.on, b.on) })
}

func (x placeIndex) remove(p *place) {
	label := p.start.Label
	x[label] = slices.DeleteFunc(x[label], func(o *place) bool { return o == p })
	if len(x[label]) == 0 {
		delete(x, label)
	}
}

// NodeOf returns the node on which a label runs or is being started. It returns false while the
// label is on no node or is being stopped.
func (f *nodes) NodeOf(label string) (nodeID, bool) {
	for _, p := range f.places[label] {
		if p.phase != stopping && !p.orphan {
			return p.on, true
		}
	}
	return nodeID{}, false
}

// placesOf returns all places of a label, in any phase. While there is a place, an actor of the
// label may run. Another one must then not be started elsewhere, unless two may run at once.
func (f *nodes) placesOf(label string) []place {
	var all []place
	for _, p := range f.places[label] {
		all = append(all, *p)
	}
	return all
}

// awaited says for which places of a label an answer is missing, and since when. It returns "" if
// no answer is missing.
func (f *nodes) awaited(label string) string {
	var all []string
	for _, p := range f.places[label] {
		n, doing := f.known[p.on], map[phase]string{starting: "spawning", stopping: "stopping"}[p.phase]
		if doing == "" {
			continue
		}
		text := fmt.Sprintf("%s on %s since %s", doing, p.on.name, p.since.Format(time.RFC3339))
		switch {
		case !n.member:
			text += ", which is no longer a member and may still run it"
		case !n.hasReported(label):
			text += ", which has not reported what it runs"
		case !n.Reachable:
			text += ", which is unreachable"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// place returns the place of a label on a node.
func (f *nodes) place(on nodeID, label string) (place, bool) {
	n, ok := f.known[on]
	if !ok || n.places[label] == nil {
		return place{}, false
	}
	return *n.places[label], true
}

// start requests an actor from a node, which replaces the node's actor of that label. It sets
// Epoch. If the ID is zero, it assigns a new ID. A non-zero ID continues the request of a former
// coordinator: it is sent when the node has reported that it does not run the actor.
func (f *nodes) start(on nodeID, r StartRequest) RequestID {
	if r.ID.isZero() {
		f.lastRequest++
		r.ID = RequestID{Epoch: f.cfg.Epoch, N: f.lastRequest}
	}
	n := f.known.incarnation(on)
	if p := n.places[r.Label]; p != nil {
		f.dropPlace(n, p)
	}
	p := &place{on: on, start: r, phase: starting, since: f.now}
	f.addPlace(n, p)
	f.request(n, p)
	return r.ID
}

// stop requests the end of a node's actor of a label. It does nothing if the node has no such
// actor, or if the actor is already being stopped.
func (f *nodes) stop(on nodeID, label string) {
	n := f.known[on]
	if n == nil || n.places[label] == nil || n.places[label].phase == stopping {
		return
	}
	p := n.places[label]
	p.enter(stopping, f.now)
	delete(f.orphans, p)
	n.passing = insertSorted(n.passing, label)
	f.touch(p)
	f.request(n, p)
}

// request sends the request of a place, and repeats it until it is answered. While the node has not
// reported on the label it sends nothing: the report will lead to a request.
func (f *nodes) request(n *nodeState, p *place) {
	if p == nil || p.phase == running {
		return
	}
	f.unanswered.Set(p.key(), f.now.Add(f.cfg.AckTimeout))
	if !n.member || !n.hasReported(p.start.Label) {
		return
	}
	start := p.start
	start.Epoch = f.cfg.Epoch
	if p.phase == stopping {
		f.send(p.on, start.stop())
		return
	}
	f.send(p.on, start)
}

func (f *nodes) addPlace(n *nodeState, p *place) {
	label := p.start.Label
	n.places[label] = p
	n.Actors = insertSorted(n.Actors, label)
	if p.orphan {
		n.passing = insertSorted(n.passing, label)
	}
	f.places.add(p)
	f.touch(p)
}

func (f *nodes) dropPlace(n *nodeState, p *place) {
	label := p.start.Label
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
func (f *nodes) Expect(id nodeID) { f.known.incarnation(id) }

// forgetPlace drops a place whose request has not been sent.
func (f *nodes) forgetPlace(on nodeID, label string) {
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
