// Command protoactor runs the scenarios of peerbench on protoactor-go.
package main

import (
	"io"
	"log/slog" //nolint:depguard // protoactor-go is given its logger
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/asynkron/protoactor-go/scheduler"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{"default": contender{}, "lock-free": contender{lockFree: true}})
}

// contender is github.com/asynkron/protoactor-go.
type contender struct{ lockFree bool } // the mailbox

func (contender) system() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))
}

func (p contender) props(f func(c actor.Context)) *actor.Props {
	if p.lockFree {
		return actor.PropsFromFunc(f, actor.WithMailbox(actor.UnboundedLockfree()))
	}
	return actor.PropsFromFunc(f)
}

func (p contender) Tell(r *bench.Run, senders int) {
	s := p.system()
	done := make(chan struct{})
	pid := s.Root.Spawn(p.props(protoactorCounting(r.N, func() { close(done) })))
	r.Start()
	r.Senders(senders, func(i int) { s.Root.Send(pid, bench.Small{A: i, B: i}) })
	<-done
	r.Stop()
}

func protoactorCounting(n int, done func()) func(c actor.Context) {
	return func(c actor.Context) {
		if _, ok := c.Message().(bench.Small); !ok {
			return
		}
		if n--; n == 0 {
			done()
		}
	}
}

// A protoactorBall flies between two players.
type protoactorBall struct {
	left int
	from *actor.PID
}

func (p contender) PingPong(r *bench.Run, pairs int) {
	s := p.system()
	all := bench.NewTally(pairs)
	player := p.props(func(c actor.Context) {
		b, ok := c.Message().(protoactorBall)
		switch {
		case !ok:
		case b.left == 0:
			all.Arrived()
		default:
			c.Send(b.from, protoactorBall{b.left - 1, c.Self()})
		}
	})
	players := make([]*actor.PID, 2*pairs)
	for i := range players {
		players[i] = s.Root.Spawn(player)
	}
	r.Start()
	for i, share := range bench.Split(r.N, pairs) {
		s.Root.Send(players[2*i], protoactorBall{max(share-1, 0), players[2*i+1]})
	}
	all.Wait()
	r.Stop()
}

func (p contender) FanOut(r *bench.Run, actors int) {
	s := p.system()
	all := bench.NewTally(min(actors, r.N))
	shares := bench.Split(r.N, actors)
	pids := make([]*actor.PID, actors)
	for i := range pids {
		pids[i] = s.Root.Spawn(p.props(protoactorCounting(shares[i], all.Arrived)))
	}
	r.Start()
	for i := range r.N {
		s.Root.Send(pids[i%actors], bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (p contender) Block(r *bench.Run) {
	s := p.system()
	all := bench.NewTally(r.N)
	pids := make([]*actor.PID, bench.BlockingActors)
	for i := range pids {
		pids[i] = s.Root.Spawn(p.props(func(c actor.Context) {
			if _, ok := c.Message().(bench.Small); ok {
				time.Sleep(bench.BlockingTime)
				all.Arrived()
			}
		}))
	}
	r.Start()
	for i := range r.N {
		s.Root.Send(pids[i%len(pids)], bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (p contender) Ask(r *bench.Run, askers int) {
	s := p.system()
	pid := s.Root.Spawn(p.props(func(c actor.Context) {
		if n, ok := c.Message().(int); ok {
			c.Respond(n + 1)
		}
	}))
	r.Start()
	r.Askers(askers, func(i int) int {
		got, err := s.Root.RequestFuture(pid, i, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return got.(int)
	})
	r.Stop()
}

func (p contender) Spawn(r *bench.Run) {
	p.spawnAll(r)
	r.Stop()
}

func (p contender) Idle(r *bench.Run) {
	s, pids := p.spawnAll(r)
	r.StopLive()
	s.Root.Send(pids[0], bench.Small{})
}

// spawnAll returns the system and the actors, so that they are not collected.
func (p contender) spawnAll(r *bench.Run) (*actor.ActorSystem, []*actor.PID) {
	s := p.system()
	all := bench.NewTally(r.N)
	idle := p.props(func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			all.Arrived()
		}
	})
	pids := make([]*actor.PID, r.N)
	r.Start()
	for i := range pids {
		pids[i] = s.Root.Spawn(idle)
	}
	all.Wait()
	return s, pids
}

func (p contender) SpawnAndStop(r *bench.Run) {
	s := p.system()
	started, ended := bench.NewTally(r.N), bench.NewTally(r.N)
	child := p.props(func(c actor.Context) {
		switch c.Message().(type) {
		case *actor.Started:
			started.Arrived()
		case *actor.Stopped:
			ended.Arrived()
		}
	})
	children := make([]*actor.PID, 0, r.N)
	parent := s.Root.Spawn(p.props(func(c actor.Context) {
		switch n := c.Message().(type) {
		case int:
			for range n {
				children = append(children, c.Spawn(child))
			}
			if n == 0 {
				for _, pid := range children {
					c.Stop(pid)
				}
			}
		}
	}))
	r.Start()
	s.Root.Send(parent, r.N)
	started.Wait()
	s.Root.Send(parent, 0)
	ended.Wait()
	r.Stop()
}

// protoactor's actors of skynet.
type (
	protoactorBranch struct{ leaves, number int }
	protoactorSum    struct{ sum int }
)

func (p contender) Skynet(r *bench.Run) {
	s := p.system()
	sum := make(chan int)
	root := s.Root.Spawn(p.props(func(c actor.Context) {
		switch m := c.Message().(type) {
		case protoactorBranch:
			c.Send(c.Spawn(p.node()), m)
		case protoactorSum:
			sum <- m.sum
		}
	}))
	r.Start()
	s.Root.Send(root, protoactorBranch{leaves: r.N})
	bench.CheckSkynet(r.N, <-sum)
	r.Stop()
}

func (p contender) node() *actor.Props {
	left, sum := 0, 0
	report := func(c actor.Context, sum int) {
		c.Send(c.Parent(), protoactorSum{sum})
		c.Stop(c.Self())
	}
	return p.props(func(c actor.Context) {
		switch m := c.Message().(type) {
		case protoactorBranch:
			if m.leaves == 1 {
				report(c, m.number)
				return
			}
			left = bench.SkynetBranches
			size := m.leaves / bench.SkynetBranches
			for i := range bench.SkynetBranches {
				c.Send(c.Spawn(p.node()), protoactorBranch{size, m.number + i*size})
			}
		case protoactorSum:
			sum += m.sum
			if left--; left == 0 {
				report(c, sum)
			}
		}
	})
}

func (p contender) Timers(r *bench.Run) {
	s := p.system()
	all := bench.NewTally(r.N)
	clock := scheduler.NewTimerScheduler(s.Root)
	pids := make([]*actor.PID, bench.TimerActors)
	for i := range pids {
		pids[i] = s.Root.Spawn(p.props(func(c actor.Context) {
			switch m := c.Message().(type) {
			case int:
				for k := range m {
					clock.SendOnce(bench.TimerDelay(k, m), c.Self(), protoactorTick(k))
				}
			case protoactorTick:
				all.Arrived()
			}
		}))
	}
	r.Start()
	for i, share := range bench.Split(r.N, bench.TimerActors) {
		s.Root.Send(pids[i], share)
	}
	all.Wait()
	r.StopProcessor()
}

type protoactorTick int

// systems starts two connected systems.
func (p contender) systems() (from, to *actor.ActorSystem) {
	var all [2]*actor.ActorSystem
	for i := range all {
		all[i] = p.system()
		remote.NewRemote(all[i], remote.Configure("127.0.0.1", 0)).Start()
	}
	return all[0], all[1]
}

func (p contender) RemoteTell(r *bench.Run) {
	from, to := p.systems()
	w := bench.NewWindow(r.N)
	warm := make(chan struct{}, 1)
	local := to.Root.Spawn(p.props(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
			if len(m.Value) == 0 {
				warm <- struct{}{}
				return
			}
			w.Got()
		}
	}))
	pid := actor.NewPID(to.Address(), local.Id)
	from.Root.Send(pid, &wrapperspb.BytesValue{})
	<-warm
	payload := make([]byte, bench.PayloadSize)
	r.Start()
	w.Send(func() { from.Root.Send(pid, &wrapperspb.BytesValue{Value: payload}) })
	r.Stop()
}

func (p contender) RemoteAsk(r *bench.Run, askers int) {
	from, to := p.systems()
	local := to.Root.Spawn(p.props(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
			c.Respond(&wrapperspb.BytesValue{Value: bench.NumberBytes(bench.BytesNumber(m.Value) + 1)})
		}
	}))
	pid := actor.NewPID(to.Address(), local.Id)
	ask := func(i int) int {
		got, err := from.Root.RequestFuture(pid, &wrapperspb.BytesValue{Value: bench.NumberBytes(i)}, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return bench.BytesNumber(got.(*wrapperspb.BytesValue).Value)
	}
	ask(0)
	r.Start()
	r.Askers(askers, ask)
	r.Stop()
}
