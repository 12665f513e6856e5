package allot

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A Fence is an effect: take the lease of a former member for a type, and release it. FenceAnswered
// is to follow. From then on nothing that the node has started under an earlier token runs.
type Fence struct {
	Type string
	Node home.NodeID
}

// IsEffect implements home.Effect.
func (Fence) IsEffect() {}

// fences are the leases of former members that are being taken.
type fences struct {
	of      *shards
	pending map[Fence]bool
	again   map[Fence]time.Time // before which one that was not to be had is not tried again
	why     map[Fence]string    // why it was not
}

func newFences(of *shards) *fences {
	return &fences{of: of, pending: map[Fence]bool{}, again: map[Fence]time.Time{}, why: map[Fence]string{}}
}

// ask takes the lease of a former member, unless that is under way or has just been tried.
func (all *fences) ask(f Fence) {
	if !all.of.nodes.Now().Before(all.again[f]) && !all.pending[f] {
		all.pending[f] = true
		all.of.nodes.Emit(f)
	}
}

// answered frees the shards of a former member whose lease has been taken.
func (all *fences) answered(in FenceAnswered) {
	delete(all.pending, in.Fence)
	if !in.Held {
		all.why[in.Fence] = in.Why
		all.again[in.Fence] = all.of.nodes.Now().Add(all.of.cfg.LeaseRetry)
		for _, sh := range all.shards(in.Fence) {
			all.of.nodes.Wake(sh.label, all.again[in.Fence])
		}
		return
	}
	delete(all.why, in.Fence)
	delete(all.again, in.Fence)
	for _, sh := range all.shards(in.Fence) {
		all.of.release(sh)
	}
}

// shards returns the shards of a type that a former member may run under a lease.
func (all *fences) shards(f Fence) (there []*shard) {
	if k := all.of.kinds[f.Type]; k != nil && !all.of.isMember(f.Node) {
		there = slices.DeleteFunc(slices.Clone(k.shards), func(sh *shard) bool { return sh.stage == homeless || sh.Lease == 0 || sh.On() != f.Node })
	}
	return there
}

// fence frees a shard of a former member, or sees to it that this is done. It does nothing for a
// shard that has been started without a lease.
func (all *fences) fence(sh *shard) {
	switch {
	case sh.Lease == 0:
		if sh.fenced() {
			all.of.release(sh) // what may still run there is fenced by the next generation
		}
	case all.succeeded(sh):
		all.of.release(sh)
	default:
		all.ask(Fence{Type: sh.typ.Name, Node: sh.On()})
	}
}

// succeeded reports whether another process has the lease of the node by now, which has its name.
func (all *fences) succeeded(sh *shard) bool {
	n, member := all.of.nodes.Member(sh.Node)
	return member && all.of.offers.lease(home.IDOf(n), sh.typ) != 0
}

// forget forgets what concerns no former member any more.
func (all *fences) forget() {
	maps.DeleteFunc(all.why, func(f Fence, _ string) bool { return len(all.shards(f)) == 0 })
	maps.DeleteFunc(all.again, func(f Fence, _ time.Time) bool { return len(all.shards(f)) == 0 })
}

// awaited says which lease of a former member a shard waits for, or "".
func (all *fences) awaited(sh *shard) string {
	if sh.stage == homeless || sh.Lease == 0 || all.of.isMember(sh.On()) {
		return ""
	}
	text := fmt.Sprintf("%s is no longer a member, and its lease is not free yet", sh.Node)
	if why := all.why[Fence{Type: sh.typ.Name, Node: sh.On()}]; why != "" {
		text += ": " + why
	}
	return text
}
