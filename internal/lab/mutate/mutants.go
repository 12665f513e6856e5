package main

// A mutant is a mistake made by hand, in one place, that the tests of some packages find.
type mutant struct {
	Name     string
	File     string // from the root of the repository
	Old, New string // Old is in the file once
	Packages string // that find it, by their paths from the root, separated by spaces
}

// mutants are the mistakes. Each is one that somebody could make while changing the line.
var mutants = []mutant{
	// fencing and stores
	{"memory: any epoch may write", "persistence/journal/memory.go", "if epoch != e.epoch {", "if epoch > e.epoch {", "persistence/journal"},
	{"memory: an append may leave a gap", "persistence/journal/memory.go", "if req.Prev != e.lastSeq {", "if req.Prev < e.lastSeq {", "persistence/journal"},
	{"memory: a snapshot may be ahead of the events", "persistence/journal/memory_snapshot.go", "if s.Seq > e.lastSeq {", "if s.Seq > e.lastSeq+1 {", "persistence/journal"},
	{"sqlite: an old epoch may write", "persistence/sqlite/head.go", "case h.epoch != epoch:", "case h.epoch < epoch:", "persistence/sqlite"},
	{"sqlite: the head has no checksum", "persistence/sqlite/head.go", "|| h.crc != h.checksum() {", "{", "persistence/sqlite"},
	{"sqlite: a record has no checksum", "persistence/sqlite/read.go", " && int64(r.Checksum(id)) == row.crc", "", "persistence/sqlite"},
	{"sqlite: a snapshot has no checksum", "persistence/sqlite/snapshot.go", "if s.Checksum(h.id) != crc {", "if s.Checksum(h.id) != crc && crc == 0 {", "persistence/sqlite"},
	{"recovery: a gap between events goes unnoticed", "persistence/recovery.go", "case record.Seq != r.seq+1:", "case record.Seq < r.seq+1:", "persistence"},
	{"recovery: a fenced writer's event counts", "persistence/recovery.go", "case record.Epoch < r.epoch:", "case false:", "persistence"},

	// singletons
	{"hand-over: starts before all have permitted it", "singleton/internal/handover/permission.go", "if len(missing) == 0 && !now.Before", "if !now.Before", "singleton/internal/handover singleton"},
	{"hand-over: no margin after a removal", "singleton/internal/handover/permission.go", "len(missing) == 0 && !now.Before(m.earliestStart())", "len(missing) == 0", "singleton/internal/handover singleton"},
	{"hand-over: an old permission counts", "singleton/internal/handover/permission.go", "if m.phase != Asking || g.Attempt != m.asking.attempt {", "if m.phase != Asking {", "singleton/internal/handover singleton"},
	{"term: one that is used is used again", "singleton/internal/handover/permission.go", "if p.term <= m.terms.highest() {", "if p.term < m.terms.highest() {", "singleton/internal/handover singleton"},
	{"lease gate: hosts without the lease", "singleton/internal/handover/acquisition.go", "case m.cfg.Leased && (!a.Held || a.Token < m.asking.term):", "case m.cfg.Leased && a.Token < m.asking.term:", "singleton/internal/handover singleton"},
	{"lease gate: a loss ends nothing", "singleton/internal/handover/acquisition.go", "return m.stopFor(Stopping, true, now)", "return nil", "singleton/internal/handover singleton"},
	{"lease gate: permits before the lease is free", "singleton/internal/handover/acquisition.go", "\ta.Releasing = true\n", "", "singleton/internal/handover singleton"},
	{"restart: the backoff is never reset", "singleton/internal/handover/instance.go", "if now.Sub(i.started) >= m.cfg.Restart.ResetAfter() {", "if false {", "singleton/internal/handover singleton"},
	{"at least once: a duplicate is handed again", "singleton/internal/sequence/receiver.go", "\tif number <= received {\n\t\ts.news = s.news || number <= s.UpTo() // the answer may have been lost\n\t\treturn Ignore\n\t}\n", "\tif number <= received && open {\n\t\treturn Accept\n\t}\n", "singleton/internal/sequence singleton"},
	{"at least once: a refusal is not told", "internal/window/receiver.go", "return upTo, slices.Clone(r.refused[:n])", "return upTo, nil", "internal/window singleton/internal/sequence singleton"},
	{"at least once: not compared between nodes", "singleton/options.go", "presence(s.window > 0)", "presence(false)", "singleton"},
	{"lease: valid for longer than it was granted", "singleton/lease/keeper.go", "now.since(v.sent) < k.bound {", "now.since(v.sent) < 2*k.bound {", "singleton/lease"},
	{"lease: a token may be used twice", "singleton/lease/acquisition.go", "if ev.grant.Token <= req.floor {", "if ev.grant.Token < req.floor {", "singleton/lease"},

	// membership
	{"downing: two sides may have a quorum", "cluster/downing/staticquorum.go", "case us+them > 2*q.Size-1:", "case us+them > 2*q.Size:", "cluster/downing"},
	{"downing: one member short of a quorum", "cluster/downing/staticquorum.go", "case us < q.Size:", "case us < q.Size-1:", "cluster/downing"},
	{"downing: both halves go on", "cluster/downing/decision.go", "return len(us) > 0 && us[0].Address < them[0].Address", "return len(us) > 0", "cluster/downing"},
	{"downing: before the situation is stable", "cluster/downing/decision.go", "case s.Stable < c.after:", "case s.Stable < c.after/2:", "cluster/downing"},
	{"downing: an oldest that is alone goes on", "cluster/downing/keepoldest.go", "return !k.KeepAlone && itsSide <= 1 && other > 1", "return false", "cluster/downing"},
	{"gossip: a status goes back", "cluster/internal/membership/merge.go", "m.Status = max(m.Status, o.Status)", "m.Status = o.Status", "cluster/internal/membership"},
	{"gossip: an old row counts", "cluster/internal/membership/merge.go", "if r.Version > t.rows[id].Version {", "if r.Version != t.rows[id].Version {", "cluster/internal/membership"},
	{"gossip: a removed member comes back", "cluster/internal/membership/merge.go", "\tif _, removed := t.tombstones[id]; removed {\n\t\tt.remove(id, tombstoneOf(m), news)\n\t\treturn\n\t}\n", "", "cluster/internal/membership"},

	// network
	{"remote: the outbox has no bound of bytes", "internal/transport/outbox/outbox.go", " && (o.bytes+size <= o.MaxBytes || o.Len() == 0)", "", "internal/transport"},
	{"remote: a frame may have any size", "internal/transport/wire/frame.go", "if int64(size) > int64(limit) {", "if int64(size) > int64(limit)*2 {", "internal/transport"},
	{"remote: parts may have any size", "internal/transport/wire/reassembly.go", "!j.refused && (have > limit || left > uint64(limit-have)) {", "!j.refused && have > limit {", "internal/transport"},
	{"remote: acknowledges what was not sent", "internal/transport/outbox/outbox.go", " || count > o.acked+uint64(o.inFlight.len()) {", " {", "internal/transport"},
	{"remote: unauthenticated connections have no grace", "internal/transport/unauthenticated.go", " && x.since.Sub(s.waiting[oldest].since) < unauthenticatedGrace:", " && false:", "internal/transport"},
	{"remote: a session that is not known goes on", "internal/transport/sessions.go", "if goesOn && !known {", "if goesOn && old == nil {", "internal/transport"},

	// actors
	{"stash: one more than its limit", "actor/stash.go", "return len(s.kept) >= s.capacity }", "return len(s.kept) > s.capacity }", "actor"},
	{"mailbox: one more than its bound", "actor/queue.go", "case int(c.waiting-c.exempt) < box.capacity:", "case int(c.waiting-c.exempt) <= box.capacity:", "actor"},
	{"supervision: one restart more than the limit", "actor/strategy.go", "if len(l.times) >= s.Limit {", "if len(l.times) > s.Limit {", "actor"},
	{"supervision: the backoff is never reset", "actor/strategy.go", "now.Sub(l.started) >= s.Backoff.ResetAfter() {", "false {", "actor"},
	{"timers: a cancelled one fires", "actor/timers.go", "func (k *keyedTimer) run(c *cell) {\n\tif c.timers.byKey[k.key] != k {", "func (k *keyedTimer) run(c *cell) {\n\tif c.timers.byKey == nil {", "actor"},
	{"watch: an unwatched end is told", "actor/watch.go", "if c.watched[e.target] != e.watch {", "if c.watched == nil {", "actor"},
	{"event stream: cancel does nothing", "actor/eventstream.go", "return func() { s.events.remove(added.same) }", "return func() {}", "actor"},
	{"event stream: keeps subscribers that have ended", "actor/eventstream.go", "\t\t\tended = true\n", "", "actor"},
	{"receptionist: a gap in changes goes unnoticed", "internal/services/exchange.go", "case c.Since != p.version:", "case c.Since > p.version+1:", "internal/services actor/receptionist"},
	{"topic: the wrong subscriber is removed", "actor/topic/subscriptions.go", "b.subscribers = slices.Delete(slices.Clone(b.subscribers), i, i+1)", "b.subscribers = slices.Delete(slices.Clone(b.subscribers), 0, 1)", "actor/topic"},

	// delivery
	{"delivery: a refusal counts as confirmed", "actor/delivery/consumer.go", "s.Refuse(done.number, why)", "", "actor/delivery"},
	{"delivery: a refusal is passed before it is stored", "actor/delivery/producer.go", "if done.of.pending {", "if false {", "actor/delivery"},
	{"window: the order of a stream", "internal/window/receiver.go", "case number == r.received+1:", "case number > r.received:", "internal/window actor/delivery singleton"},
	{"window: the watermark sinks", "internal/window/numbers.go", "\tif number <= s.upTo {\n\t\treturn\n\t}\n", "", "internal/window actor/delivery singleton"},
	{"delivery: more than the window", "internal/window/sender.go", "if s.sent >= min(limit, s.Last()) {", "if s.sent >= min(limit+1, s.Last()) {", "actor/delivery"},
	{"delivery: one more than the buffer", "actor/delivery/producer.go", "if p.backlog.Len()+p.storage.fresh.Len() >= p.set.buffer {", "if p.backlog.Len()+p.storage.fresh.Len() > p.set.buffer {", "actor/delivery"},
	{"delivery: parts without a limit", "actor/delivery/entry.go", "if most := p.set.most(); most > 0 && size > most {", "if most := p.set.maxBytes; most > 0 && size > most {", "actor/delivery"},
	{"delivery queue: removes nothing for good", "actor/delivery/journal_refused.go", "case removed:\n\t\t\tr.remove(v.Numbers)", "case removed:", "actor/delivery"},
	{"delivery queue: half a message counts", "actor/delivery/journal_refused.go", "case message:\n\t\t\trecords = append(records, v.Payload)", "case message:\n\t\t\tr.put(kept{Refused: Refused{Number: v.Number}, from: record.Seq, to: record.Seq})\n\t\t\trecords = append(records, v.Payload)", "actor/delivery"},
}
