package singleton

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/internal/batch"
	"github.com/understudy-go/understudy/internal/node"
)

// Each node owns its row, and tells every member what changes in it, together with the
// records that have changed there. Who finds a gap, by the versions, asks for the whole row.
// Members that see each other anew, or again, compare what they have, and so does each with
// all others in turn, in case something was lost where nobody noticed. Records are anybody's,
// as they only grow: of a node that had told only some of them before it died, the others
// learn by comparing. The rows of those that are gone are passed on to who comes later.

const (
	// partBytes is about how much travels in one message.
	partBytes = 16 << 10
	// rounds is in how many ticks every peer gets its turn.
	rounds = 6
	// maxEarly is how many comparisons are kept of nodes that are not known to be members yet.
	maxEarly = 1000
)

// A letter is something to send to another hub.
type letter struct {
	to  node.ID
	msg any
}

// flush tells the peers what has changed here.
func (d *directory) flush() []letter {
	if len(d.unsaid) == 0 {
		return nil
	}
	var out []letter
	for _, names := range batch.Split(slices.Sorted(maps.Keys(d.unsaid)), partBytes, d.sizeOf) {
		news := wireNews{From: d.topo.Self, Since: d.own.version, Version: d.own.version + 1}
		d.own.version++
		for _, name := range names {
			d.addTo(&news, name)
		}
		for _, id := range d.order {
			out = append(out, letter{id, news})
		}
	}
	clear(d.unsaid)
	return out
}

// addTo adds to news how it is with a singleton now.
func (d *directory) addTo(news *wireNews, name string) {
	if text, offered := d.own.offers[name]; offered {
		news.Offers = append(news.Offers, text)
	} else {
		news.Withdrawn = append(news.Withdrawn, name)
	}
	if r, known := d.records[name]; known {
		news.Records = append(news.Records, namedRecord{Name: name, Record: r})
	}
}

// sizeOf is about how long news of a singleton are.
func (d *directory) sizeOf(name string) int {
	return len(name) + len(d.own.offers[name]) + recordBytes
}

// recordBytes is about how long a record is, without its name.
const recordBytes = 12

// rows sends our row to one peer, and before it those of the nodes that are gone.
func (d *directory) rows(to node.ID) []letter {
	var out []letter
	for _, id := range slices.SortedFunc(maps.Keys(d.gone), node.ID.Compare) {
		if r := d.gone[id]; r.version > 0 {
			out = append(out, d.rowParts(to, id, r)...)
		}
	}
	return append(out, d.rowParts(to, d.topo.Self, &d.own)...)
}

func (d *directory) allRecords(to node.ID) []letter {
	var out []letter
	all := make([]namedRecord, 0, len(d.records))
	for _, name := range slices.Sorted(maps.Keys(d.records)) {
		all = append(all, namedRecord{Name: name, Record: d.records[name]})
	}
	for _, part := range batch.Split(all, partBytes, func(r namedRecord) int { return len(r.Name) + recordBytes }) {
		out = append(out, letter{to, wireRecords{Records: part}})
	}
	return out
}

func (d *directory) rowParts(to, owner node.ID, r *row) []letter {
	parts := batch.Split(slices.Sorted(maps.Values(r.offers)), partBytes, func(text string) int { return len(text) + 2 })
	if len(parts) == 0 {
		parts = [][]string{nil}
	}
	var out []letter
	for i, offers := range parts {
		out = append(out, letter{to, wireRow{From: d.topo.Self, Owner: owner, Version: r.version, Part: i, Of: len(parts), Offers: offers}})
	}
	return out
}

// compare compares with a peer.
func (d *directory) compare(id node.ID, p *peer) letter {
	return letter{id, wireCompare{From: d.topo.Self, To: id, Mine: d.own.version, Yours: p.version, Records: d.sum}}
}

// view takes who is a member now.
func (d *directory) view(t Topology) []letter {
	if d.topo.Self != t.Self { // another incarnation, perhaps of another cluster
		clear(d.peers)
		clear(d.gone)
		d.learned = false
	}
	d.topo = t
	var out []letter
	now := map[node.ID]bool{t.Self: true}
	for _, m := range t.Members {
		if m.ID != t.Self {
			now[m.ID] = true
			out = append(out, d.meet(m)...)
		}
	}
	d.bury(t.Gone)
	maps.DeleteFunc(d.peers, func(id node.ID, _ *peer) bool { return !now[id] })
	d.order = slices.SortedFunc(maps.Keys(d.peers), node.ID.Compare)
	d.learn()
	return out
}

// bury keeps the rows of those who are gone; of one that was known to be incomplete nothing
// is known.
func (d *directory) bury(gone []Gone) {
	now := map[node.ID]bool{}
	for _, g := range gone {
		now[g.ID] = true
		if d.gone[g.ID] != nil {
			continue
		}
		d.gone[g.ID] = &row{}
		if p, was := d.peers[g.ID]; was && !p.asked {
			*d.gone[g.ID] = p.row
		}
	}
	maps.DeleteFunc(d.gone, func(id node.ID, _ *row) bool { return !now[id] })
}

// meet takes what the topology says of a peer. One that is new, or answers again, may have
// missed something, and so may this node.
func (d *directory) meet(m Peer) []letter {
	p, known := d.peers[m.ID]
	if !known {
		p = &peer{incoming: map[node.ID]*partial{}}
		d.peers[m.ID] = p
	}
	back := m.Reachable && !p.reachable
	p.reachable = m.Reachable
	var out []letter
	if back {
		p.asked = p.version == 0 // the answer may have been lost
		out = append(out, d.compare(m.ID, p))
	}
	if early, kept := d.early[m.ID]; kept {
		delete(d.early, m.ID)
		out = append(out, d.compared(early)...)
	}
	return out
}

// learn notes when all have said what they know that this node has to wait for: the members
// that have been up, as far as they can be reached.
func (d *directory) learn() {
	if _, member := d.topo.member(d.topo.Self); !member || d.learned {
		return
	}
	for _, m := range d.topo.Members {
		if p, other := d.peers[m.ID]; other && m.UpNumber > 0 && m.Reachable && p.version == 0 {
			return
		}
	}
	d.learned = true
	d.touchAll()
}

// receive takes what another node has sent.
func (d *directory) receive(msg any) []letter {
	switch msg := msg.(type) {
	case wireNews:
		return d.news(msg)
	case wireRow:
		out := d.part(msg)
		d.learn()
		return out
	case wireRecords:
		d.raiseAll(msg.Records)
	case wireConfirm:
		if p, member := d.peers[msg.From]; member && msg.To == d.topo.Self {
			p.acked = msg.Version
		}
	case wireCompare:
		return d.compared(msg)
	}
	return nil
}

func (d *directory) raiseAll(records []namedRecord) {
	for _, r := range records {
		if d.raise(r.Name, r.Record) {
			d.dirty[r.Name] = true
		}
	}
}

func (d *directory) news(n wireNews) []letter {
	d.raiseAll(n.Records) // its last words, perhaps
	p, member := d.peers[n.From]
	if !member {
		return nil
	}
	switch {
	case n.Version <= p.version:
		return nil
	case n.Since != p.version || p.version == 0:
		if p.asked {
			return nil // the answer is on its way
		}
		p.asked = true
		return []letter{d.compare(n.From, p)}
	}
	for _, name := range n.Withdrawn {
		delete(p.offers, name)
		d.dirty[name] = true
	}
	for _, text := range n.Offers {
		name := offerName(text)
		p.offers[name] = text
		d.dirty[name] = true
	}
	p.version = n.Version
	return nil
}

// part takes a part of a row, which counts when all of them have come.
func (d *directory) part(w wireRow) []letter {
	from, member := d.peers[w.From]
	if !member {
		return nil
	}
	whole, complete := from.take(w)
	switch r, gone := d.gone[w.Owner]; {
	case !complete:
	case gone && whole.version > r.version:
		d.differ(*r, whole)
		*r = whole
	case w.Owner == w.From && whole.version >= from.version:
		d.differ(from.row, whole)
		from.row, from.asked = whole, false
		return []letter{d.confirm(w.From, from)}
	}
	return nil
}

// confirm says which version of a peer's row this node knows.
func (d *directory) confirm(id node.ID, p *peer) letter {
	return letter{id, wireConfirm{From: d.topo.Self, To: id, Version: p.version}}
}

// take takes the next part of a row that a peer sends, and returns the row with the last.
func (p *peer) take(w wireRow) (whole row, complete bool) {
	in := p.incoming[w.Owner]
	if w.Part == 0 {
		in = &partial{row: row{version: w.Version, offers: map[string]string{}}}
	}
	if in == nil || in.version != w.Version || in.next != w.Part {
		delete(p.incoming, w.Owner)
		return row{}, false
	}
	for _, text := range w.Offers {
		in.offers[offerName(text)] = text
	}
	if in.next++; in.next < w.Of {
		p.incoming[w.Owner] = in
		return row{}, false
	}
	delete(p.incoming, w.Owner)
	return in.row, true
}

// differ notes of which singletons two rows of one node say something else. Of one that was
// not known, any might run there.
func (d *directory) differ(was, is row) {
	if was.version == 0 {
		d.touchAll()
	}
	for name, text := range was.offers {
		if is.offers[name] != text {
			d.dirty[name] = true
		}
	}
	for name, text := range is.offers {
		if was.offers[name] != text {
			d.dirty[name] = true
		}
	}
}

// compared answers a comparison.
func (d *directory) compared(c wireCompare) []letter {
	p, member := d.peers[c.From]
	if !member {
		if len(d.early) >= maxEarly {
			clear(d.early) // they will compare again
		}
		d.early[c.From] = c
		return nil
	}
	var out []letter
	if c.To == d.topo.Self {
		stale, differs := c.Yours != d.own.version, c.Records != d.sum
		if differs && (stale || p.differed) { // not just for the moment
			out = d.allRecords(c.From)
		}
		if stale {
			out = append(out, d.rows(c.From)...)
		}
		p.differed = differs && len(out) == 0
	}
	switch {
	case c.Mine == p.version:
		p.asked = false
		out = append(out, d.confirm(c.From, p))
	case !p.asked: // or two nodes whose rows do not arrive would compare without end
		p.asked = true
		out = append(out, d.compare(c.From, p))
	}
	return out
}

// asks notes that a node asks for permission for a singleton: so it has a manager, heard
// of or not.
func (d *directory) asks(from node.ID, name string) []letter {
	p, member := d.peers[from]
	if !member || p.version == 0 || p.offers[name] != "" {
		return nil
	}
	p.offers[name] = name
	d.dirty[name] = true
	p.asked = true
	p.version = 1 // what has been missed is asked for
	return []letter{d.compare(from, p)}
}

// tick compares with those that have not answered, and with those whose turn it is. Who
// cannot be reached is compared with when it is back.
func (d *directory) tick() []letter {
	var out []letter
	for _, id := range d.order {
		if p := d.peers[id]; p.reachable && (p.asked || p.version == 0) {
			out = append(out, d.compare(id, p))
		}
	}
	for range (len(d.order) + rounds - 1) / rounds {
		id := d.order[d.turn%len(d.order)]
		d.turn++
		if p := d.peers[id]; p.reachable && !p.asked && p.version > 0 {
			out = append(out, d.compare(id, p))
		}
	}
	return out
}

// unaware returns the members that can be reached and have not confirmed all that this node
// has said.
func (d *directory) unaware() []letter {
	var out []letter
	for _, id := range d.order {
		if p := d.peers[id]; p.reachable && p.acked != d.own.version {
			out = append(out, d.compare(id, p))
		}
	}
	return out
}

// quiet reports whether there is nothing to compare with anybody.
func (d *directory) quiet() bool {
	for _, p := range d.peers {
		if p.asked || p.version != 1 {
			return false
		}
	}
	return len(d.peers) == 0 || d.own.version == 1 && len(d.records) == 0
}
