package singleton

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/inspect"
)

// New returns the behavior of a singleton's manager. Spawn it under the same name on every node.
// One actor made by factory runs in the whole cluster, and the refs of all managers lead to it. The
// name of the singleton is its path below "/user/".
//
// A node may spawn it again under the same name and with the same options, and gets the ref of the
// manager that it has. factory is then not used. With another message type or other options Spawn
// panics with an [ErrMismatch] that names the differences. It compares the role, the anchor with
// the name of its node or function, all numbers and durations, the type of the stop message, the
// name and owner of the lease, and whether there is a source of generations. It ignores the value
// of the stop message, the function of [OnElected], the settings and the store of the lease, which
// source of generations it is, and options of Spawn such as a mailbox. [Ref] needs no factory.
//
// The actor that spawns it counts: the name of a singleton that an actor spawns by its own Context
// begins with the path of that actor. So inside an actor use ctx.System() as the parent.
//
// factory is called inside the new instance, and a panic in it is a failure of the instance. New
// panics if factory is nil or options contradict each other. A manager fails if a number among its
// options makes no sense, see [Check], and with [ErrTooMany] if its node already has [MaxPerNode].
func New[M any](factory func() actor.Behavior[M], opts ...Option) actor.Behavior[M] {
	if factory == nil {
		panic("singleton: nil factory; give it a function that returns the behavior of an instance")
	}
	set, takes := newSettings(opts), reflect.TypeFor[M]()
	if set.stopMessage != nil {
		if _, ok := set.stopMessage.(M); !ok {
			panic(fmt.Sprintf("singleton: stop message %T is not a message of the singleton, which takes %v", set.stopMessage, takes))
		}
	}
	first := func(ctx *actor.Context[M], next *actor.Next[M]) {
		if look := inspect.Of(ctx, ctx.Self().Path()); look != nil { // at what an instance has stored
			look.Compares(set.comparedByName(takes))
			factory()(ctx, next)
		} else if on, err := set.on(ctx.System(), nameOf(ctx.Self().Path()), takes); err != nil {
			next.Fail(err)
		} else {
			manage(ctx, next, factory, on)
		}
	}
	return extension.Marked(func(_ *actor.Context[M], next *actor.Next[M]) {
		next.Supervise(first, actor.Strategy{Decide: outliveInstance})
	}, identity{takes, &set})
}

// outliveInstance keeps the manager running when its instance escalates a failure: the instance has
// then ended, as after any other failure.
func outliveInstance(err error) actor.Directive {
	if errors.Is(err, actor.ErrEscalated) {
		return actor.Resume
	}
	return actor.Stop
}

const userPath = "/user/"

func nameOf(path string) string {
	if _, name, ok := strings.Cut(path, userPath); ok {
		return name
	}
	return path
}
