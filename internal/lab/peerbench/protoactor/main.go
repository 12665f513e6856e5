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

// A system is an actor system with the mailboxes of a contender.
type system struct {
	*actor.ActorSystem
	contender
}

func (p contender) system() system {
	return system{actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	})), p}
}

func (p contender) props(f func(c actor.Context)) *actor.Props {
	if p.lockFree {
		return actor.PropsFromFunc(f, actor.WithMailbox(actor.UnboundedLockfree()))
	}
	return actor.PropsFromFunc(f)
}

func (s system) spawn(f func(c actor.Context)) *actor.PID { return s.Root.Spawn(s.props(f)) }

func (s system) sink(n int, done func()) *actor.PID {
	return s.spawn(func(c actor.Context) {
		if _, ok := c.Message().(bench.Small); !ok {
			return
		}
		if n--; n == 0 {
			done()
		}
	})
}

func (s system) sendAll(to []*actor.PID, n int) {
	for i := range n {
		s.Root.Send(to[i%len(to)], bench.Small{A: i, B: i})
	}
}

func (p contender) Tell(r *bench.Run, senders int) {
	s := p.system()
	bench.Tell(r, senders, s.sink, func(to *actor.PID) func(int) {
		return func(i int) { s.Root.Send(to, bench.Small{A: i, B: i}) }
	})
}

func (p contender) FanOut(r *bench.Run, actors int) {
	s := p.system()
	bench.FanOut(r, actors, s.sink, s.sendAll)
}

func (p contender) Block(r *bench.Run) {
	s := p.system()
	bench.Block(r, func(handle func()) *actor.PID {
		return s.spawn(func(c actor.Context) {
			if _, ok := c.Message().(bench.Small); ok {
				handle()
			}
		})
	}, s.sendAll)
}

// A ball flies between two players.
type ball struct {
	left int
	from *actor.PID
}

func (p contender) PingPong(r *bench.Run, pairs int) {
	s := p.system()
	player := func(all *bench.Tally) *actor.PID {
		return s.spawn(func(c actor.Context) {
			b, ok := c.Message().(ball)
			switch {
			case !ok:
			case b.left == 0:
				all.Arrived()
			default:
				c.Send(b.from, ball{b.left - 1, c.Self()})
			}
		})
	}
	bench.PingPong(r, pairs, player, func(to, from *actor.PID, throws int) { s.Root.Send(to, ball{throws, from}) })
}

func (p contender) Ask(r *bench.Run, askers int) {
	s := p.system()
	pid := s.spawn(func(c actor.Context) {
		if n, ok := c.Message().(int); ok {
			c.Respond(n + 1)
		}
	})
	bench.Ask(r, askers, func(i int) int {
		got, err := s.Root.RequestFuture(pid, i, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return got.(int)
	})
}

func (p contender) Spawn(r *bench.Run) {
	bench.SpawnAll(r, p.system().idle)
	r.Stop()
}

func (p contender) Idle(r *bench.Run) {
	s := p.system()
	pids := bench.SpawnAll(r, s.idle)
	r.StopLive()
	s.Root.Send(pids[0], bench.Small{})
}

func (s system) idle(started *bench.Tally) func() *actor.PID {
	idle := s.props(func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			started.Arrived()
		}
	})
	return func() *actor.PID { return s.Root.Spawn(idle) }
}

func (p contender) SpawnAndStop(r *bench.Run) {
	s := p.system()
	bench.SpawnAndStop(r, func(started, ended *bench.Tally) func(int) {
		child := s.props(func(c actor.Context) {
			switch c.Message().(type) {
			case *actor.Started:
				started.Arrived()
			case *actor.Stopped:
				ended.Arrived()
			}
		})
		children := make([]*actor.PID, 0, r.N)
		parent := s.spawn(func(c actor.Context) {
			n, ok := c.Message().(int)
			for range n {
				children = append(children, c.Spawn(child))
			}
			if ok && n == 0 {
				for _, pid := range children {
					c.Stop(pid)
				}
			}
		})
		return func(n int) { s.Root.Send(parent, n) }
	})
}

// The messages of skynet.
type (
	branch struct{ leaves, number int }
	total  struct{ sum int }
)

func (p contender) Skynet(r *bench.Run) {
	s := p.system()
	bench.Skynet(r, func(sum chan<- int) func(int) {
		root := s.spawn(func(c actor.Context) {
			switch m := c.Message().(type) {
			case branch:
				c.Send(c.Spawn(p.node()), m)
			case total:
				sum <- m.sum
			}
		})
		return func(leaves int) { s.Root.Send(root, branch{leaves: leaves}) }
	})
}

func (p contender) node() *actor.Props {
	left, sum := 0, 0
	report := func(c actor.Context, sum int) {
		c.Send(c.Parent(), total{sum})
		c.Stop(c.Self())
	}
	return p.props(func(c actor.Context) {
		switch m := c.Message().(type) {
		case branch:
			if m.leaves == 1 {
				report(c, m.number)
				return
			}
			left = bench.SkynetBranches
			size := m.leaves / bench.SkynetBranches
			for i := range bench.SkynetBranches {
				c.Send(c.Spawn(p.node()), branch{size, m.number + i*size})
			}
		case total:
			sum += m.sum
			if left--; left == 0 {
				report(c, sum)
			}
		}
	})
}

type tick int

func (p contender) Timers(r *bench.Run) {
	s := p.system()
	clock := scheduler.NewTimerScheduler(s.Root)
	bench.Timers(r, func(fired *bench.Tally) *actor.PID {
		return s.spawn(func(c actor.Context) {
			switch m := c.Message().(type) {
			case int:
				for k := range m {
					clock.SendOnce(bench.TimerDelay(k, m), c.Self(), tick(k))
				}
			case tick:
				fired.Arrived()
			}
		})
	}, func(to *actor.PID, timers int) { s.Root.Send(to, timers) })
}

// systems starts two connected systems.
func (p contender) systems() (from, to system) {
	var all [2]system
	for i := range all {
		all[i] = p.system()
		remote.NewRemote(all[i].ActorSystem, remote.Configure("127.0.0.1", 0)).Start()
	}
	return all[0], all[1]
}

// spawnRemote spawns an actor in to, and returns its address for others.
func (s system) spawnRemote(f func(c actor.Context)) *actor.PID {
	return actor.NewPID(s.Address(), s.spawn(f).Id)
}

func (p contender) RemoteTell(r *bench.Run) {
	from, to := p.systems()
	bench.RemoteTell(r, func(w *bench.Window, warm chan<- struct{}) func([]byte) {
		pid := to.spawnRemote(func(c actor.Context) {
			switch m, ok := c.Message().(*wrapperspb.BytesValue); {
			case !ok:
			case len(m.Value) == 0:
				warm <- struct{}{}
			default:
				w.Got()
			}
		})
		return func(payload []byte) { from.Root.Send(pid, &wrapperspb.BytesValue{Value: payload}) }
	})
}

func (p contender) RemoteAsk(r *bench.Run, askers int) {
	from, to := p.systems()
	pid := to.spawnRemote(func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
			c.Respond(&wrapperspb.BytesValue{Value: bench.NumberBytes(bench.BytesNumber(m.Value) + 1)})
		}
	})
	bench.RemoteAsk(r, askers, func(i int) int {
		got, err := from.Root.RequestFuture(pid, &wrapperspb.BytesValue{Value: bench.NumberBytes(i)}, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return bench.BytesNumber(got.(*wrapperspb.BytesValue).Value)
	})
}
