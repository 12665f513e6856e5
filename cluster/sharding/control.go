package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/remote"
)

// Shard returns the number of the shard of the entity with that id. It panics if the id is not
// valid; see [ValidateID].
func (r *Region[M]) Shard(id string) int { return r.plain.shardOfValid(id) }

func (r *region) shardOfValid(id string) int {
	if err := ValidateID(id); err != nil {
		panic(err)
	}
	shard, _ := r.shardOf(id)
	return shard
}

// maxNodeName is how many bytes the name of a node may have; see cluster.Config.NodeID.
const maxNodeName = 255

// Pin asks the coordinator to run some shards of the type on the node of that name. Each moves
// there at once, in good order, as soon as the node can host it. Until then, and while the node is
// away, it runs where it can. Balancing does not move it away from that node. A later Pin takes the
// place of an earlier one.
//
// The pins are in the journal of the coordinator, so they last until [Region.Unpin]. Pin returns
// an error that wraps persistence.ErrNoJournal if the node of the coordinator has none. It blocks
// until they are stored, and does not wait for the moves; [Region.Explain] says whether a shard is
// there. It returns an error that wraps the cause of ctx when ctx ends first; the shards may be
// pinned nevertheless. It must not be called by a handler, which it would block.
//
// Without a cluster, all shards stay where they are, and Pin does nothing.
func (r *Region[M]) Pin(ctx context.Context, node string, shards ...int) error {
	return r.plain.pin(ctx, node, shards)
}

func (r *region) pin(ctx context.Context, node string, shards []int) error {
	if node == "" {
		return errors.New("sharding: Pin needs the name of a node")
	}
	if err := naming.CheckLength(node, maxNodeName); err != nil {
		return fmt.Errorf("sharding: the name %q of a node %w", node, err)
	}
	return r.control(ctx, controlRequest{Pin: true, Node: node, Shards: shards})
}

// Unpin ends the pins of some shards. They stay where they are until balancing moves them. It
// blocks and fails as [Region.Pin] does.
func (r *Region[M]) Unpin(ctx context.Context, shards ...int) error {
	return r.plain.control(ctx, controlRequest{Pin: true, Shards: shards})
}

// Pins asks the coordinator where shards of the type are pinned to. It returns the names of the
// nodes by shard. It blocks and fails as [Region.Explain] does.
func (r *Region[M]) Pins(ctx context.Context) (map[int]string, error) { return r.plain.pins(ctx) }

func (r *region) pins(ctx context.Context) (map[int]string, error) {
	if r.hub.outside == nil {
		return map[int]string{}, nil
	}
	all, err := r.hub.outside.pins(ctx, r.name)
	if err != nil {
		return nil, fmt.Errorf("sharding: the coordinator of the shards does not answer: %w", err)
	}
	return all, nil
}

// Stop ends some shards of the type: their entities handle what they have, and end as they do when
// a shard moves. Each shard then starts again with the next generation, on the node that the
// strategy or its pin chooses, and its entities with their next message. So Stop frees a shard that
// does not work, and lets entities begin anew. A shard that waits after a failure starts at once.
//
// Stop blocks until all the shards have ended. It returns an error that wraps the cause of ctx when
// ctx ends first, for example because the coordinator has moved meanwhile; call it again. A shard
// on a node that cannot be reached ends when that node is removed. It must not be called by a
// handler, which it would block.
func (r *Region[M]) Stop(ctx context.Context, shards ...int) error {
	return r.plain.control(ctx, controlRequest{Shards: shards})
}

// control sends the coordinator a request about the type, and waits for the answer.
func (r *region) control(ctx context.Context, q controlRequest) error {
	for _, shard := range q.Shards {
		if shard < 0 || shard >= r.set.shards {
			return fmt.Errorf("sharding: type %q has no shard %d: they are 0 to %d", r.name, shard, r.set.shards-1)
		}
	}
	q.Type = r.name
	q.Shards = slices.Compact(slices.Sorted(slices.Values(q.Shards)))
	if why := r.refused.Load(); why != nil {
		return *why
	}
	if r.hub.outside == nil {
		return r.hub.controlHere(ctx, r, q)
	}
	return r.hub.outside.control(ctx, q)
}

// announcing is after which time a request is repeated for which the coordinator has not heard of
// the type: the announcement of this node is on its way.
const announcing = 100 * time.Millisecond

func (c *clustered) control(ctx context.Context, q controlRequest) error {
	done, err := actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[controlled]) home.Input {
		q.ReplyTo = r
		return q
	})
	switch {
	case err != nil:
		return unanswered(c, q, err)
	case done.Unknown:
		if pause.For(ctx, announcing) != nil {
			return fmt.Errorf("%s: %w", done.Problem, context.Cause(ctx))
		}
		return c.control(ctx, q)
	case done.NoJournal:
		return fmt.Errorf("sharding: the coordinator keeps this for the next one: %w", persistence.ErrNoJournal)
	case done.Problem != "":
		return errors.New(done.Problem)
	}
	return nil
}

// unanswered says why the answer to a request has not come. While a shard is being stopped, the
// table has its generation, and no home for it.
func unanswered(c *clustered, q controlRequest, err error) error {
	var away []string
	for _, shard := range q.Shards {
		if home, generation := c.tableHome(q.Type, shard); home == (remote.NodeID{}) && generation > 0 {
			away = append(away, shardName(shard))
		}
	}
	if q.Pin || len(away) == 0 {
		return fmt.Errorf("sharding: the coordinator of the shards has not answered: %w", err)
	}
	return fmt.Errorf("sharding: shards that are still stopping, because a handler is busy or their node is unreachable: %s: %w",
		strings.Join(away, ", "), err)
}

func (c *clustered) pins(ctx context.Context, typ string) (map[int]string, error) {
	all, err := actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[pinned]) home.Input { return pinsRequest{Type: typ, ReplyTo: r} })
	return all.Nodes, err
}

// A ShardState is what the coordinator does with a shard.
type ShardState string

// The states of a shard.
const (
	Homeless ShardState = "homeless" // it runs nowhere
	Starting ShardState = "starting" // its node has been asked to start it
	Running  ShardState = "running"
	Leaving  ShardState = "leaving" // its node has been asked to stop it, and then it gets another home
)

// An Explanation says where an entity is, and why not elsewhere.
type Explanation struct {
	Type, ID  string
	Shard     int
	State     ShardState // of the shard
	Since     time.Time  // when the state began, by the clock of the coordinator; zero if that is unknown
	Node      string     // the name of the node of the shard; "" while it has none, and without a cluster
	Term      uint64     // of the Generation of the shard's last home
	Why       string     // why the shard does not run, or is not moved to balance the nodes; "" if nothing is to be said
	Failures  int        // attempts to run the shard that have failed in a row
	LastError string     // of the last of them
	Pinned    string     // the name of the node where [Region.Pin] wants it; "" for none
	Strategy  string     // that has chosen the node: of [WithStrategy], Pinned, or LeastShards; "" if a former coordinator has chosen, and without a cluster
	Held      int        // messages told on this node that wait for the shard
}

// Explain asks the coordinator, wherever it runs, where the entity with that id is, and why not
// elsewhere. It blocks until the answer has come, and returns an error that wraps the cause of ctx
// when ctx ends. It does not start the entity. It must not be called by a handler, which it would
// block.
func (r *Region[M]) Explain(ctx context.Context, id string) (Explanation, error) {
	return r.plain.explain(ctx, id)
}

func (r *region) explain(ctx context.Context, id string) (Explanation, error) {
	if err := ValidateID(id); err != nil {
		return Explanation{}, err
	}
	shard, there := r.shardOf(id)
	if !there {
		return Explanation{}, fmt.Errorf("sharding: %q is not the index of a daemon", id)
	}
	here := r.lanes[shard].stats()
	all := Explanation{Type: r.name, ID: id, Shard: shard, State: Running, Term: here.Term, Held: here.Held}
	if why := r.refused.Load(); why != nil {
		return all, *why
	}
	if r.hub.outside == nil {
		return all, nil
	}
	of, err := r.hub.outside.explain(ctx, r.name, shard)
	if err != nil {
		return all, fmt.Errorf("sharding: the coordinator of the shards does not answer: %w", err)
	}
	all.State, all.Since, all.Node, all.Term = ShardState(of.State), of.Since, of.Node, of.Generation
	all.Why, all.Failures, all.LastError = of.Why, of.Failures, of.LastError
	all.Pinned, all.Strategy = of.Pinned, of.Strategy
	return all, nil
}

func (c *clustered) explain(ctx context.Context, typ string, shard int) (allot.Explanation, error) {
	return actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[allot.Explanation]) home.Input {
		return explainRequest{Type: typ, Shard: shard, ReplyTo: r}
	})
}

// homeless asks the coordinator which shards run nowhere, and why. The answer is sorted by type.
func (c *clustered) homeless(ctx context.Context) ([]allot.Homeless, error) {
	return actor.Ask(ctx, c.coordinator, func(r actor.ActorRef[[]allot.Homeless]) home.Input {
		return homelessRequest{ReplyTo: r}
	})
}
