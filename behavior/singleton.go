package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton"
)

// Singleton returns a behavior of which one instance runs in the whole cluster, made by factory.
// Spawn it on every node under the same name; the refs of all nodes lead to the instance. See
// package singleton.
func Singleton[M any](factory func() actor.Behavior[M], opts ...singleton.Option) actor.Behavior[M] {
	return singleton.New(factory, opts...)
}
