// Command hollywood runs the scenarios of peerbench on hollywood.
package main

import (
	"fmt"
	"log/slog" //nolint:depguard // hollywood writes to it, and is to be quiet
	"net"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{"default": contender{inbox: hollywoodDefault}, "large": contender{inbox: 1 << 16}, "small": contender{inbox: 16}})
}

// contender is github.com/anthdm/hollywood, with inboxes that begin with so many slots.
type contender struct{ inbox int }

// hollywoodDefault is the default size of its inboxes.
const hollywoodDefault = 1024

func init() { slog.SetLogLoggerLevel(slog.LevelError) }

func hollywoodEngine(config actor.EngineConfig) *actor.Engine {
	e, err := actor.NewEngine(config)
	if err != nil {
		panic(err)
	}
	return e
}

func (h contender) options() []actor.OptFunc {
	return []actor.OptFunc{actor.WithInboxSize(h.inbox)}
}

// spawnFunc spawns an actor that handles all messages except those of its own lifecycle.
func (h contender) spawnFunc(e *actor.Engine, name string, f func(c *actor.Context)) *actor.PID {
	return e.SpawnFunc(f, name, h.options()...)
}

func (h contender) Tell(r *bench.Run, senders int) {
	e := hollywoodEngine(actor.NewEngineConfig())
	done := make(chan struct{})
	pid := h.spawnFunc(e, "sink", hollywoodCounting(r.N, func() { close(done) }))
	r.Start()
	r.Senders(senders, func(i int) { e.Send(pid, bench.Small{A: i, B: i}) })
	<-done
	r.Stop()
}

func hollywoodCounting(n int, done func()) func(c *actor.Context) {
	return func(c *actor.Context) {
		if _, ok := c.Message().(bench.Small); !ok {
			return
		}
		if n--; n == 0 {
			done()
		}
	}
}

// A hollywoodBall flies between two players.
type hollywoodBall struct {
	left int
	from *actor.PID
}

func (h contender) PingPong(r *bench.Run, pairs int) {
	e := hollywoodEngine(actor.NewEngineConfig())
	all := bench.NewTally(pairs)
	player := func(c *actor.Context) {
		b, ok := c.Message().(hollywoodBall)
		switch {
		case !ok:
		case b.left == 0:
			all.Arrived()
		default:
			c.Send(b.from, hollywoodBall{b.left - 1, c.PID()})
		}
	}
	players := make([]*actor.PID, 2*pairs)
	for i := range players {
		players[i] = h.spawnFunc(e, "player", player)
	}
	r.Start()
	for i, share := range bench.Split(r.N, pairs) {
		e.Send(players[2*i], hollywoodBall{max(share-1, 0), players[2*i+1]})
	}
	all.Wait()
	r.Stop()
}

func (h contender) FanOut(r *bench.Run, actors int) {
	e := hollywoodEngine(actor.NewEngineConfig())
	all := bench.NewTally(min(actors, r.N))
	shares := bench.Split(r.N, actors)
	pids := make([]*actor.PID, actors)
	for i := range pids {
		pids[i] = h.spawnFunc(e, "sink", hollywoodCounting(shares[i], all.Arrived))
	}
	r.Start()
	for i := range r.N {
		e.Send(pids[i%actors], bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (h contender) Block(r *bench.Run) {
	e := hollywoodEngine(actor.NewEngineConfig())
	all := bench.NewTally(r.N)
	pids := make([]*actor.PID, bench.BlockingActors)
	for i := range pids {
		pids[i] = h.spawnFunc(e, "blocking", func(c *actor.Context) {
			if _, ok := c.Message().(bench.Small); ok {
				time.Sleep(bench.BlockingTime)
				all.Arrived()
			}
		})
	}
	r.Start()
	for i := range r.N {
		e.Send(pids[i%len(pids)], bench.Small{A: i, B: i})
	}
	all.Wait()
	r.Stop()
}

func (h contender) Ask(r *bench.Run, askers int) {
	e := hollywoodEngine(actor.NewEngineConfig())
	pid := h.spawnFunc(e, "adder", func(c *actor.Context) {
		if n, ok := c.Message().(int); ok {
			c.Respond(n + 1)
		}
	})
	r.Start()
	r.Askers(askers, func(i int) int {
		got, err := e.Request(pid, i, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return got.(int)
	})
	r.Stop()
}

func (h contender) Spawn(r *bench.Run) {
	h.spawnAll(r)
	r.Stop()
}

func (h contender) Idle(r *bench.Run) {
	e, pids := h.spawnAll(r)
	r.StopLive()
	e.Send(pids[0], bench.Small{})
}

// spawnAll returns the engine and the actors, so that they are not collected.
func (h contender) spawnAll(r *bench.Run) (*actor.Engine, []*actor.PID) {
	e := hollywoodEngine(actor.NewEngineConfig())
	all := bench.NewTally(r.N)
	idle := func(c *actor.Context) {
		if _, ok := c.Message().(actor.Started); ok {
			all.Arrived()
		}
	}
	pids := make([]*actor.PID, r.N)
	r.Start()
	for i := range pids {
		pids[i] = h.spawnFunc(e, "idle", idle)
	}
	all.Wait()
	return e, pids
}

func (h contender) SpawnAndStop(r *bench.Run) {
	e := hollywoodEngine(actor.NewEngineConfig())
	started, ended := bench.NewTally(r.N), bench.NewTally(r.N)
	child := func(c *actor.Context) {
		switch c.Message().(type) {
		case actor.Started:
			started.Arrived()
		case actor.Stopped:
			ended.Arrived()
		}
	}
	children := make([]*actor.PID, 0, r.N)
	parent := h.spawnFunc(e, "parent", func(c *actor.Context) {
		switch n := c.Message().(type) {
		case int:
			for range n {
				children = append(children, c.SpawnChildFunc(child, "child", h.options()...))
			}
			if n == 0 {
				for _, pid := range children {
					e.Stop(pid)
				}
			}
		}
	})
	r.Start()
	e.Send(parent, r.N)
	started.Wait()
	e.Send(parent, 0)
	ended.Wait()
	r.Stop()
}

// hollywood's actors of skynet.
type (
	hollywoodBranch struct{ leaves, number int }
	hollywoodSum    struct{ sum int }
)

func (h contender) Skynet(r *bench.Run) {
	e := hollywoodEngine(actor.NewEngineConfig())
	sum := make(chan int)
	root := h.spawnFunc(e, "root", func(c *actor.Context) {
		switch m := c.Message().(type) {
		case hollywoodBranch:
			c.Send(c.SpawnChildFunc(h.node(), "node", h.options()...), m)
		case hollywoodSum:
			sum <- m.sum
		}
	})
	r.Start()
	e.Send(root, hollywoodBranch{leaves: r.N})
	bench.CheckSkynet(r.N, <-sum)
	r.Stop()
}

func (h contender) node() func(c *actor.Context) {
	left, sum := 0, 0
	report := func(c *actor.Context, sum int) {
		c.Send(c.Parent(), hollywoodSum{sum})
		c.Engine().Stop(c.PID())
	}
	return func(c *actor.Context) {
		switch m := c.Message().(type) {
		case hollywoodBranch:
			if m.leaves == 1 {
				report(c, m.number)
				return
			}
			left = bench.SkynetBranches
			size := m.leaves / bench.SkynetBranches
			for i := range bench.SkynetBranches {
				c.Send(c.SpawnChildFunc(h.node(), "node", h.options()...), hollywoodBranch{size, m.number + i*size})
			}
		case hollywoodSum:
			sum += m.sum
			if left--; left == 0 {
				report(c, sum)
			}
		}
	}
}

// Timers uses repeating timers, because hollywood has no timer that fires once.
func (h contender) Timers(r *bench.Run) {
	e := hollywoodEngine(actor.NewEngineConfig())
	all := bench.NewTally(r.N)
	pids := make([]*actor.PID, bench.TimerActors)
	for i := range pids {
		var repeaters []actor.SendRepeater
		pids[i] = h.spawnFunc(e, "timers", func(c *actor.Context) {
			switch m := c.Message().(type) {
			case int:
				repeaters = make([]actor.SendRepeater, m)
				for k := range m {
					repeaters[k] = c.SendRepeat(c.PID(), hollywoodTick(k), bench.TimerDelay(k, m))
				}
			case hollywoodTick:
				repeaters[m].Stop()
				all.Arrived()
			}
		})
	}
	r.Start()
	for i, share := range bench.Split(r.N, bench.TimerActors) {
		e.Send(pids[i], share)
	}
	all.Wait()
	r.StopProcessor()
}

type hollywoodTick int

// engines starts two connected engines. hollywood has no address that means any free port.
func (h contender) engines() (from, to *actor.Engine) {
	var all [2]*actor.Engine
	for i := range all {
		config := actor.NewEngineConfig().WithRemote(remote.New(freeAddr(), remote.NewConfig()))
		all[i] = hollywoodEngine(config)
	}
	return all[0], all[1]
}

// freeAddr returns an address with a free port.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			panic(err)
		}
	}()
	return l.Addr().String()
}

func (h contender) RemoteTell(r *bench.Run) {
	remote.RegisterType(&remote.TestMessage{})
	from, to := h.engines()
	w := bench.NewWindow(r.N)
	warm := make(chan struct{}, 1)
	pid := h.spawnFunc(to, "sink", func(c *actor.Context) {
		switch m := c.Message().(type) {
		case *remote.TestMessage:
			if len(m.Data) == 0 {
				warm <- struct{}{}
				return
			}
			w.Got()
		}
	})
	from.Send(pid, &remote.TestMessage{})
	<-warm
	payload := make([]byte, bench.PayloadSize)
	r.Start()
	w.Send(func() { from.Send(pid, &remote.TestMessage{Data: payload}) })
	r.Stop()
}

func (h contender) RemoteAsk(r *bench.Run, askers int) {
	remote.RegisterType(&remote.TestMessage{})
	from, to := h.engines()
	pid := h.spawnFunc(to, "adder", func(c *actor.Context) {
		if m, ok := c.Message().(*remote.TestMessage); ok {
			c.Respond(&remote.TestMessage{Data: bench.NumberBytes(bench.BytesNumber(m.Data) + 1)})
		}
	})
	ask := func(i int) int {
		got, err := from.Request(pid, &remote.TestMessage{Data: bench.NumberBytes(i)}, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		answer, ok := got.(*remote.TestMessage)
		if !ok {
			panic(fmt.Sprintf("answer %T", got))
		}
		return bench.BytesNumber(answer.Data)
	}
	ask(0)
	r.Start()
	r.Askers(askers, ask)
	r.Stop()
}
