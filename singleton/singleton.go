package singleton

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/actor"
)

// New returns the behavior of a singleton's manager. Spawn it on every node under the
// same name: of the actors that factory makes, one runs in the whole cluster, and the
// refs of all managers lead to it. The name, and with it the singleton, is the path below
// "/user/".
//
// factory is called inside the new instance; its panic is a failure of the instance. New
// itself panics on options that make no sense, and when factory is nil. Beyond [MaxPerNode] managers of a node one
// more fails with [ErrTooMany].
func New[M any](factory func() actor.Behavior[M], opts ...Option) actor.Behavior[M] {
	if factory == nil {
		panic("singleton: nil factory; give it a function that returns the behavior of an instance")
	}
	set := newSettings(opts)
	if set.stopMessage != nil {
		if _, ok := set.stopMessage.(M); !ok {
			panic(fmt.Sprintf("singleton: stop message %T is not a message of the singleton, which takes %v", set.stopMessage, reflect.TypeFor[M]()))
		}
	}
	set.signature = signatureOf(set.traits(reflect.TypeFor[M]()))
	manage := func(ctx *actor.Context[M], next *actor.Next[M]) {
		if !boardOf(ctx.System()).admit(nameOf(ctx.Self().Path())) {
			next.Fail(ErrTooMany)
			return
		}
		m := newManager(ctx, factory, set)
		next.OnMessage = m.onMessage
		next.OnSignal = func(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
			m.onSignal(sig)
			return nil
		}
	}
	return func(_ *actor.Context[M], next *actor.Next[M]) {
		next.Supervise(manage, actor.Strategy{Decide: outliveInstance})
	}
}

// outliveInstance keeps the manager when its instance escalates a failure: that is one
// more way to end.
func outliveInstance(err error) actor.Directive {
	if errors.Is(err, actor.ErrEscalated) {
		return actor.Resume
	}
	return actor.Stop
}

// userPath is what the paths of managers begin with, within a system.
const userPath = "/user/"

// nameOf returns the name of the singleton whose manager lives at path.
func nameOf(path string) string {
	if _, name, ok := strings.Cut(path, userPath); ok {
		return name
	}
	return path
}
