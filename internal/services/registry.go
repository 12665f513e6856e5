package services

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/remote"
)

// A registry is what a node knows of all services: its own registrations, and those of each other
// member. It takes events and returns the messages to send. See exchange.go for the protocol.
type registry struct {
	self remote.NodeID
	own  snapshot
	// The changes of own.entries since own.version, which the peers do not know yet.
	added, removed map[Entry]bool

	peers map[remote.NodeID]*peer
	order []remote.NodeID
	turn  int
	early map[remote.NodeID]wireCheck

	services map[string]map[located]bool
	dirty    map[string]bool // services that have changed
}

type snapshot struct {
	version uint64
	entries map[Entry]bool
}

type peer struct {
	snapshot
	reachable bool
	asked     bool    // it has been asked for a snapshot, because of a gap
	incoming  partial // a snapshot of which some parts have come
}

type partial struct {
	version uint64
	next    int
	entries map[Entry]bool
}

type located struct {
	owner remote.NodeID
	entry Entry
}

type envelope struct {
	to  remote.NodeID
	msg any
}

func newRegistry() *registry {
	return &registry{
		own:   snapshot{entries: map[Entry]bool{}},
		added: map[Entry]bool{}, removed: map[Entry]bool{},
		peers: map[remote.NodeID]*peer{}, early: map[remote.NodeID]wireCheck{},
		services: map[string]map[located]bool{}, dirty: map[string]bool{},
	}
}

// False means that it was registered already.
func (r *registry) add(e Entry) bool {
	if r.own.entries[e] {
		return false
	}
	r.own.entries[e] = true
	r.insert(r.self, e)
	if r.removed[e] {
		delete(r.removed, e)
	} else {
		r.added[e] = true
	}
	return true
}

// False means that it was not registered.
func (r *registry) remove(e Entry) bool {
	if !r.own.entries[e] {
		return false
	}
	delete(r.own.entries, e)
	r.erase(r.self, e)
	if r.added[e] {
		delete(r.added, e)
	} else {
		r.removed[e] = true
	}
	return true
}

func (r *registry) insert(owner remote.NodeID, e Entry) {
	instances := r.services[e.Service]
	if instances == nil {
		instances = map[located]bool{}
		r.services[e.Service] = instances
	}
	instances[located{owner, e}] = true
	r.dirty[e.Service] = true
}

func (r *registry) erase(owner remote.NodeID, e Entry) {
	delete(r.services[e.Service], located{owner, e})
	if len(r.services[e.Service]) == 0 {
		delete(r.services, e.Service)
	}
	r.dirty[e.Service] = true
}

func (r *registry) replace(owner remote.NodeID, p *peer, fresh snapshot) {
	for e := range p.entries {
		if !fresh.entries[e] {
			r.erase(owner, e)
		}
	}
	for e := range fresh.entries {
		if !p.entries[e] {
			r.insert(owner, e)
		}
	}
	p.snapshot, p.asked, p.incoming = fresh, false, partial{}
}

func (r *registry) find(service string) []Found {
	all := make([]Found, 0, len(r.services[service]))
	for l := range r.services[service] {
		f := Found{Entry: l.entry, Owner: l.owner, Local: l.owner == r.self, Reachable: true}
		if p, other := r.peers[l.owner]; other {
			f.Reachable = p.reachable
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(strings.Compare(a.Entry.Ref, b.Entry.Ref), strings.Compare(a.Entry.Type, b.Entry.Type))
	})
	return all
}

func (r *registry) changed() []string {
	if len(r.dirty) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(r.dirty))
	clear(r.dirty)
	return names
}

func (r *registry) touch(p *peer) {
	for e := range p.entries {
		r.dirty[e.Service] = true
	}
}
