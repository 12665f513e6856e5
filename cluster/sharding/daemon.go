package sharding

import (
	"context"
	"fmt"
	"strconv"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// A Share says which part of the work a daemon does: that with the number Index, of Of parts. Its
// Entity has the index as id.
type Share struct {
	Entity
	Index int // from 0
	Of    int
}

// Daemons are a number of actors that run all the time, see [Daemon]. Any goroutine may call the
// methods.
type Daemons[M any] struct{ region *Region[M] }

// MaxDaemons is how many daemons a type may have: 1024.
const MaxDaemons = table.MaxShards

// Daemon keeps n actors running, spread over the cluster: workers that divide their work by index,
// as each reads the events of some slices. Call it on every node, with the same name, message type
// and [Role]. Without a cluster, all of them run in s.
//
// factory returns the behavior of a daemon, as in [Start]. A daemon that stops or fails is started
// again after one second, or up to a minute if it keeps failing. Each daemon has a shard of its
// own, which moves as other shards do: so at most one of each index runs, and its messages are kept
// meanwhile.
//
// n is the number at first. It can be changed by [Daemons.Scale]: the cluster then has another
// number than n, and Daemon logs that.
//
// Daemon takes the options of Start except [Shards], [PassivateAfter], [MaxEntities] and
// [Remember]. It returns an error if an option makes no sense or n is not from 1 to [MaxDaemons],
// and panics when Start does.
func Daemon[M any](s Host, name string, n int, factory func(Share) actor.Behavior[M], opts ...Option) (*Daemons[M], error) {
	check(name, factory == nil)
	if err := checkDaemons(n); err != nil {
		return nil, err
	}
	set, err := settingsOf(append(opts, func(s *settings) { s.daemons = n }))
	if err != nil {
		return nil, err
	}
	region, err := startRegion(s, name, func(e Entity, of int) actor.Behavior[M] {
		return factory(Share{Entity: e, Index: e.Shard, Of: of})
	}, set)
	if err != nil {
		return nil, err
	}
	return &Daemons[M]{region}, nil
}

func checkDaemons(n int) error {
	if n < 1 || n > MaxDaemons {
		return fmt.Errorf("sharding: %d daemons; give a number from 1 to %d", n, MaxDaemons)
	}
	return nil
}

// Ref returns the ref of the daemon with that index, which is as [Region.Ref]. A message to an
// index that no daemon has becomes a dead letter with [ErrNoDaemon]. Ref panics if index is not
// from 0 to MaxDaemons-1.
func (d *Daemons[M]) Ref(index int) actor.ActorRef[M] {
	if index < 0 || index >= MaxDaemons {
		panic(fmt.Sprintf("sharding: the index %d of a daemon is not from 0 to %d", index, MaxDaemons-1))
	}
	return d.region.Ref(strconv.Itoa(index))
}

// Scale changes the number of daemons. All of them end, and then the new ones start, because each
// has another part of the work. It blocks until all have ended, the number is stored, and the other
// nodes know it. It returns an error that wraps the cause of ctx when ctx ends; the number changes
// all the same, unless the coordinator has not heard of it. It must not be called by a handler,
// which it would block.
//
// In a cluster the number is stored in cluster.Config.Journal. If the node of the coordinator has
// none, Scale returns an error that wraps persistence.ErrNoJournal. Without a cluster nothing is
// stored.
func (d *Daemons[M]) Scale(ctx context.Context, n int) error {
	if err := checkDaemons(n); err != nil {
		return err
	}
	return d.region.plain.control(ctx, controlRequest{Daemons: n})
}

// Stats returns what this node knows of the daemons, see [Region.Stats]. Each shard is a daemon.
func (d *Daemons[M]) Stats() Stats { return d.region.Stats() }

// Explain asks the coordinator where the daemon with that index is, see [Region.Explain].
func (d *Daemons[M]) Explain(ctx context.Context, index int) (Explanation, error) {
	return d.region.Explain(ctx, strconv.Itoa(index))
}

// daemonShard returns the shard of the daemon with that id. It returns false if there can be none.
func daemonShard(id string) (shard int, there bool) {
	n, err := strconv.Atoi(id)
	return n, err == nil && n >= 0 && n < MaxDaemons && strconv.Itoa(n) == id
}

// daemonOf returns what keeps the daemon of a shard running.
func daemonOf(all *residents) *remembered {
	r := &remembered{of: all, fixed: true, due: []string{strconv.Itoa(all.lane.shard)}}
	r.ids.Read(r.due)
	return r
}

func (r *region) capacity() int { return len(r.lanes) }

// count notes how many daemons there are; 0 if this node does not know.
func (r *region) count(shards int) {
	if r.set.daemons == 0 || shards == 0 {
		return
	}
	if before := r.daemons.Swap(int64(shards)); before == 0 && shards != r.set.daemons {
		r.system.Log().Info("the number of daemons was changed by Scale", zap.String("type", r.name),
			zap.Int("started with", r.set.daemons), zap.Int("now", shards))
	}
}
