package main

import (
	"context"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

var _ bench.EntityHost = contender{}

// ServeEntities implements [bench.EntityHost]. It waits until all shards run, so that their start
// is not measured.
func (u contender) ServeEntities(newSink func() (got func(payload []byte))) (address string, here bench.Entities) {
	n := member()
	sinks := entities(n, "sink", func(sharding.Entity) actor.Behavior[parcel] { return sink(newSink()) })
	adders := entities(n, "adder", addition)
	settle(sinks)
	settle(adders)
	return n.Address(), u.reach(sinks, adders)
}

// sink returns the behavior of an actor that passes its payloads on.
func sink(got func(payload []byte)) actor.Behavior[parcel] {
	return behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
		got(p.Data)
		return behaviors.Same
	})
}

func addition(sharding.Entity) actor.Behavior[question] { return adder }

// DialEntities implements [bench.EntityHost]. It waits as ServeEntities does. The factories of a
// node that hosts nothing are not called.
func (u contender) DialEntities(address string) bench.Entities {
	n := member(address)
	sinks := entities(n, "sink", func(sharding.Entity) actor.Behavior[parcel] { return nil }, sharding.ProxyOnly())
	adders := entities(n, "adder", addition, sharding.ProxyOnly())
	settle(sinks)
	settle(adders)
	return u.reach(sinks, adders)
}

func (u contender) reach(sinks *sharding.Region[parcel], adders *sharding.Region[question]) bench.Entities {
	return bench.Entities{
		Send: func(id string, payload []byte) { sinks.Ref(id).Tell(parcel{Data: payload}) },
		Ask:  func(id string, n int) int { return u.ask(adders.Ref(id), n) },
	}
}

// settle waits until the coordinator knows that each shard of a type runs.
func settle[M any](r *sharding.Region[M]) {
	running := map[int]bool{}
	for i := 0; len(running) < sharding.DefaultShards; i++ {
		id := strconv.Itoa(i)
		shard := r.Shard(id)
		for !running[shard] && !runs(r, id) {
			time.Sleep(10 * time.Millisecond)
		}
		running[shard] = true
	}
}

// runs reports whether the shard of an id runs.
func runs[M any](r *sharding.Region[M], id string) bool {
	e, err := r.Explain(context.Background(), id)
	if err != nil {
		panic(err)
	}
	return e.State == sharding.Running
}

// member starts a node, which joins those with the addresses. Without any it is the first one.
func member(seeds ...string) *cluster.Node {
	n, err := cluster.Start(context.Background(), cluster.Config{Name: "bench", Seeds: seeds})
	if err != nil {
		panic(err)
	}
	return n
}

func entities[M any](n *cluster.Node, name string, factory func(sharding.Entity) actor.Behavior[M], opts ...sharding.Option) *sharding.Region[M] {
	r, err := sharding.Start(n, name, factory, opts...)
	if err != nil {
		panic(err)
	}
	return r
}
