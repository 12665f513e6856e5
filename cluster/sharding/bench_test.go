//go:build !quick

package sharding_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	realcluster "github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
)

// A knock is counted, or answered.
type knock struct {
	Data    []byte
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[knock]("sharding_test.knock") }

// A porch counts the knocks at its doors, which are plain actors or entities.
type porch struct {
	door    func(i int) actor.ActorRef[knock]
	arrived atomic.Int64
	goal    atomic.Int64
	there   chan struct{}
}

func newPorch() *porch { return &porch{there: make(chan struct{}, 1)} }

func (p *porch) behavior() actor.Behavior[knock] {
	return behaviors.Receive(func(_ *actor.Context[knock], k knock) actor.Behavior[knock] {
		if k.ReplyTo != (actor.ActorRef[int]{}) {
			k.ReplyTo.Tell(len(k.Data))
		} else if p.arrived.Add(1) == p.goal.Load() {
			p.there <- struct{}{}
		}
		return behaviors.Same
	})
}

func (p *porch) entity(sharding.Entity) actor.Behavior[knock] { return p.behavior() }

// tell tells n knocks to the doors in turn, and returns when all have been counted.
func (p *porch) tell(n int) {
	p.goal.Store(p.arrived.Load() + int64(n))
	for i := range n {
		p.door(i).Tell(knock{Data: parcel[:]})
	}
	<-p.there
}

var parcel [100]byte

// ask asks n times, one after the other.
func (p *porch) ask(b *testing.B) func(n int) {
	return func(n int) {
		for i := range n {
			if _, err := actor.AskTimeout(b.Context(), p.door(i), time.Minute, func(replyTo actor.ActorRef[int]) knock { return knock{ReplyTo: replyTo} }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// plainly opens doors that are plain actors below s, as seer sees them.
func (p *porch) plainly(s, seer *actor.System, doors int) {
	refs := make([]actor.ActorRef[knock], doors)
	for i := range refs {
		refs[i] = actor.Resolve[knock](seer, actor.Spawn(s, p.behavior(), "").Path())
	}
	p.door = func(i int) actor.ActorRef[knock] { return refs[i%doors] }
}

// byID opens doors that are entities.
func (p *porch) byID(r *sharding.Region[knock], doors int) {
	ids := make([]string, doors)
	for i := range ids {
		ids[i] = fmt.Sprint("door-", i)
	}
	p.door = func(i int) actor.ActorRef[knock] { return r.Ref(ids[i%doors]) }
}

// round is how many operations are timed before it is the turn of the other doors.
const round = 2000

// compare times b.N operations at plain actors and as many at entities, in turns, so that both have
// the same machine, and reports both and their ratio.
func compare(b *testing.B, plain, entities func(n int)) {
	b.Helper()
	both := [2]func(int){plain, entities}
	for _, warmUp := range both {
		warmUp(round)
	}
	var spent [2]time.Duration
	b.ResetTimer()
	for done, first := 0, 0; done < b.N; first++ {
		n := min(round, b.N-done)
		for i := range both {
			i = (i + first) % 2
			began := time.Now()
			both[i](n)
			spent[i] += time.Since(began)
		}
		done += n
	}
	b.StopTimer()
	b.ReportMetric(0, "ns/op") // it would be the sum of both
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(b.N), "plain-ns/op")
	b.ReportMetric(float64(spent[1].Nanoseconds())/float64(b.N), "entity-ns/op")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
}

// locally opens plain doors and entities in one system.
func locally(b *testing.B, plainDoors, entityDoors int) (plain, entities *porch) {
	b.Helper()
	s := actor.NewSystem("bench")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	plain, entities = newPorch(), newPorch()
	r, err := sharding.Start(s, "door", entities.entity)
	require.NoError(b, err)
	plain.plainly(s, s, plainDoors)
	entities.byID(r, entityDoors)
	entities.ask(b)(entityDoors) // until all are awake
	return plain, entities
}

func BenchmarkLocalTell(b *testing.B) {
	for _, doors := range []int{1, 1000} {
		b.Run(fmt.Sprint(doors), func(b *testing.B) {
			plain, entities := locally(b, doors, doors)
			compare(b, plain.tell, entities.tell)
		})
	}
}

func BenchmarkLocalAsk(b *testing.B) {
	plain, entities := locally(b, 1, 1)
	compare(b, plain.ask(b), entities.ask(b))
}

// remotely opens both on the first of two nodes that talk over loopback, as the second one, which
// has no entities, sees them.
func remotely(b *testing.B, plainDoors, entityDoors int) (plain, entities *porch) {
	b.Helper()
	host := startNode(b, "")
	plain, entities = newPorch(), newPorch()
	_, err := sharding.Start(host, "door", entities.entity)
	require.NoError(b, err)
	other := startNode(b, host.Address())
	r, err := sharding.Start(other, "door", entities.entity, sharding.ProxyOnly())
	require.NoError(b, err)
	plain.plainly(host.System, other.System, plainDoors)
	entities.byID(r, entityDoors)
	entities.ask(b)(entityDoors) // until all are awake
	return plain, entities
}

func startNode(b *testing.B, seed string) *realcluster.Node {
	b.Helper()
	cfg := realcluster.Config{Name: "bench", Bind: "127.0.0.1:0"}
	if seed != "" {
		cfg.Seeds = []string{seed}
	}
	n, err := realcluster.Start(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, n.Shutdown(context.Background())) })
	return n
}

func BenchmarkRemoteTell(b *testing.B) {
	for _, doors := range []int{1, 1000} {
		b.Run(fmt.Sprintf("%d_actors_and_1000_entities", doors), func(b *testing.B) {
			plain, entities := remotely(b, doors, 1000)
			compare(b, plain.tell, entities.tell)
		})
	}
}

func BenchmarkRemoteAsk(b *testing.B) {
	plain, entities := remotely(b, 1, 1000)
	compare(b, plain.ask(b), entities.ask(b))
}

// BenchmarkIdle, run once, reports how many bytes an idle entity has, beside its state.
func BenchmarkIdle(b *testing.B) {
	s := actor.NewSystem("bench")
	b.Cleanup(func() { require.NoError(b, s.Shutdown(context.Background())) })
	doors := newPorch()
	r, err := sharding.Start(s, "door", doors.entity, sharding.PassivateAfter(0))
	require.NoError(b, err)
	const entities = 100_000
	doors.goal.Store(entities)
	before := heap()
	for n := range entities {
		r.Ref(fmt.Sprint("door-", n)).Tell(knock{})
	}
	<-doors.there
	b.ReportMetric(float64(heap()-before)/entities, "bytes/entity")
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
