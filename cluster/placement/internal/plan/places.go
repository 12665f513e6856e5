package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A place is where an actor of a label is on one node, as far as is known.
type place struct {
	on     nodeID
	start  StartRequest // what it was started by; of a stray no more than the ID, the label and the generation
	phase  phase
	since  time.Time // of phase, as this coordinator knows it
	orphan bool      // found, and not started by this coordinator
}

// A phase is that of a place.
type phase uint8

const (
	starting phase = iota // asked for, and it may run
	running
	stopping // asked to end
)

type placeKey struct {
	on    nodeID
	label string
}

func (p *place) key() placeKey { return placeKey{on: p.on, label: p.start.Label} }

// at returns all places of a label, sorted by node: what is started or runs, and what is
// being stopped. While there is one, another may only be started elsewhere by who knows
// that it may run twice.
func (f *nodes) placesOf(label string) []place {
	var all []place
	for _, p := range f.places[label] {
		all = append(all, *p)
	}
	return all
}

func (f *nodes) enter(p *place, next phase) { p.phase, p.since = next, f.now }

// awaited says what is waited for at all places of a label, and since when; "" when nothing
// is.
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
			text += ", which is no member any more, and may run it still"
		case !n.hasReported(label):
			text += ", which has not told yet what it runs"
		case !n.Reachable:
			text += ", which is unreachable"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// settledAt returns the node on which a label is started or runs; false while it is
// nowhere, or is being stopped.
func (f *nodes) settledAt(label string) (nodeID, bool) {
	for _, p := range f.places[label] {
		if p.phase != stopping && !p.orphan {
			return p.on, true
		}
	}
	return nodeID{}, false
}

// place returns the place of a label on a node.
func (f *nodes) place(on nodeID, label string) (place, bool) {
	n, ok := f.known[on]
	if !ok || n.places[label] == nil {
		return place{}, false
	}
	return *n.places[label], true
}

// start asks a node for an actor, in the place of what it has of that label. An ID of
// zero is a new request; another one goes on with what a former coordinator has asked for,
// and is sent when the node has reported that it does not run. Epoch is set here.
func (f *nodes) start(on nodeID, r StartRequest) RequestID {
	if r.ID.isZero() {
		f.lastRequest++
		r.ID = RequestID{Epoch: f.cfg.Epoch, N: f.lastRequest}
	}
	n := f.incarnation(on)
	if p := n.places[r.Label]; p != nil {
		f.dropPlace(n, p)
	}
	p := &place{on: on, start: r, phase: starting, since: f.now}
	f.addPlace(n, p)
	f.request(n, p)
	return r.ID
}

// stop asks a node for the end of what it has of a label; nothing happens when that is
// nothing, or is being stopped already.
func (f *nodes) stop(on nodeID, label string) {
	n := f.known[on]
	if n == nil || n.places[label] == nil || n.places[label].phase == stopping {
		return
	}
	p := n.places[label]
	f.enter(p, stopping)
	delete(f.orphans, p)
	n.passing = insertSorted(n.passing, label)
	f.touch(p)
	f.request(n, p)
}

// request sends what is asked of a place, and has it sent again until it is answered. A
// node is sent nothing of labels that it has not told of; what it reports leads to a request.
func (f *nodes) request(n *nodeState, p *place) {
	if p == nil || p.phase == running {
		return
	}
	f.unanswered.set(p.key(), f.now.Add(f.cfg.AckTimeout))
	if !n.member || !n.hasReported(p.start.Label) {
		return
	}
	if p.phase == stopping {
		f.sendStop(p.on, p.start.ID, p.start.Label, p.start.Generation)
		return
	}
	start := p.start
	start.Epoch = f.cfg.Epoch
	f.send(p.on, start)
}

func (f *nodes) sendStop(on nodeID, id RequestID, label string, g Generation) {
	f.send(on, StopRequest{ID: id, Label: label, Generation: g, Epoch: f.cfg.Epoch})
}

func (f *nodes) send(to nodeID, msg any) {
	f.emit(Send{Node: to.name, Incarnation: to.incarnation, Msg: msg})
}

// put makes p known.
func (f *nodes) addPlace(n *nodeState, p *place) {
	label := p.start.Label
	n.places[label] = p
	n.Actors = insertSorted(n.Actors, label)
	if p.orphan {
		n.passing = insertSorted(n.passing, label)
	}
	f.places[label] = append(f.places[label], p)
	slices.SortFunc(f.places[label], func(a, b *place) int { return compareNodeIDs(a.on, b.on) })
	f.touch(p)
}

// drop forgets p.
func (f *nodes) dropPlace(n *nodeState, p *place) {
	label := p.start.Label
	delete(n.places, label)
	delete(f.orphans, p)
	f.unanswered.clear(p.key())
	n.Actors, n.passing = removeSorted(n.Actors, label), removeSorted(n.passing, label)
	f.places[label] = slices.DeleteFunc(f.places[label], func(o *place) bool { return o == p })
	if len(f.places[label]) == 0 {
		delete(f.places, label)
	}
	f.moreRoom = true
	f.touch(p)
}

// forget drops what a node has not been asked for.
func (f *nodes) forgetPlace(on nodeID, label string) {
	if n := f.known[on]; n != nil && n.places[label] != nil {
		f.dropPlace(n, n.places[label])
	}
}

func (f *nodes) touch(p *place) {
	f.touched[p.start.Label] = true
	f.cachedView = nil
}

// insertSorted returns a new slice, as the old one is part of views that are in use.
func insertSorted(all []string, s string) []string {
	i, found := slices.BinarySearch(all, s)
	if found {
		return all
	}
	longer := make([]string, 0, len(all)+1)
	return append(append(append(longer, all[:i]...), s), all[i:]...)
}

// removeSorted returns a new slice, see insertSorted.
func removeSorted(all []string, s string) []string {
	i, found := slices.BinarySearch(all, s)
	if !found {
		return all
	}
	return append(slices.Clone(all[:i]), all[i+1:]...)
}
