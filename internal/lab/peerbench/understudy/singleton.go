package main

import (
	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

var _ bench.SingletonHost = contender{}

// ServeSingleton implements [bench.SingletonHost].
func (contender) ServeSingleton(got func(payload []byte)) (address string) {
	n := member()
	singletons(n, got)
	return n.Address()
}

// DialSingleton implements [bench.SingletonHost]. The older node hosts both singletons, so nothing
// arrives at this one.
func (u contender) DialSingleton(address string) bench.Connection {
	return u.connection(singletons(member(address), nil))
}

func singletons(n *cluster.Node, got func(payload []byte)) (actor.ActorRef[question], actor.ActorRef[parcel]) {
	alone := func() actor.Behavior[parcel] { return sink(got) }
	return actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[question] { return adder }), "adder"),
		actor.Spawn(n, behaviors.Singleton(alone), "sink")
}
