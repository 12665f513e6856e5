package sharding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/remote"
)

// A hub connects the regions of one node with the other nodes. Its actor, at /system/sharding, is
// the parent of the actors of shards.
type hub struct {
	system  *actor.System
	context context.Context // of the actors of shards
	ref     actor.ActorRef[any]
	outside outside    // nil without a cluster
	post    *hubs.Post // likewise
	moves   moveCounter

	mu      sync.Mutex // guards all below
	regions map[string]*region
	ended   bool
}

// outside is the cluster, as a hub sees it. Any goroutine may call its methods.
type outside interface {
	homeOf(typ string, shard int) (remote.NodeID, bool)
	tableHome(typ string, shard int) (home remote.NodeID, generation uint64)
	shardsOf(typ string) int
	homesOf(typ string) []homeStatus
	explain(ctx context.Context, typ string, shard int) (allot.Explanation, error)
	control(ctx context.Context, q controlRequest) error
	homeless(ctx context.Context) ([]allot.Homeless, error)
	pins(ctx context.Context, typ string) (map[int]string, error)
	receive(ctx *actor.Context[any], msg any)
}

// hubName is the name of the actor of a hub.
const hubName = "sharding"

// hubOf returns the hub of a system without a cluster.
func hubOf(s *actor.System) *hub {
	return extension.Ensure(s, func() *hub { return newHub(s, nil, nil) })
}

func newHub(s *actor.System, out outside, post *hubs.Post) *hub {
	h := &hub{system: s, context: context.Background(), outside: out, post: post, regions: map[string]*region{}}
	h.ref = actor.Spawn(extension.Framework(s), h.behavior(), hubName)
	extension.AfterEnd(s, h.ref, h.close) // at once if the system has ended
	extension.AddTree(s, shardtree.Name, h.find)
	extension.OnAskTimeout(s, h.unavailable)
	status.AddSection(s, h.section())
	telemetry.AddSource(s, h.families)
	return h
}

// A lateLetter has a message that was told an entity that had ended.
type lateLetter struct {
	deliver   func()
	recipient string
	msg       any
}

// Carried is for [extension.DeadLetter]: without a hub, the message is lost.
func (l lateLetter) Carried(*actor.System) (recipient string, msg any, ok bool) {
	return l.recipient, l.msg, true
}

// A laterMsg lets the actor of a hub do something.
type laterMsg struct {
	quiet
	do func()
}

func (h *hub) behavior() actor.Behavior[any] {
	return func(_ *actor.Context[any], next *actor.Next[any]) {
		here, starts := newAlone(), &starts{system: h.system}
		next.OnSignal = func(ctx *actor.Context[any], sig actor.Signal) actor.Behavior[any] {
			if t, ok := sig.(actor.Terminated); ok {
				here.ended(ctx, t.Ref)
			}
			return nil
		}
		next.OnMessage = func(ctx *actor.Context[any], msg any) actor.Behavior[any] {
			switch msg := msg.(type) {
			case laterMsg:
				msg.do()
			case lateLetter:
				msg.deliver()
			case startsOf:
				starts.add(ctx, msg)
			case startsDue:
				starts.tick(ctx)
			case startAll:
				here.startAll(ctx, msg.region, msg.region.signature().Shards)
			case rescaleAll:
				here.rescale(ctx, msg)
			case stopHere:
				here.stop(msg)
			default:
				if h.outside != nil {
					h.outside.receive(ctx, msg)
				}
			}
			return nil
		}
	}
}

func (h *hub) later(f func()) { h.ref.Tell(laterMsg{do: f}) }

// add adds a region. It returns the one that is there, if there is one, and [ErrStopped] when the
// node has stopped.
func (h *hub) add(r *region) (before *region, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	name := r.signature().Name
	if before := h.regions[name]; before != nil {
		return before, nil
	}
	if h.ended {
		return nil, fmt.Errorf("type %q cannot be started: %w", name, ErrStopped)
	}
	h.regions[name] = r
	return nil, nil
}

func (h *hub) region(name string) *region {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.regions[name]
}

// each calls f for each region.
func (h *hub) each(f func(*region)) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.regions))
	h.mu.Unlock()
	for _, r := range all {
		f(r)
	}
}

// reroute lets the regions follow a change; only the one of that name, unless it is "".
func (h *hub) reroute(name string) {
	h.each(func(r *region) {
		if name == "" || name == r.signature().Name {
			r.reroute()
		}
	})
}

func (h *hub) tick(peers hubs.Peers) (more bool) {
	h.each(func(r *region) { more = r.tick(peers) || more })
	return more
}

// find returns the ref with a path below the tree, or nil, and why if the type is not here.
func (h *hub) find(path string) (ref actor.AnyRef, why error) {
	typ, name, ok := cutType(path)
	if !ok {
		return nil, nil
	}
	if r := h.region(typ); r != nil {
		return r.find(name), nil
	}
	return nil, shardtree.NotOnNode(typ)
}

// regionAt returns the region with a path of this system, and what follows the type in the path.
func (h *hub) regionAt(path string) (r *region, name string) {
	rest, below := strings.CutPrefix(path, "/"+shardtree.Name+"/")
	typ, name, ok := cutType(rest)
	if !below || !ok {
		return nil, ""
	}
	return h.region(typ), name
}

// cutType splits a path below the tree.
func cutType(path string) (typ, name string, ok bool) {
	typ, name, _ = strings.Cut(path, "/")
	typ, ok = unescape(typ)
	return typ, name, ok && name != ""
}

func (h *hub) close() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.each((*region).close)
}

// The methods below do nothing without a cluster, where each shard is here.

func (h *hub) homeOf(typ string, shard int) (remote.NodeID, bool) {
	if h.outside == nil {
		return remote.NodeID{}, false
	}
	return h.outside.homeOf(typ, shard)
}

// shardsOf returns how many shards a type has by the table; 0 while the table does not have it.
func (h *hub) shardsOf(typ string) int {
	if h.outside == nil {
		return 0
	}
	return h.outside.shardsOf(typ)
}

// shardName returns the number of a shard as part of a name.
func shardName(shard int) string { return strconv.Itoa(shard) }

// differences says how the type as it is here differs from the cluster's.
func differences(here, there table.Type) string {
	return unequal("%s %v here and %v in the cluster", []compared{
		{"shards", here.Shards, there.Shards}, {"message type", here.Message, there.Message}, {"role", here.Role, there.Role}, {"mode", here.Mode, there.Mode},
	})
}
