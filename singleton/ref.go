package singleton

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/singletons"
)

// Ref returns a ref of the singleton with this name: the path below "/user/" under which nodes have
// spawned it. s is the system of a node of the cluster, or of a client. On a node that has spawned
// the singleton, Ref returns the ref that Spawn returned.
//
// Otherwise messages to the ref are sent to one member that has spawned it, the host if possible.
// That member forwards them to the instance, wherever it is, and buffers them while the singleton
// moves. While no reachable member has spawned it, s keeps up to 1000 messages; beyond that the
// oldest become dead letters with [ErrBufferFull]. An [actor.Ask] that ends meanwhile returns an
// error that wraps [ErrUnavailable].
//
// All messages go to the same member, in order, until that member leaves, dies, becomes
// unreachable or stops its singleton. Later messages go to another member, and may be handled
// before earlier ones. If a member dies, messages that it has not forwarded are lost. If it was
// started again and has not spawned the singleton yet, the request of an ask with a deadline goes
// to another member, or waits. When s is shut down, messages that wait there become dead letters.
// A node that sends much, or must not lose messages when it leaves, spawns the singleton; with
// [Role] it need not host it.
//
// M must be the message type of the singleton; messages of another type become dead letters on the
// member that takes them. All calls with one name return the same ref, until s spawns the
// singleton. Ref panics if their types differ, or if name is not a valid path of an actor. Without
// a cluster, messages become dead letters until s has spawned the singleton.
func Ref[M any](s *actor.System, name string) actor.ActorRef[M] {
	if s == nil {
		panic("singleton: Ref got nil instead of a system")
	}
	if err := naming.CheckPath("/" + name); err != nil {
		panic(fmt.Sprintf("singleton: no singleton has the name %q, as what follows /user/: it %v", name, err))
	}
	here := actor.Resolve[M](s, pathOn(s, s.Address(), name))
	if m, spawned := extension.MarkOf(here).(identity); spawned {
		if m.message != reflect.TypeFor[M]() {
			panic(fmt.Sprintf("singleton: %q takes %v on this node, and not %v", name, m.message, reflect.TypeFor[M]()))
		}
		return here
	}
	takers, outside := extension.Get[singletons.Takers](s)
	if link := singletons.LinkOf(s); link != nil {
		takers = link
	} else if !outside {
		return here
	}
	return proxyOf[M](s, takers, name)
}

func pathOn(s *actor.System, address, name string) string {
	if address != "" {
		address = "@" + address
	}
	return "understudy://" + s.Name() + address + userPath + name
}

// proxyOf returns the proxy of s for the singleton. The first call spawns it.
func proxyOf[M any](s *actor.System, x singletons.Takers, name string) actor.ActorRef[M] {
	all := &registryOf(s).proxies
	all.mu.Lock()
	defer all.mu.Unlock()
	if known, ok := all.refs[name]; ok {
		ref, same := known.(actor.ActorRef[M])
		if !same {
			panic(fmt.Sprintf("singleton: there is a ref of %q of type %T already", name, known))
		}
		return ref
	}
	ref := actor.Spawn(extension.Framework(s), newProxy[M](x, name), proxyName(name))
	if all.refs == nil {
		all.refs = map[string]any{}
	}
	all.refs[name] = ref
	return ref
}

// proxyName returns the name of the actor that is the proxy for the singleton at path. It escapes
// path like a JSON pointer (RFC 6901), so the names of two paths differ.
func proxyName(path string) string {
	return "singleton-" + strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
}

type proxies struct {
	mu   sync.Mutex     // guards refs
	refs map[string]any // ActorRef by name of the singleton

	stuck sync.Map // path of a proxy that has no member → the name of its singleton
}

// unavailable returns why a proxy does not answer asks, or nil; see [extension.OnAskTimeout].
func (p *proxies) unavailable(path string) error {
	name, stuck := p.stuck.Load(path)
	if !stuck {
		return nil
	}
	return fmt.Errorf("%w: no member that can be reached has a manager of %v", ErrUnavailable, name)
}
