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

// relayBuffer is how many messages to a singleton a client keeps while it knows of no member
// that takes them.
const relayBuffer = 1000

// SingletonRef returns the ref of a singleton of the cluster, by its name: the path below
// "/user/" under which the nodes have spawned it. What is told to it goes to one member
// that has a manager of the singleton, and from there to the instance, wherever that is; the
// member keeps it while the singleton moves, as it keeps what is told there. While no member
// that can be reached has a manager, the client keeps up to 1000 messages, and the oldest
// give way, as dead letters with [singleton.ErrBufferFull]. An [actor.Ask] that ends
// meanwhile wraps [singleton.ErrUnavailable].
//
// Messages are in order as long as the same member takes them. That changes only when it
// leaves, dies, or cannot be reached; what it has taken and not passed on when it dies is
// lost. M has to be the type that the singleton takes: others are dead letters on the node.
// Asking twice for a name yields the same ref; it panics when the types differ, and when no
// actor can have the name.
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

// relayName returns the name of an actor for the path of a singleton, another one for each: it
// is escaped as in a JSON pointer (RFC 6901).
func relayName(path string) string {
	return "singleton-" + strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
}

// relays are the relays of a client.
type relays struct {
	mu   sync.Mutex     // guards refs
	refs map[string]any // ActorRef by name of the singleton

	stuck sync.Map // path of a relay that has no member → the name of its singleton
}

// singletons returns the names of those that there are refs of, sorted.
func (r *relays) singletons() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.refs))
}

// silence explains that of singletons to a client, see [actor.System.ExplainSilence].
func (r *relays) silence(path string) error {
	name, stuck := r.stuck.Load(path)
	if !stuck {
		return nil
	}
	return fmt.Errorf("%w: no member that can be reached has a manager of %v", singleton.ErrUnavailable, name)
}

// A relay passes messages on to a manager of a singleton.
type relay[M any] struct {
	client *Client
	ctx    *actor.Context[M]
	name   string
	path   string // of the relay
	at     ID     // the member whose manager gets them; zero for none
	to     actor.ActorRef[M]
	held   fifo.Queue[extension.Held[M]]
}

func newRelay[M any](c *Client, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		r := &relay[M]{client: c, ctx: ctx, name: name}
		_, r.path, _ = strings.Cut(ctx.Self().Path(), c.Address())
		ctx.Defer(r.end)
		subscribe(ctx, c.views, func(v View) actor.Behavior[M] {
			r.choose(v)
			return nil
		})
		next.OnMessage = func(_ *actor.Context[M], msg M) actor.Behavior[M] {
			r.take(msg)
			return nil
		}
	}
}

func (r *relay[M]) take(msg M) {
	if r.at != (ID{}) {
		r.to.Tell(msg)
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

// choose stays with the member that it has, if that will do, and else takes the first by
// the order of election: the host is among the first.
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
			r.to.Tell(h.Message)
		} else {
			r.drop(h.Message, actor.ErrWithdrawn)
		}
	}
}

// fits reports whether a member takes messages for the singleton.
func (r *relay[M]) fits(v View, m Member) bool {
	return m.Status == Up && v.Reachable(m) && r.client.manages(m.ID(), r.name)
}

// end makes dead letters of what waits.
func (r *relay[M]) end() {
	r.client.relays.stuck.Delete(r.path)
	for _, h := range r.held.Drain() {
		r.drop(h.Message, actor.ErrTerminated)
	}
}

func (r *relay[M]) drop(msg M, reason error) {
	extension.DeadLetter(r.ctx.System(), r.ctx.Self().Path(), msg, reason)
}
