package directory

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/internal/batch"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// Each node owns its row, and sends every change of it to every member, together with the records
// that have changed there. A node that finds a gap in the versions asks for the whole row. Members
// that see each other for the first time, or again, compare what they have. Each member also
// compares with all others in turn, in case something was lost unnoticed. Records belong to no node
// and only grow: if a node has told only some members before it died, the others learn by
// comparing. The rows of nodes that are gone are passed on to later members.

const (
	// partBytes is the approximate size of one message.
	partBytes = 16 << 10
	// rounds is the number of ticks in which this node compares with every peer once.
	rounds = 6
	// maxEarly is the maximum number of comparisons kept for nodes that are not known as members
	// yet.
	maxEarly = 1000
)

func send[B any](d *Directory, to remote.NodeID, body B) wire.Any {
	return wire.New(wire.Header{From: d.topo.Self, To: to}, body)
}

// Flush returns the news of the changes made here, for all peers.
func (d *Directory) Flush() []wire.Any {
	if len(d.unsaid) == 0 {
		return nil
	}
	var out []wire.Any
	for _, names := range batch.Split(slices.Sorted(maps.Keys(d.unsaid)), partBytes, d.sizeOf) {
		news := wire.News{Since: d.own.version, Version: d.own.version + 1}
		d.own.version++
		for _, name := range names {
			d.addTo(&news, name)
		}
		for _, id := range d.order {
			out = append(out, send(d, id, news))
		}
	}
	clear(d.unsaid)
	return out
}

func (d *Directory) addTo(news *wire.News, name string) {
	if text, has := d.own.advertised[name]; has {
		news.Advertised = append(news.Advertised, text)
	} else {
		news.Withdrawn = append(news.Withdrawn, name)
	}
	if r, known := d.records[name]; known {
		news.Records = append(news.Records, wire.NamedRecord{Name: name, Record: r})
	}
}

func (d *Directory) sizeOf(name string) int {
	return len(name) + len(d.own.advertised[name]) + recordBytes
}

// recordBytes is the approximate size of a record without its name.
const recordBytes = 12

// rows sends our row to one peer, and before it the rows of the nodes that are gone.
func (d *Directory) rows(to remote.NodeID) []wire.Any {
	var out []wire.Any
	for _, id := range slices.SortedFunc(maps.Keys(d.gone), remote.NodeID.Compare) {
		if r := d.gone[id]; r.version > 0 {
			out = append(out, d.rowParts(to, id, r)...)
		}
	}
	return append(out, d.rowParts(to, d.topo.Self, &d.own)...)
}

func (d *Directory) allRecords(to remote.NodeID) []wire.Any {
	var out []wire.Any
	all := make([]wire.NamedRecord, 0, len(d.records))
	for _, name := range slices.Sorted(maps.Keys(d.records)) {
		all = append(all, wire.NamedRecord{Name: name, Record: d.records[name]})
	}
	for _, part := range batch.Split(all, partBytes, func(r wire.NamedRecord) int { return len(r.Name) + recordBytes }) {
		out = append(out, send(d, to, wire.Records{Records: part}))
	}
	return out
}

func (d *Directory) rowParts(to, owner remote.NodeID, r *row) []wire.Any {
	parts := batch.Split(slices.Sorted(maps.Values(r.advertised)), partBytes, func(text string) int { return len(text) + 2 })
	if len(parts) == 0 {
		parts = [][]string{nil}
	}
	var out []wire.Any
	for i, advertised := range parts {
		out = append(out, send(d, to, wire.Row{Owner: owner, Version: r.version, Part: i, Of: len(parts), Advertised: advertised}))
	}
	return out
}

func (d *Directory) compare(id remote.NodeID, p *peer) wire.Any {
	return send(d, id, wire.Compare{Mine: d.own.version, Yours: p.version, Records: d.sum})
}

// View takes a topology, and returns the messages to send.
func (d *Directory) View(t Topology) []wire.Any {
	if d.topo.Self != t.Self { // another incarnation, perhaps of another cluster
		clear(d.peers)
		clear(d.gone)
		d.learned = false
	}
	d.topo = t
	var out []wire.Any
	now := map[remote.NodeID]bool{t.Self: true}
	for _, m := range t.Members {
		if m.ID != t.Self {
			now[m.ID] = true
			out = append(out, d.meet(m)...)
		}
	}
	d.bury(t.Gone)
	maps.DeleteFunc(d.peers, func(id remote.NodeID, _ *peer) bool { return !now[id] })
	d.order = slices.SortedFunc(maps.Keys(d.peers), remote.NodeID.Compare)
	d.learn()
	d.touchAll()
	return out
}

// bury keeps the rows of the nodes that are gone. A row that is known to be incomplete counts as
// unknown.
func (d *Directory) bury(gone []Gone) {
	now := map[remote.NodeID]bool{}
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
	maps.DeleteFunc(d.gone, func(id remote.NodeID, _ *row) bool { return !now[id] })
}

// meet takes what the topology says of a peer. A peer that is new, or reachable again, may have
// missed something, and so may this node.
func (d *Directory) meet(m Peer) []wire.Any {
	p, known := d.peers[m.ID]
	if !known {
		p = &peer{incoming: map[remote.NodeID]*partial{}}
		d.peers[m.ID] = p
	}
	back := m.Reachable && !p.reachable
	p.reachable = m.Reachable
	var out []wire.Any
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

// learn records when this node has heard from all members that it waits for: those that are up and
// reachable.
func (d *Directory) learn() {
	if _, member := d.topo.Member(d.topo.Self); !member || d.learned {
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

// Receive handles a message of another node, and returns the messages to send.
func (d *Directory) Receive(msg wire.Any) []wire.Any {
	switch msg := msg.(type) {
	case wire.Message[wire.News]:
		return d.news(msg.Header.From, msg.Body)
	case wire.Message[wire.Row]:
		out := d.part(msg.Header.From, msg.Body)
		d.learn()
		return out
	case wire.Message[wire.Records]:
		d.raiseAll(msg.Body.Records)
	case wire.Message[wire.Confirm]:
		if p, member := d.peers[msg.Header.From]; member && msg.Header.To == d.topo.Self {
			p.acked = msg.Body.Version
		}
	case wire.Message[wire.Compare]:
		return d.compared(msg)
	}
	return nil
}

func (d *Directory) raiseAll(records []wire.NamedRecord) {
	for _, r := range records {
		if d.raise(r.Name, r.Record) {
			d.dirty[r.Name] = true
		}
	}
}

func (d *Directory) news(from remote.NodeID, n wire.News) []wire.Any {
	d.raiseAll(n.Records) // perhaps the last that it could send
	p, member := d.peers[from]
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
		return []wire.Any{d.compare(from, p)}
	}
	for _, name := range n.Withdrawn {
		delete(p.advertised, name)
		d.dirty[name] = true
	}
	for _, text := range n.Advertised {
		name := AdvertisedName(text)
		p.advertised[name] = text
		d.dirty[name] = true
	}
	p.version = n.Version
	return nil
}

// part takes a part of a row. The row counts when all parts have arrived.
func (d *Directory) part(from remote.NodeID, w wire.Row) []wire.Any {
	p, member := d.peers[from]
	if !member {
		return nil
	}
	whole, complete := p.take(w)
	switch r, gone := d.gone[w.Owner]; {
	case !complete:
	case gone && whole.version > r.version:
		d.differ(*r, whole)
		*r = whole
	case w.Owner == from && whole.version >= p.version:
		d.differ(p.row, whole)
		p.row, p.asked = whole, false
		return []wire.Any{d.confirm(from, p)}
	}
	return nil
}

func (d *Directory) confirm(id remote.NodeID, p *peer) wire.Any {
	return send(d, id, wire.Confirm{Version: p.version})
}

// take takes the next part of a row from a peer, and returns the row with the last part.
func (p *peer) take(w wire.Row) (whole row, complete bool) {
	in := p.incoming[w.Owner]
	if w.Part == 0 {
		in = &partial{row: row{version: w.Version, advertised: map[string]string{}}}
	}
	if in == nil || in.version != w.Version || in.next != w.Part {
		delete(p.incoming, w.Owner)
		return row{}, false
	}
	for _, text := range w.Advertised {
		in.advertised[AdvertisedName(text)] = text
	}
	if in.next++; in.next < w.Of {
		p.incoming[w.Owner] = in
		return row{}, false
	}
	delete(p.incoming, w.Owner)
	return in.row, true
}

// differ marks the singletons in which two rows of one node differ. While a row is unknown, any
// singleton might run there.
func (d *Directory) differ(was, is row) {
	if was.version == 0 {
		d.touchAll()
	}
	for name, text := range was.advertised {
		if is.advertised[name] != text {
			d.dirty[name] = true
		}
	}
	for name, text := range is.advertised {
		if was.advertised[name] != text {
			d.dirty[name] = true
		}
	}
}

func (d *Directory) compared(msg wire.Message[wire.Compare]) []wire.Any {
	c, from := msg.Body, msg.Header.From
	p, member := d.peers[from]
	if !member {
		if len(d.early) >= maxEarly {
			clear(d.early) // they will compare again
		}
		d.early[from] = msg
		return nil
	}
	var out []wire.Any
	if msg.Header.To == d.topo.Self {
		stale, differs := c.Yours != d.own.version, c.Records != d.sum
		if differs && (stale || p.differed) { // and not only for a moment
			out = d.allRecords(from)
		}
		if stale {
			out = append(out, d.rows(from)...)
		}
		p.differed = differs && len(out) == 0
	}
	switch {
	case c.Mine == p.version:
		p.asked = false
		out = append(out, d.confirm(from, p))
	case !p.asked: // otherwise two nodes whose rows do not arrive would compare without end
		p.asked = true
		out = append(out, d.compare(from, p))
	}
	return out
}

// Asks records that a node asks for permission for a singleton, so it must have a manager. It
// returns the messages to send.
func (d *Directory) Asks(from remote.NodeID, name string) []wire.Any {
	p, member := d.peers[from]
	if !member || p.version == 0 || p.advertised[name] != "" {
		return nil
	}
	p.advertised[name] = name
	d.dirty[name] = true
	p.asked = true
	p.version = 1 // what has been missed is asked for
	return []wire.Any{d.compare(from, p)}
}

// Tick compares with the peers that have not answered, and with those whose turn it is. This node
// compares with an unreachable peer when the peer is back.
func (d *Directory) Tick() []wire.Any {
	var out []wire.Any
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

// Unaware returns questions to the reachable members that have not confirmed all news of this node.
func (d *Directory) Unaware() []wire.Any {
	var out []wire.Any
	for _, id := range d.order {
		if p := d.peers[id]; p.reachable && p.acked != d.own.version {
			out = append(out, d.compare(id, p))
		}
	}
	return out
}

// Quiet reports whether there is nothing to compare with any peer.
func (d *Directory) Quiet() bool {
	for _, p := range d.peers {
		if p.asked || p.version != 1 {
			return false
		}
	}
	return len(d.peers) == 0 || d.own.version == 1 && len(d.records) == 0
}
