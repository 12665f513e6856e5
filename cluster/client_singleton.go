package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/fifo"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton"
)

// relayBuffer is how many messages to a singleton a client keeps while no reachable member takes
// them.
const relayBuffer = 1000

// SingletonRef returns a ref of the singleton with this name: the path below "/user/" under which
// the nodes have spawned it.
//
// Messages to the ref are sent to one member that runs the singleton's manager, the host if
// possible. That member forwards them to the instance, wherever it is, and buffers them while the
// singleton moves. While no reachable member has a manager, the client keeps up to 1000 messages;
// beyond that the oldest become dead letters with [singleton.ErrBufferFull]. An [actor.Ask] that
// ends meanwhile returns an error that wraps [singleton.ErrUnavailable].
//
// Messages are in order as long as the same member takes them. Another one does only when that
// member leaves, dies or becomes unreachable. If it dies, messages that it has not forwarded are
// lost.
//
// M must be the message type of the singleton; messages of another type become dead letters on the
// node. All calls with one name return the same ref. SingletonRef panics if their types differ, or
// if name is not a valid path of an actor.
func SingletonRef[M any](c *Client, name string) actor.ActorRef[M] {
	if err := naming.CheckPath("/" + name); err != nil {
		panic(fmt.Sprintf("cluster: no singleton has the name %q, as what follows /user/: it %v", name, err))
	}
	c.relays.mu.Lock()
	defer c.relays.mu.Unlock()
	if known, ok := c.relays.refs[name]; ok {
		ref, same := known.(actor.ActorRef[M])
		if !same {
			panic(fmt.Sprintf("cluster: the client has a ref of singleton %q of type %T already", name, known))
		}
		return ref
	}
	ref := actor.Spawn(extension.Framework(c.System), newRelay[M](c, name), relayName(name))
	if c.relays.refs == nil {
		c.relays.refs = map[string]any{}
	}
	c.relays.refs[name] = ref
	c.askSoon()
	return ref
}

// relayName returns the name of the actor that relays for the singleton at path. It escapes path
// like a JSON pointer (RFC 6901), so the names of two paths differ.
func relayName(path string) string {
	return "singleton-" + strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
}

// relays holds the relays of one client.
type relays struct {
	mu   sync.Mutex     // guards refs
	refs map[string]any // ActorRef by name of the singleton

	stuck sync.Map // path of a relay that has no member → the name of its singleton
}

// singletons returns the sorted names of the singletons that have a relay.
func (r *relays) singletons() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.refs))
}

// silence returns why a relay does not answer asks, or nil; see [extension.OnAskTimeout].
func (r *relays) silence(path string) error {
	name, stuck := r.stuck.Load(path)
	if !stuck {
		return nil
	}
	return fmt.Errorf("%w: no member that can be reached has a manager of %v", singleton.ErrUnavailable, name)
}

// A relay forwards messages to a member that has a manager of the singleton.
type relay[M any] struct {
	client *Client
	ctx    *actor.Context[M]
	name   string
	path   string // of the relay
	at     ID     // the member whose manager receives them; zero if no member fits
	to     actor.ActorRef[M]
	held   fifo.Queue[extension.Held[M]]
}

func newRelay[M any](c *Client, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		r := &relay[M]{client: c, ctx: ctx, name: name}
		_, r.path, _ = strings.Cut(ctx.Self().Path(), c.Address())
		ctx.Defer(r.end)
		ctx.Defer(c.views.subscribe(c.System, extension.Handle(ctx, func(v View) actor.Behavior[M] {
			r.choose(v)
			return nil
		})))
		next.OnMessage = func(_ *actor.Context[M], msg M) actor.Behavior[M] {
			r.take(msg)
			return nil
		}
	}
}

func (r *relay[M]) take(msg M) {
	if r.at != (ID{}) {
		r.to.TellNoWait(msg)
		return
	}
	r.held.Push(extension.Hold(r.ctx.System(), msg))
	if r.held.Len() > relayBuffer {
		r.makeRoom()
	}
}

// makeRoom drops the requests of asks that have ended, or else the oldest message.
func (r *relay[M]) makeRoom() {
	ended := r.held.Remove(func(h extension.Held[M]) bool { return h.Withdrawn() })
	for _, h := range ended {
		r.drop(h.Message, actor.ErrWithdrawn)
	}
	if len(ended) == 0 {
		r.drop(r.held.Pop().Message, singleton.ErrBufferFull)
	}
}

// choose keeps the current member if it still takes messages. Otherwise it takes the first one in
// the order of election, which is often the host.
func (r *relay[M]) choose(v View) {
	fits := slices.DeleteFunc(slices.Clone(membership.Candidates(v)), func(m Member) bool { return !r.fits(v, m) })
	stays := slices.ContainsFunc(fits, func(m Member) bool { return m.ID() == r.at })
	switch {
	case stays:
		return
	case len(fits) == 0:
		r.at = ID{}
		r.client.relays.stuck.Store(r.path, r.name)
		return
	}
	r.at = fits[0].ID()
	r.client.relays.stuck.Delete(r.path)
	r.to = actor.Resolve[M](r.client.System, "understudy://"+r.client.Name()+"@"+r.at.Address+"/user/"+r.name)
	for _, h := range r.held.Drain() {
		if h.Pass() {
			r.to.TellNoWait(h.Message)
		} else {
			r.drop(h.Message, actor.ErrWithdrawn)
		}
	}
}

// fits reports whether a member takes messages for the singleton.
func (r *relay[M]) fits(v View, m Member) bool {
	return m.Status == Up && v.Reachable(m) && r.client.manages(m.ID(), r.name)
}

// end turns the buffered messages into dead letters.
func (r *relay[M]) end() {
	r.client.relays.stuck.Delete(r.path)
	for _, h := range r.held.Drain() {
		r.drop(h.Message, actor.ErrTerminated)
	}
}

func (r *relay[M]) drop(msg M, reason error) {
	extension.DeadLetter(r.ctx.System(), r.ctx.Self().Path(), msg, reason)
}
