package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/process"

	"go.uber.org/zap"
)

// costs are what entities cost beside plain actors.
type costs struct {
	local, remote comparison
	idle          int // bytes of heap of an idle entity
	plain         int // of a plain actor
}

// A comparison has the times of one operation on a plain actor and on an entity.
type comparison struct{ plain, entity time.Duration }

// times returns how many times as long the entity takes.
func (c comparison) times() float64 { return float64(c.entity) / float64(c.plain) }

// A parcel is the message of the comparisons.
type parcel struct{ Number int64 }

func init() { actor.RegisterType[parcel]("entities.parcel") }

// A scale counts what an actor has taken.
type scale struct {
	arrived, goal atomic.Int64
	there         chan struct{}
}

func newScale() *scale { return &scale{there: make(chan struct{}, 1)} }

func (s *scale) behavior() actor.Behavior[parcel] {
	return behaviors.Receive(func(*actor.Context[parcel], parcel) actor.Behavior[parcel] {
		if s.arrived.Add(1) == s.goal.Load() {
			s.there <- struct{}{}
		}
		return nil
	})
}

// tell tells n messages, and returns when all have been taken.
func (s *scale) tell(ref actor.ActorRef[parcel], n int) {
	s.goal.Store(s.arrived.Load() + int64(n))
	for i := range n {
		ref.Tell(parcel{int64(i)})
	}
	<-s.there
}

// turn is how many operations are timed before it is the turn of the other.
const turn = 2000

// compare times operations on both, in turns. The first of each waits until the entity has a home.
func compare(operations int, plain, entity func(n int)) (c comparison) {
	both := [2]func(int){plain, entity}
	plain(1)
	entity(1)
	var spent [2]time.Duration
	rounds := max(2, operations/turn)
	for round := range rounds {
		for i := range both {
			i = (i + round) % 2
			began := time.Now()
			both[i](turn)
			if round >= rounds/10 { // before, both get warm
				spent[i] += time.Since(began)
			}
		}
	}
	timed := time.Duration((rounds - rounds/10) * turn)
	return comparison{spent[0] / timed, spent[1] / timed}
}

func measureCosts(ctx context.Context, operations int) (c costs, err error) {
	if c.idle, c.plain, err = measureIdle(ctx); err != nil {
		return c, err
	}
	if c.local, err = compareLocal(ctx, operations); err != nil {
		return c, err
	}
	c.remote, err = compareRemote(ctx, operations/4)
	return c, err
}

func compareLocal(ctx context.Context, operations int) (c comparison, err error) {
	s := actor.NewSystem("entities", actor.WithLogger(zap.NewNop()))
	defer func() { _ = s.Shutdown(context.WithoutCancel(ctx)) }() // it has been measured
	plain, entity := newScale(), newScale()
	of, err := sharding.Start(s, "scale", func(sharding.Entity) actor.Behavior[parcel] { return entity.behavior() })
	if err != nil {
		return c, err
	}
	to, at := actor.Spawn(s, plain.behavior(), "plain"), of.Ref("1")
	return compare(operations, func(n int) { plain.tell(to, n) }, func(n int) { entity.tell(at, n) }), nil
}

// compareRemote compares tells from one node to another over loopback. Both are in this process.
func compareRemote(ctx context.Context, operations int) (c comparison, err error) {
	free, err := process.FreeAddresses(2)
	if err != nil {
		return c, err
	}
	plain, entity := newScale(), newScale()
	start := func(n int, opts ...sharding.Option) (*cluster.Node, *sharding.Region[parcel], error) {
		node, err := cluster.Start(ctx, cluster.Config{Name: "entities", NodeID: fmt.Sprint("n", n+1), Bind: free[n], Seeds: free[:1], Logger: zap.NewNop()})
		if err != nil {
			return nil, nil, err
		}
		r, err := sharding.Start(node, "scale", func(sharding.Entity) actor.Behavior[parcel] { return entity.behavior() }, opts...)
		return node, r, err
	}
	host, _, err := start(0)
	if err != nil {
		return c, err
	}
	defer func() { _ = host.Shutdown(context.WithoutCancel(ctx)) }() // it has been measured
	other, of, err := start(1, sharding.ProxyOnly())
	if err != nil {
		return c, err
	}
	defer func() { _ = other.Shutdown(context.WithoutCancel(ctx)) }()
	to, at := actor.Resolve[parcel](other.System, actor.Spawn(host, plain.behavior(), "plain").Path()), of.Ref("1")
	return compare(operations, func(n int) { plain.tell(to, n) }, func(n int) { entity.tell(at, n) }), nil
}

// measureIdle returns how many bytes of heap an idle entity and an idle actor take, both without
// state.
func measureIdle(ctx context.Context) (entity, plain int, err error) {
	const many = 100_000
	s := actor.NewSystem("entities", actor.WithLogger(zap.NewNop()))
	defer func() { _ = s.Shutdown(context.WithoutCancel(ctx)) }() // it has been measured
	var done sync.WaitGroup
	door := behaviors.Receive(func(*actor.Context[parcel], parcel) actor.Behavior[parcel] {
		done.Done()
		return nil
	})
	of, err := sharding.Start(s, "door", func(sharding.Entity) actor.Behavior[parcel] { return door }, sharding.PassivateAfter(0))
	if err != nil {
		return 0, 0, err
	}
	before := heap()
	done.Add(many)
	for n := range many {
		of.Ref("door-" + strconv.Itoa(n)).Tell(parcel{})
	}
	done.Wait()
	between := heap()
	done.Add(many)
	for n := range many {
		actor.Spawn(s, door, "door-"+strconv.Itoa(n)).Tell(parcel{})
	}
	done.Wait()
	after := heap()
	runtime.KeepAlive(of)
	return int(between-before) / many, int(after-between) / many, nil
}

// heap returns how many bytes of the heap are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
