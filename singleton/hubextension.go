package singleton

import (
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/directory"
	"github.com/understudy-go/understudy/singleton/internal/wire"
)

type hubExtension struct {
	hub actor.ActorRef[hubMsg]

	mu        sync.Mutex // guards directory
	directory *directory.Directory
}

func (x *hubExtension) change(f func(d *directory.Directory) []wire.Any) []wire.Any {
	x.mu.Lock()
	defer x.mu.Unlock()
	return f(x.directory)
}

func (x *hubExtension) Follow(name string) singletonhook.Following { return following{x, name} }

type following struct {
	x    *hubExtension
	name string
}

func (f following) Takers() []remote.NodeID {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	return f.x.directory.Takers(f.name)
}

func (f following) Leaves(id remote.NodeID) bool {
	f.x.mu.Lock()
	defer f.x.mu.Unlock()
	return f.x.directory.Leaves(id)
}

func (f following) Listen(changed func()) (cancel func()) {
	f.x.hub.Tell(listening{name: f.name, changed: changed})
	return func() { f.x.hub.Tell(listening{name: f.name}) }
}

// read returns the result of f for the directory of s; the zero value without a cluster.
func read[T any](s *actor.System, f func(d *directory.Directory) T) (result T) {
	x, clustered := extension.Get[*hubExtension](s)
	if !clustered {
		return result
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return f(x.directory)
}

func init() {
	singletonhook.Attach = attach
	singletonhook.Drain = drainAll
	singletonhook.AllKnown = func(s *actor.System) []singletonhook.Known { return read(s, (*directory.Directory).All) }
	singletonhook.ManagersOf = func(s *actor.System, name string) []remote.NodeID {
		return read(s, func(d *directory.Directory) []remote.NodeID { return d.Managers(name) })
	}
}

func attach(s *actor.System, l singletonhook.Locator) {
	x := &hubExtension{directory: directory.New()}
	h := &hub{
		extension: x, post: post{system: s}, managers: map[string]actor.ActorRef[any]{}, listeners: map[string]func(){}, fresh: map[string]bool{},
		early: map[string][]wire.Message[wire.Request]{}, taken: map[string]uint64{},
	}
	x.hub = actor.Spawn(extension.Framework(s), func(ctx *actor.Context[hubMsg], next *actor.Next[hubMsg]) {
		h.ctx, h.log = ctx, ctx.Log()
		h.follow(l)
		next.OnMessage = h.receive
	}, hubName)
	extension.Set(s, x)
	registryOf(s) // its metrics are there before the first singleton
}
