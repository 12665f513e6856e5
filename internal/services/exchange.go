package services

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/batch"
	"github.com/understudy-go/understudy/remote"
)

// Each node owns its registrations, and no other node passes them on. It sends its changes to every
// member; a member that finds a gap between versions asks for a snapshot. Members compare versions
// when they see each other for the first time or again, and each does so with all others in turn,
// in case a loss went unnoticed. The registrations of an incarnation count as long as it is a
// member, which it never is again after its removal.

const (
	// A message is about that large.
	partBytes = 64 << 10
	// rounds is in how many ticks each peer is checked once.
	rounds = 6
	// How many checks are kept of nodes that are not known to be members yet.
	maxEarly = 1000
)

func (r *registry) flush() []envelope {
	if len(r.added)+len(r.removed) == 0 {
		return nil
	}
	since := r.own.version
	r.own.version++
	added, removed := sorted(r.added), sorted(r.removed)
	clear(r.added)
	clear(r.removed)
	large := len(batch.Split(slices.Concat(added, removed), partBytes, Entry.size)) > 1
	var out []envelope
	for _, id := range r.order {
		if large {
			out = append(out, r.snapshotFor(id)...)
			continue
		}
		out = append(out, envelope{id, wireChange{Owner: r.self, Since: since, Version: r.own.version, Added: added, Removed: removed}})
	}
	return out
}

func (r *registry) snapshotFor(to remote.NodeID) []envelope {
	parts := batch.Split(sorted(r.own.entries), partBytes, Entry.size)
	if len(parts) == 0 {
		parts = [][]Entry{nil}
	}
	out := make([]envelope, 0, len(parts))
	for i, entries := range parts {
		out = append(out, envelope{to, wireSnapshot{Owner: r.self, Version: r.own.version, Part: i, Of: len(parts), Entries: entries}})
	}
	return out
}

func (r *registry) check(id remote.NodeID, p *peer) envelope {
	return envelope{id, wireCheck{From: r.self, To: id, Mine: r.own.version, Yours: p.version}}
}

func (r *registry) view(t Topology) []envelope {
	out := r.flush()
	r.become(t.Self)
	now := map[remote.NodeID]bool{}
	for _, m := range t.Peers {
		now[m.ID] = true
		out = append(out, r.meet(m)...)
	}
	for id, p := range r.peers {
		if !now[id] {
			r.replace(id, p, snapshot{})
			delete(r.peers, id)
		}
	}
	r.order = slices.SortedFunc(maps.Keys(r.peers), remote.NodeID.Compare)
	return out
}

func (r *registry) become(self remote.NodeID) {
	if r.self == self {
		return
	}
	for e := range r.own.entries {
		r.erase(r.self, e)
		r.insert(self, e)
	}
	r.self = self
	for _, p := range r.peers {
		p.reachable = false // until meet: they do not know this incarnation
	}
}

// A peer that is new or reachable again may have missed messages, and so may this node.
func (r *registry) meet(m Peer) []envelope {
	p, known := r.peers[m.ID]
	if !known {
		p = &peer{snapshot: snapshot{entries: map[Entry]bool{}}}
		r.peers[m.ID] = p
	}
	back := m.Reachable && !p.reachable
	if p.reachable != m.Reachable {
		p.reachable = m.Reachable
		r.touch(p)
	}
	var out []envelope
	if back && r.matters(p) {
		p.asked = false // the answer may have been lost
		out = append(out, r.check(m.ID, p))
	}
	if early, kept := r.early[m.ID]; kept {
		delete(r.early, m.ID)
		out = append(out, r.compare(early)...)
	}
	return out
}

func (r *registry) matters(p *peer) bool { return r.own.version > 0 || p.version > 0 || p.asked }

func (r *registry) receive(msg any) []envelope {
	out := r.flush()
	switch msg := msg.(type) {
	case wireChange:
		return append(out, r.change(msg)...)
	case wireSnapshot:
		r.part(msg)
	case wireCheck:
		return append(out, r.compare(msg)...)
	}
	return out
}

func (r *registry) change(c wireChange) []envelope {
	p, member := r.peers[c.Owner]
	switch {
	case !member, c.Version <= p.version:
		return nil
	// Between Since and what is known here a change was lost. To apply this one anyway would keep
	// an instance that has gone, or never learn of one. So the rest is asked for, once.
	case c.Since != p.version:
		if p.asked {
			return nil // the answer is on its way
		}
		p.asked = true
		return []envelope{r.check(c.Owner, p)}
	}
	for _, e := range c.Removed {
		delete(p.entries, e)
		r.erase(c.Owner, e)
	}
	for _, e := range c.Added {
		p.entries[e] = true
		r.insert(c.Owner, e)
	}
	p.version = c.Version
	return nil
}

// A snapshot counts when all of its parts have come.
func (r *registry) part(w wireSnapshot) {
	p, member := r.peers[w.Owner]
	if !member || w.Version <= p.version {
		return
	}
	// A peer has one snapshot under way. Parts of another version, or out of order, mean that some
	// were lost; the next check asks for all of it again.
	if w.Part == 0 {
		p.incoming = partial{version: w.Version, entries: map[Entry]bool{}}
	}
	in := &p.incoming
	if in.version != w.Version || in.next != w.Part {
		p.incoming = partial{}
		return
	}
	for _, e := range w.Entries {
		in.entries[e] = true
	}
	if in.next++; in.next == w.Of {
		r.replace(w.Owner, p, snapshot{version: w.Version, entries: in.entries})
	}
}

func (r *registry) compare(c wireCheck) []envelope {
	p, member := r.peers[c.From]
	if !member {
		r.keepEarly(c)
		return nil
	}
	var out []envelope
	if c.To == r.self && c.Yours != r.own.version {
		out = r.snapshotFor(c.From)
	}
	if c.Mine != p.version && !p.asked {
		p.asked = true // or two nodes whose snapshots do not arrive would check each other without end
		out = append(out, r.check(c.From, p))
	}
	return out
}

// The topology does not know that node yet.
func (r *registry) keepEarly(c wireCheck) {
	if len(r.early) >= maxEarly {
		clear(r.early) // they will check again
	}
	r.early[c.From] = c
}

func (r *registry) tick() []envelope {
	out := r.flush()
	n := (len(r.order) + rounds - 1) / rounds
	for range n {
		id := r.order[r.turn%len(r.order)]
		r.turn++
		if p := r.peers[id]; r.matters(p) {
			p.asked = false // or the answer has been lost
			out = append(out, r.check(id, p))
		}
	}
	return out
}

func (r *registry) quiet() bool {
	return len(r.peers) == 0 || r.own.version == 0 && len(r.services) == 0 && !r.waits()
}

func (r *registry) waits() bool {
	for _, p := range r.peers {
		if p.asked {
			return true
		}
	}
	return false
}

func sorted(set map[Entry]bool) []Entry {
	return slices.SortedFunc(maps.Keys(set), func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Ref, b.Ref), strings.Compare(a.Type, b.Type))
	})
}
