// Command understudy runs the scenarios of peerbench on understudy.
package main

import (
	"context"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{"default": contender{}})
}

// contender runs the scenarios on this library.
type contender struct{}

// The messages that have names on the wire.
type (
	question struct {
		_       struct{} `cbor:",toarray"`
		N       int
		ReplyTo actor.ActorRef[int]
	}
	parcel struct {
		_    struct{} `cbor:",toarray"` // without the names of fields, as with protobuf
		Data []byte
	}
)

func init() {
	actor.RegisterType[question]("peerbench.question")
	actor.RegisterType[parcel]("peerbench.parcel")
}

func (contender) Tell(r *bench.Run, senders int) {
	s := actor.NewSystem("bench")
	done := make(chan struct{})
	ref := actor.Spawn(s, counting(r.N, func() { close(done) }), "sink")
	r.Start()
	r.Senders(senders, func(i int) { ref.Tell(bench.Small{A: i, B: i}) })
	<-done
	r.Stop()
}

// counting returns a behavior that calls done with the last of n messages. It is not
// generic, as behaviors.Same would be allocated for each message then.
func counting(n int, done func()) actor.Behavior[bench.Small] {
	return behaviors.Receive(func(*actor.Context[bench.Small], bench.Small) actor.Behavior[bench.Small] {
		if n--; n == 0 {
			done()
		}
		return behaviors.Same
	})
}

// A ball flies between two players.
type ball struct {
	left int // throws
	from actor.ActorRef[ball]
}

func (contender) PingPong(r *bench.Run, pairs int) {
	s := actor.NewSystem("bench")
	all := bench.NewTally(pairs)
	player := behaviors.Receive(func(ctx *actor.Context[ball], b ball) actor.Behavior[ball] {
		if b.left == 0 {
			all.Arrived()
			return behaviors.Same
		}
		b.from.Tell(ball{b.left - 1, ctx.Self()})
		return behaviors.Same
	})
	players := make([]actor.ActorRef[ball], 2*pairs)
	for i := range players {
		players[i] = actor.Spawn(s, player, "")
	}
	r.Start()
	for i, share := range bench.Split(r.N, pairs) {
		players[2*i].Tell(ball{max(share-1, 0), players[2*i+1]})
	}
	all.Wait()
	r.Stop()
}

func (contender) FanOut(r *bench.Run, actors int) {
	s := actor.NewSystem("bench")
	shares := bench.Split(r.N, actors)
	all := bench.NewTally(min(actors, r.N))
	refs := make([]actor.ActorRef[bench.Small], actors)
	for i := range refs {
		refs[i] = actor.Spawn(s, counting(shares[i], all.Arrived), "")
	}
	r.Start()
	for i := range r.N {
		refs[i%actors].Tell(bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (contender) Block(r *bench.Run) {
	s := actor.NewSystem("bench")
	all := bench.NewTally(r.N)
	refs := make([]actor.ActorRef[bench.Small], bench.BlockingActors)
	for i := range refs {
		refs[i] = actor.Spawn(s, behaviors.Receive(func(*actor.Context[bench.Small], bench.Small) actor.Behavior[bench.Small] {
			time.Sleep(bench.BlockingTime)
			all.Arrived()
			return behaviors.Same
		}), "")
	}
	r.Start()
	for i := range r.N {
		refs[i%len(refs)].Tell(bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (contender) Ask(r *bench.Run, askers int) {
	ref := actor.Spawn(actor.NewSystem("bench"), adder, "adder")
	ctx := context.Background()
	r.Start()
	r.Askers(askers, func(i int) int { return askUnderstudy(ctx, ref, i) })
	r.Stop()
}

// adder answers questions.
var adder = behaviors.Receive(func(_ *actor.Context[question], q question) actor.Behavior[question] {
	q.ReplyTo.Tell(q.N + 1)
	return behaviors.Same
})

func askUnderstudy(ctx context.Context, ref actor.ActorRef[question], i int) int {
	got, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[int]) question { return question{N: i, ReplyTo: replyTo} })
	if err != nil {
		panic(err)
	}
	return got
}

func (u contender) Spawn(r *bench.Run) {
	u.spawnAll(r)
	r.Stop()
}

func (u contender) Idle(r *bench.Run) {
	s, refs := u.spawnAll(r)
	r.StopLive()
	refs[0].Tell(bench.Small{})
	if err := s.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}

// spawnAll returns the system and the actors, so that they are not collected.
func (contender) spawnAll(r *bench.Run) (*actor.System, []actor.ActorRef[bench.Small]) {
	s := actor.NewSystem("bench")
	refs := make([]actor.ActorRef[bench.Small], r.N)
	all := bench.NewTally(r.N)
	b := behaviors.Setup(func(*actor.Context[bench.Small]) actor.Behavior[bench.Small] {
		all.Arrived()
		return behaviors.Ignore
	})
	r.Start()
	for i := range refs {
		refs[i] = actor.Spawn(s, b, "")
	}
	all.Wait()
	return s, refs
}

func (contender) SpawnAndStop(r *bench.Run) {
	s := actor.NewSystem("bench")
	started, ended := bench.NewTally(r.N), bench.NewTally(r.N)
	child := behaviors.Setup(func(*actor.Context[bench.Small]) actor.Behavior[bench.Small] {
		started.Arrived()
		return behaviors.Ignore
	}).OnSignal(func(_ *actor.Context[bench.Small], sig actor.Signal) actor.Behavior[bench.Small] {
		if _, over := sig.(actor.PostStop); over {
			ended.Arrived()
		}
		return behaviors.Same
	})
	children := make([]actor.ActorRef[bench.Small], 0, r.N)
	parent := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
		for range n {
			children = append(children, actor.Spawn(ctx, child, ""))
		}
		if n == 0 {
			for _, c := range children {
				ctx.Stop(c)
			}
		}
		return behaviors.Same
	}), "parent")
	r.Start()
	parent.Tell(r.N)
	started.Wait()
	parent.Tell(0)
	ended.Wait()
	r.Stop()
}

// A branch is one actor of skynet.
type branch struct {
	leaves, number int
	sum            int // what comes back; leaves is 0
	up             actor.ActorRef[branch]
}

func (contender) Skynet(r *bench.Run) {
	s := actor.NewSystem("bench")
	sum := make(chan int)
	root := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[branch], b branch) actor.Behavior[branch] {
		sum <- b.sum
		return behaviors.Same
	}), "root")
	r.Start()
	actor.Spawn(s, node(), "").Tell(branch{leaves: r.N, up: root})
	bench.CheckSkynet(r.N, <-sum)
	r.Stop()
}

// node returns the behavior of one actor of skynet.
func node() actor.Behavior[branch] {
	var up actor.ActorRef[branch]
	left, sum := 0, 0
	return behaviors.Receive(func(ctx *actor.Context[branch], b branch) actor.Behavior[branch] {
		switch {
		case b.leaves == 1:
			b.up.Tell(branch{sum: b.number})
			return behaviors.Stopped
		case b.leaves > 1:
			up, left = b.up, bench.SkynetBranches
			for i := range bench.SkynetBranches {
				size := b.leaves / bench.SkynetBranches
				actor.Spawn(ctx, node(), "").Tell(branch{leaves: size, number: b.number + i*size, up: ctx.Self()})
			}
			return behaviors.Same
		}
		sum += b.sum
		if left--; left > 0 {
			return behaviors.Same
		}
		up.Tell(branch{sum: sum})
		return behaviors.Stopped
	})
}

func (contender) Timers(r *bench.Run) {
	s := actor.NewSystem("bench")
	all := bench.NewTally(r.N)
	refs := make([]actor.ActorRef[int], bench.TimerActors)
	for i := range refs {
		refs[i] = actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[int], timers int) actor.Behavior[int] {
			if timers < 0 {
				all.Arrived()
				return behaviors.Same
			}
			for k := range timers {
				ctx.After(strconv.Itoa(k), bench.TimerDelay(k, timers), -1)
			}
			return behaviors.Same
		}), "")
	}
	r.Start()
	for i, share := range bench.Split(r.N, bench.TimerActors) {
		refs[i].Tell(share)
	}
	all.Wait()
	r.StopProcessor()
}

// nodes starts two connected systems.
func (contender) nodes() (from, to *actor.System) {
	var all [2]*actor.System
	for i := range all {
		e, err := remote.Listen(remote.Config{})
		if err != nil {
			panic(err)
		}
		all[i] = actor.NewSystem("bench", extension.WithTransport(e.Addr(), e))
		e.Serve(all[i])
	}
	return all[0], all[1]
}

func seenFrom[M any](s *actor.System, ref actor.ActorRef[M]) actor.ActorRef[M] {
	return actor.Resolve[M](s, ref.String())
}

func (u contender) RemoteTell(r *bench.Run) {
	from, to := u.nodes()
	w := bench.NewWindow(r.N)
	warm := make(chan struct{}, 1)
	sink := seenFrom(from, actor.Spawn(to, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
		if len(p.Data) == 0 {
			warm <- struct{}{}
			return behaviors.Same
		}
		w.Got()
		return behaviors.Same
	}), "sink"))
	sink.Tell(parcel{})
	<-warm
	payload := make([]byte, bench.PayloadSize)
	r.Start()
	w.Send(func() { sink.Tell(parcel{Data: payload}) })
	r.Stop()
}

func (u contender) RemoteAsk(r *bench.Run, askers int) {
	from, to := u.nodes()
	ref := seenFrom(from, actor.Spawn(to, adder, "adder"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	askUnderstudy(ctx, ref, 0)
	r.Start()
	r.Askers(askers, func(i int) int { return askUnderstudy(ctx, ref, i) })
	r.Stop()
}
