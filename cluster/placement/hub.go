package placement

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/hubs"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/remote"
)

// A hub brings the messages of one node to placed actors, wherever those run: it has a lane for
// each label. Its actor is registered at the receptionist for each label whose actor is here, so
// that other nodes know.
type hub struct {
	system *actor.System
	scheme string     // what comes before the paths of refs
	post   *hubs.Post // nil without a cluster
	ref    actor.ActorRef[any]
	refs   func(name string) actor.ActorRef[any]

	mu    sync.Mutex // guards all below
	lanes map[string]*lane
	takes peers.Failover // how long a failover takes
	ended bool
}

const (
	hubName = "placement-refs"
	tree    = "/" + shardtree.Placed + "/" // what the paths of refs begin with
)

// hubOf returns the hub of a system. The first call starts it.
func hubOf(s *actor.System) *hub {
	return extension.Ensure(s, func() *hub {
		if why := peers.Outside(s); why != nil {
			panic(fmt.Sprintf("placement: refs of placed actors belong to nodes: %v; ask an actor on a node", why))
		}
		h := &hub{system: s, scheme: "understudy://" + s.Name(), lanes: map[string]*lane{}}
		h.refs = extension.NewRoutedRefs[any](s, tree, h)
		h.takes, _ = extension.Get[peers.Failover](s)
		n, clustered := extension.Get[*cluster.Node](s)
		if clustered {
			h.post = hubs.NewPost(n, hubName, hubs.On{Viewed: func(cluster.View) { h.reroute() }, Tick: h.tick})
		}
		h.ref = actor.Spawn(extension.Framework(s), func(_ *actor.Context[any], next *actor.Next[any]) { next.OnMessage = h.receive }, hubName)
		if clustered {
			h.post.Start(h.ref)
		}
		extension.AfterEnd(s, h.ref, h.close)
		extension.AddTree(s, shardtree.Placed, h.find)
		extension.OnAskTimeout(s, h.unavailable)
		return h
	})
}

// setMargin says how long the actors of a removed node are not started elsewhere, see
// [Config.RemovalMargin].
func (h *hub) setMargin(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d != 0 && h.takes.Fenced > 0 {
		h.takes.Unfenced = h.takes.Fenced + max(d, 0)
	}
}

// outage says since when something is unavailable, and until when.
func (h *hub) outage(since time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.takes.Since(since, false)
}

// A newLane asks for the listings of a lane.
type newLane struct {
	extension.Quiet // it is no message of the user
	*lane
}

func (h *hub) receive(ctx *actor.Context[any], msg any) actor.Behavior[any] {
	switch msg := msg.(type) {
	case newLane:
		receptionist.Subscribe(h.system, msg.key(), extension.Handle(ctx, func(l receptionist.Listing[any]) actor.Behavior[any] {
			msg.listed(l.Instances)
			return nil
		}))
	case hubs.Message:
		h.heard(msg, extension.MetadataOf(ctx))
	default:
		h.post.Receive(ctx, msg)
	}
	return nil
}

// heard takes a message of the hub of another node.
func (h *hub) heard(msg hubs.Message, m extension.Metadata) {
	switch {
	case msg.Return != nil:
		name, below := strings.CutPrefix(msg.Return.Path, tree)
		content, err := extension.Unpack(h.system, msg.Return.Payload)
		if err != nil || !below {
			extension.DeadLetter(h.system, h.scheme+msg.Return.Path, msg.Return.Payload, err)
			return
		}
		h.lane(name).returned(msg.From, letter{Described: extension.Described[any]{Message: content, Metadata: m}})
	case msg.Recall != nil: // the letters before it have been read
		h.lane(msg.Recall.Of).asked(msg.From, msg.Recall.Number)
	case msg.Passed != nil:
		h.lane(msg.Passed.Of).passed(msg.Passed.Number)
	}
}

// lane returns the lane of an escaped label.
func (h *hub) lane(name string) *lane {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.lanes[name]
	if l == nil {
		l = newLaneOf(h, name)
		h.lanes[name] = l
		if h.ended {
			l.closed = ErrUnavailable
		}
		h.ref.Tell(newLane{lane: l})
	}
	return l
}

// all returns the lanes. None is locked while mu is held, because a lane may look for another one.
func (h *hub) all() []*lane {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*lane, 0, len(h.lanes))
	for _, l := range h.lanes {
		all = append(all, l)
	}
	return all
}

func (h *hub) reroute() {
	for _, l := range h.all() {
		l.reroute()
	}
}

func (h *hub) tick(peers hubs.Peers) (more bool) {
	for _, l := range h.all() {
		more = l.tick(peers) || more
	}
	return more
}

func (h *hub) close() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	for _, l := range h.all() {
		l.close()
	}
}

// find returns the ref with a path below the tree.
func (h *hub) find(name string) (ref actor.AnyRef, why error) {
	if name == "" || strings.IndexFunc(name, func(c rune) bool { return !plain(c) && c != ':' && c != '~' }) >= 0 {
		return nil, nil
	}
	return h.lane(name).ref, nil
}

// Told implements extension.Router.
func (h *hub) Told(full string, msg any, m extension.Metadata) (nowhere actor.AnyRef) {
	h.enter(full[len(h.scheme):], letter{Described: extension.Described[any]{Message: msg, Metadata: m}})
	return nil
}

// Arrived implements extension.Router.
func (h *hub) Arrived(path string, from uint64, msg any, encoded extension.Arrival) (nowhere actor.AnyRef) {
	h.enter(path, letter{extension.Described[any]{Message: msg, Metadata: encoded.Metadata}, from})
	return nil
}

func (h *hub) enter(path string, of letter) { h.lane(path[len(tree):]).enter(of) }

// unavailable explains why an ask of a placed actor got no reply, see [extension.OnAskTimeout].
func (h *hub) unavailable(path string) error {
	name, below := strings.CutPrefix(path, tree)
	if !below {
		return nil
	}
	l := h.lane(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unavailable()
}

// member reports whether a node is a member.
func (h *hub) member(id remote.NodeID) bool {
	_, member := h.post.Member(id.Incarnation)
	return member
}
