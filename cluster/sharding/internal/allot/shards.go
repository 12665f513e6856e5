package allot

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/remote"
)

// shards is the workload that keeps each shard running on one node.
type shards struct {
	chooser
	book  *table.Book
	kinds map[string]*kind

	changed bool // the book has changed
	balance balancer
	moves   uint64
	stops   stops
	fences  *fences

	strangers strangers
	hearing   hearing
	waiting   map[*kind][]home.Token // for another number of daemons
}

func newShards(cfg Config, n *home.Nodes, b *table.Book) *shards {
	s := &shards{
		chooser: chooser{cfg: cfg, nodes: n, offers: offers{}, heard: map[home.NodeID]time.Time{}}, book: b, kinds: map[string]*kind{},
		waiting: map[*kind][]home.Token{},
	}
	s.fences = newFences(s)
	return s
}

// replay continues from the record of a shard.
func (s *shards) replay(label string, r home.Record) {
	typ, n, _ := ParseLabel(label)
	k := s.kinds[typ]
	k.grow(n + 1)
	sh := k.shards[n]
	sh.Record = r
	switch {
	case n >= k.Shards: // the type has it no more
		sh.Record = home.Record{Generation: r.Generation, Pin: r.Pin}
	case r.Node != "":
		sh.stage = starting
	}
}

// Handle implements home.Workload.
func (s *shards) Handle(in home.Input) {
	switch in := in.(type) {
	case home.Recovered:
		s.begin()
	case home.ViewChanged:
		s.strangers.update(in.Gone, s.nodes)
		s.viewed()
	case Hello:
		s.offer(in.Node, in.Offers)
	case Rescale:
		rescale(s, in)
	case SetPins:
		pin(s, in)
	case StopShards:
		stop(s, in)
	case FenceAnswered:
		s.fences.answered(in)
	}
}

// begin continues from what has been replayed.
func (s *shards) begin() {
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		for _, sh := range s.kinds[name].live() {
			if sh.stage == starting {
				s.nodes.Start(sh.On(), sh.request())
				s.publish(sh, sh.home()) // it runs there, or is going to
			}
		}
	}
}

func (s *shards) add(t table.Type) *kind {
	k := newKind(t)
	s.kinds[t.Name] = k
	s.book.Declare(t)
	s.changed = true
	s.touch(k)
	return k
}

// offer notes what a node offers.
func (s *shards) offer(id home.NodeID, all []Offer) {
	before := s.offers[id]
	s.offers[id] = map[string]Offer{}
	s.heard[id], s.balance.news = s.nodes.Now(), true
	for _, o := range all {
		s.offers[id][o.Type.Name] = o
		declareNew(s, o)
		s.recall(o)
	}
	if !maps.EqualFunc(before, s.offers[id], Offer.isLike) {
		s.touchAll()
	}
}

// viewed follows a change of the members. It forgets the offers of those that are gone.
func (s *shards) viewed() {
	maps.DeleteFunc(s.offers, func(id home.NodeID, _ map[string]Offer) bool { return !s.isMember(id) })
	maps.DeleteFunc(s.heard, func(id home.NodeID, _ time.Time) bool { return !s.isMember(id) })
	s.fences.forget()
	s.balance.viewed(s.nodes.View().Nodes, s.cfg.FirstTerm <= 1, s.nodes.Now())
	s.touchAll()
}

func (s *shards) touchAll() {
	for _, k := range s.kinds {
		s.touch(k)
	}
}

// touch has all shards of a type reviewed.
func (s *shards) touch(k *kind) {
	for _, sh := range k.shards {
		s.nodes.Touch(sh.label)
	}
}

func (s *shards) of(label string) *shard {
	typ, n, ok := ParseLabel(label)
	if !ok || s.kinds[typ] == nil || n >= len(s.kinds[typ].shards) {
		return nil
	}
	return s.kinds[typ].shards[n]
}

// requested returns the shard that a request belongs to, or nil.
func (s *shards) requested(label string, id home.RequestID) *shard {
	if sh := s.of(label); sh != nil && sh.Request == id && sh.stage != homeless {
		return sh
	}
	return nil
}

// Unwanted implements home.Workload.
func (s *shards) Unwanted(label string) bool {
	sh := s.of(label)
	return sh != nil && (sh.stage != homeless || sh.typ.next > 0 || sh.number >= sh.typ.Shards)
}

// Told implements home.Workload.
func (s *shards) Told(o home.Outcome) {
	sh := s.requested(o.Label, o.ID)
	switch {
	case sh == nil:
	case o.What == home.Runs && sh.stage == starting:
		sh.enter(settled, s.nodes.Now())
		sh.failures, sh.lastError, sh.former = 0, "", nil
		s.publish(sh, sh.home())
	case o.What == home.Failed, o.What == home.Quit:
		s.failed(sh, o.Why)
	case o.What == home.Stopped:
		s.free(sh)
	case o.What == home.Refused && sh.stage == leaving: // the node keeps it until its report says why
		s.stops.refused(sh, o.Why.Text, s.nodes)
		sh.enter(settled, s.nodes.Now())
		s.publish(sh, sh.home())
	}
}

// failed allots a shard again after a delay. If a later generation has claimed the id of an entity,
// it is allotted at once, with one above that.
func (s *shards) failed(sh *shard, why home.Ending) {
	sh.lastError = cmp.Or(why.Text, "it has stopped by itself")
	sh.Generation.Term = max(sh.Generation.Term, why.FencedBy)
	if why.FencedBy == 0 {
		sh.failures++
		sh.retryAt = s.nodes.Now().Add(s.cfg.Delay(sh.failures))
		s.nodes.Wake(sh.label, sh.retryAt)
	}
	s.free(sh)
}

// Lost implements home.Workload.
func (s *shards) Lost(on home.NodeID) {
	for _, k := range s.kinds {
		for _, sh := range k.shards {
			switch {
			case sh.stage == homeless || sh.On() != on:
			case sh.Lease != 0:
				s.nodes.Touch(sh.label) // its lease says whether it runs
			default:
				s.free(sh)
			}
		}
	}
}

// Leaving implements home.Workload.
func (s *shards) Leaving(on home.NodeID) bool {
	if !s.hearing.over {
		return true // it is not known yet where its shards can go
	}
	for _, k := range s.kinds {
		for _, sh := range k.shards {
			if sh.On() == on && (sh.stage == settled || sh.stage == starting) && s.hasHost(k) {
				return true
			}
		}
	}
	return false
}

// release frees a shard of a node that is no member any more.
func (s *shards) release(sh *shard) {
	s.nodes.Forget(sh.On(), sh.label)
	s.free(sh)
}

// free notes that a shard runs nowhere.
func (s *shards) free(sh *shard) {
	sh.enter(homeless, s.nodes.Now())
	if on := sh.home().Node; !slices.Contains(sh.former, on) {
		sh.former = append(sh.former, on)
	}
	sh.Record, sh.chosenBy = home.Record{Generation: sh.Generation, Pin: sh.Pin}, ""
	s.publish(sh, table.Home{Generation: sh.Generation.Term})
	s.stops.ended(sh, s.nodes)
	s.nodes.Touch(sh.label)
}

// settle gives a shard a home.
func (sh *shard) settle(on home.Node, lease uint64) {
	sh.Node, sh.Address, sh.Incarnation, sh.Lease = on.Name, on.Address, on.Incarnation, lease
}

func (sh *shard) enter(next stage, now time.Time) { sh.stage, sh.since = next, now }

func (sh *shard) home() table.Home {
	return table.Home{Node: remote.NodeID{Address: sh.Address, Incarnation: sh.Incarnation}, Generation: sh.Generation.Term}
}

func (sh *shard) request() home.StartRequest {
	return home.StartRequest{
		ID: sh.Request, Label: sh.label, Type: sh.typ.Name, Generation: sh.Generation, State: sh.state(),
	}
}

func (s *shards) publish(sh *shard, h table.Home) {
	before := s.book.Version()
	if sh.number < sh.typ.Shards {
		s.book.Set(sh.typ.Name, sh.number, h)
	}
	s.changed = s.changed || s.book.Version() != before
}

// record stores where a shard is to run, but not that it runs nowhere: that follows from what its
// node reports.
func (s *shards) record(sh *shard) {
	r := sh.Record
	s.nodes.Put(ofShard+sh.label, &r)
}

// MoreRoom implements home.Workload.
func (s *shards) MoreRoom() { s.touchAll() }

// Serve implements home.Workload.
func (s *shards) Serve() {
	listen(s)
	agree(s)
	endRescaling(s)
	spread(s)
	rebalance(s)
}

// Review implements home.Workload.
func (s *shards) Review(label string) {
	sh := s.of(label)
	if sh == nil {
		return
	}
	if sh.stage != homeless && !s.isMember(sh.On()) {
		s.fences.fence(sh)
	}
	switch {
	case sh.typ.next > 0:
		if sh.stage == starting || sh.stage == settled {
			s.move(sh, rescaled)
		}
	case sh.stage == homeless && sh.number < sh.typ.Shards:
		s.place(sh)
	case sh.stage == starting, sh.stage == settled:
		switch {
		case !s.stays(sh) && s.hasHost(sh.typ):
			s.move(sh, drained)
		case s.isAway(sh):
			s.move(sh, pinned)
		}
	}
}

// place allots a shard that runs nowhere.
func (s *shards) place(sh *shard) {
	if s.adopt(sh) || len(s.nodes.PlacesOf(sh.label)) > 0 || s.nodes.Now().Before(sh.retryAt) || s.awaitsStranger(sh) || !s.hearing.over {
		return
	}
	n, by, ok := s.choose(sh)
	if !ok {
		return
	}
	sh.chosenBy, sh.met = by, true
	sh.settle(n, s.offers.lease(home.IDOf(n), sh.typ))
	sh.Generation.Term = max(sh.Generation.Term+1, s.cfg.FirstTerm)
	sh.Request = s.nodes.Start(sh.On(), sh.request())
	sh.enter(starting, s.nodes.Now())
	s.record(sh)
}

// adopt takes over the shard that a node runs without having been asked by this coordinator: of
// several the one with the highest generation. The others are stopped, as unwanted ones.
func (s *shards) adopt(sh *shard) bool {
	all := slices.DeleteFunc(s.nodes.PlacesOf(sh.label), func(p home.Place) bool { return !p.Orphan || p.Phase == home.Stopping })
	if len(all) == 0 {
		return false
	}
	best := slices.MaxFunc(all, func(a, b home.Place) int {
		x, y := a.Request, b.Request
		return cmp.Or(cmp.Compare(x.Generation.Term, y.Generation.Term), cmp.Compare(x.ID.Epoch, y.ID.Epoch), cmp.Compare(x.ID.N, y.ID.N))
	})
	n, known := s.nodes.Node(best.On)
	if term := best.Request.Generation.Term; !known || term < sh.Generation.Term { // a later one has been elsewhere since
		for _, o := range all {
			s.nodes.Stop(o.On, sh.label, "")
		}
		return false
	}
	lease := s.offers.lease(best.On, sh.typ)
	if lease == 0 && s.offers.leased(sh.typ) {
		return false // its node says soon under which one it runs
	}
	sh.settle(n, lease)
	sh.Generation, sh.Request, sh.met = best.Request.Generation, best.Request.ID, true
	sh.enter(starting, s.nodes.Now())
	s.nodes.Start(best.On, sh.request())
	if best.Phase == home.Running {
		s.publish(sh, sh.home())
	}
	s.record(sh)
	return true
}

// stays reports whether a shard may stay where it is. A node that is merely unreachable keeps its
// shards.
func (s *shards) stays(sh *shard) bool {
	n, known := s.nodes.Node(sh.On())
	return !known || !n.Draining && (n.Up || !s.isMember(sh.On()))
}

func (s *shards) isMember(id home.NodeID) bool {
	n, member := s.nodes.Member(id.Name)
	return member && home.IDOf(n) == id
}

// The causes of moves, besides those of package home.
const (
	drained  home.Cause = "drain"
	balanced home.Cause = "balance"
	rescaled home.Cause = "rescale"
	pinned   home.Cause = "pin"
	stopped  home.Cause = "stop"
)

// Causes are all causes of moves.
var Causes = []home.Cause{home.NodeLost, home.EndedAlone, drained, balanced, rescaled, pinned, stopped}

// move takes a shard away from its node.
func (s *shards) move(sh *shard, why home.Cause) {
	s.moves++
	sh.moves++
	sh.enter(leaving, s.nodes.Now())
	s.publish(sh, table.Home{Generation: sh.Generation.Term}) // from now on, senders keep their messages
	s.nodes.Stop(sh.On(), sh.label, why)
}
