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

// An engine spawns actors that handle all messages except those of their own lifecycle.
type engine struct {
	*actor.Engine
	options []actor.OptFunc
}

func (h contender) engine() engine { return h.configured(actor.NewEngineConfig()) }

func (h contender) configured(config actor.EngineConfig) engine {
	e, err := actor.NewEngine(config)
	if err != nil {
		panic(err)
	}
	return engine{e, []actor.OptFunc{actor.WithInboxSize(h.inbox)}}
}

func (e engine) spawn(name string, f func(c *actor.Context)) *actor.PID {
	return e.SpawnFunc(f, name, e.options...)
}

func (e engine) sink(n int, done func()) *actor.PID {
	return e.spawn("sink", func(c *actor.Context) {
		if _, ok := c.Message().(bench.Small); !ok {
			return
		}
		if n--; n == 0 {
			done()
		}
	})
}

func (e engine) sendAll(to []*actor.PID, n int) {
	for i := range n {
		e.Send(to[i%len(to)], bench.Small{A: i, B: i})
	}
}

func (h contender) Tell(r *bench.Run, senders int) {
	e := h.engine()
	bench.Tell(r, senders, e.sink, func(to *actor.PID) func(int) {
		return func(i int) { e.Send(to, bench.Small{A: i, B: i}) }
	})
}

func (h contender) FanOut(r *bench.Run, actors int) {
	e := h.engine()
	bench.FanOut(r, actors, e.sink, e.sendAll)
}

func (h contender) Block(r *bench.Run) {
	e := h.engine()
	bench.Block(r, func(handle func()) *actor.PID {
		return e.spawn("blocking", func(c *actor.Context) {
			if _, ok := c.Message().(bench.Small); ok {
				handle()
			}
		})
	}, e.sendAll)
}

// A ball flies between two players.
type ball struct {
	left int
	from *actor.PID
}

func (h contender) PingPong(r *bench.Run, pairs int) {
	e := h.engine()
	player := func(all *bench.Tally) *actor.PID {
		return e.spawn("player", func(c *actor.Context) {
			b, ok := c.Message().(ball)
			switch {
			case !ok:
			case b.left == 0:
				all.Arrived()
			default:
				c.Send(b.from, ball{b.left - 1, c.PID()})
			}
		})
	}
	bench.PingPong(r, pairs, player, func(to, from *actor.PID, throws int) { e.Send(to, ball{throws, from}) })
}

func (h contender) Ask(r *bench.Run, askers int) {
	e := h.engine()
	pid := e.spawn("adder", func(c *actor.Context) {
		if n, ok := c.Message().(int); ok {
			c.Respond(n + 1)
		}
	})
	bench.Ask(r, askers, func(i int) int {
		got, err := e.Request(pid, i, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		return got.(int)
	})
}

func (h contender) Spawn(r *bench.Run) {
	bench.SpawnAll(r, h.engine().idle)
	r.Stop()
}

func (h contender) Idle(r *bench.Run) {
	e := h.engine()
	pids := bench.SpawnAll(r, e.idle)
	r.StopLive()
	e.Send(pids[0], bench.Small{})
}

func (e engine) idle(started *bench.Tally) func() *actor.PID {
	idle := func(c *actor.Context) {
		if _, ok := c.Message().(actor.Started); ok {
			started.Arrived()
		}
	}
	return func() *actor.PID { return e.spawn("idle", idle) }
}

func (h contender) SpawnAndStop(r *bench.Run) {
	e := h.engine()
	bench.SpawnAndStop(r, func(started, ended *bench.Tally) func(int) {
		child := func(c *actor.Context) {
			switch c.Message().(type) {
			case actor.Started:
				started.Arrived()
			case actor.Stopped:
				ended.Arrived()
			}
		}
		children := make([]*actor.PID, 0, r.N)
		parent := e.spawn("parent", func(c *actor.Context) {
			n, ok := c.Message().(int)
			for range n {
				children = append(children, c.SpawnChildFunc(child, "child", e.options...))
			}
			if ok && n == 0 {
				for _, pid := range children {
					e.Stop(pid)
				}
			}
		})
		return func(n int) { e.Send(parent, n) }
	})
}

// The messages of skynet.
type (
	branch struct{ leaves, number int }
	total  struct{ sum int }
)

func (h contender) Skynet(r *bench.Run) {
	e := h.engine()
	bench.Skynet(r, func(sum chan<- int) func(int) {
		root := e.spawn("root", func(c *actor.Context) {
			switch m := c.Message().(type) {
			case branch:
				c.Send(c.SpawnChildFunc(e.node(), "node", e.options...), m)
			case total:
				sum <- m.sum
			}
		})
		return func(leaves int) { e.Send(root, branch{leaves: leaves}) }
	})
}

func (e engine) node() func(c *actor.Context) {
	left, sum := 0, 0
	report := func(c *actor.Context, sum int) {
		c.Send(c.Parent(), total{sum})
		e.Stop(c.PID())
	}
	return func(c *actor.Context) {
		switch m := c.Message().(type) {
		case branch:
			if m.leaves == 1 {
				report(c, m.number)
				return
			}
			left = bench.SkynetBranches
			size := m.leaves / bench.SkynetBranches
			for i := range bench.SkynetBranches {
				c.Send(c.SpawnChildFunc(e.node(), "node", e.options...), branch{size, m.number + i*size})
			}
		case total:
			sum += m.sum
			if left--; left == 0 {
				report(c, sum)
			}
		}
	}
}

type tick int

// Timers uses repeating timers, because hollywood has no timer that fires once.
func (h contender) Timers(r *bench.Run) {
	e := h.engine()
	bench.Timers(r, func(fired *bench.Tally) *actor.PID {
		var repeaters []actor.SendRepeater
		return e.spawn("timers", func(c *actor.Context) {
			switch m := c.Message().(type) {
			case int:
				repeaters = make([]actor.SendRepeater, m)
				for k := range m {
					repeaters[k] = c.SendRepeat(c.PID(), tick(k), bench.TimerDelay(k, m))
				}
			case tick:
				repeaters[m].Stop()
				fired.Arrived()
			}
		})
	}, func(to *actor.PID, timers int) { e.Send(to, timers) })
}

// engines starts two connected engines. hollywood has no address that means any free port.
func (h contender) engines() (from, to engine) {
	remote.RegisterType(&remote.TestMessage{})
	var all [2]engine
	for i := range all {
		all[i] = h.configured(actor.NewEngineConfig().WithRemote(remote.New(freeAddr(), remote.NewConfig())))
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
	from, to := h.engines()
	bench.RemoteTell(r, func(w *bench.Window, warm chan<- struct{}) func([]byte) {
		pid := to.spawn("sink", func(c *actor.Context) {
			switch m, ok := c.Message().(*remote.TestMessage); {
			case !ok:
			case len(m.Data) == 0:
				warm <- struct{}{}
			default:
				w.Got()
			}
		})
		return func(payload []byte) { from.Send(pid, &remote.TestMessage{Data: payload}) }
	})
}

func (h contender) RemoteAsk(r *bench.Run, askers int) {
	from, to := h.engines()
	pid := to.spawn("adder", func(c *actor.Context) {
		if m, ok := c.Message().(*remote.TestMessage); ok {
			c.Respond(&remote.TestMessage{Data: bench.NumberBytes(bench.BytesNumber(m.Data) + 1)})
		}
	})
	bench.RemoteAsk(r, askers, func(i int) int {
		got, err := from.Request(pid, &remote.TestMessage{Data: bench.NumberBytes(i)}, time.Minute).Result()
		if err != nil {
			panic(err)
		}
		answer, ok := got.(*remote.TestMessage)
		if !ok {
			panic(fmt.Sprintf("answer %T", got))
		}
		return bench.BytesNumber(answer.Data)
	})
}
