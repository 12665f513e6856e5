// Command hollywood runs the scenarios of peerbench on hollywood.
package main

import (
	"log/slog" //nolint:depguard // hollywood writes to it, and is to be quiet
	"net"
	"strings"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	slog.SetLogLoggerLevel(slog.LevelError)
	bench.Main(map[string]bench.Contender{"default": contender(1024), "large": contender(1 << 16), "small": contender(16)})
}

// contender is github.com/anthdm/hollywood, with inboxes that begin with so many slots.
func contender(inbox int) bench.Untyped[*actor.Context, *actor.PID] {
	return bench.Untyped[*actor.Context, *actor.PID]{New: func(remoting bool) bench.Library[*actor.Context, *actor.PID] {
		config := actor.NewEngineConfig()
		if remoting {
			remote.RegisterType(&remote.TestMessage{})
			config = config.WithRemote(remote.New(freeAddr(), remote.NewConfig().WithBufferSize(8*bench.MostPayload)))
		}
		e, err := actor.NewEngine(config)
		if err != nil {
			panic(err)
		}
		return engine{e, []actor.OptFunc{actor.WithInboxSize(inbox)}}
	}}
}

// freeAddr returns an address with a free port. hollywood has none that means any.
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

type engine struct {
	*actor.Engine
	options []actor.OptFunc
}

func receiver(a bench.Actor[*actor.Context]) func(*actor.Context) {
	return func(c *actor.Context) {
		switch m := c.Message().(type) {
		case actor.Initialized:
		case actor.Started:
			if a.Started != nil {
				a.Started()
			}
		case actor.Stopped:
			if a.Stopped != nil {
				a.Stopped()
			}
		default:
			if a.Receive != nil {
				a.Receive(c, m)
			}
		}
	}
}

func (e engine) Spawn(a bench.Actor[*actor.Context]) *actor.PID {
	return e.SpawnFunc(receiver(a), "actor", e.options...)
}

func (e engine) SpawnChild(c *actor.Context, a bench.Actor[*actor.Context]) *actor.PID {
	return c.SpawnChildFunc(receiver(a), "child", e.options...)
}

func (e engine) Tell(c *actor.Context, to *actor.PID, message any) { c.Send(to, message) }

func (e engine) Ask(to *actor.PID, message any, timeout time.Duration) (any, error) {
	return e.Request(to, message, timeout).Result()
}

func (e engine) Respond(c *actor.Context, answer any) { c.Respond(answer) }

func (e engine) Self(c *actor.Context) *actor.PID { return c.PID() }

func (e engine) Stop(_ *actor.Context, p *actor.PID) { e.Engine.Stop(p) }

// After uses a repeating timer, because hollywood has none that fires once.
func (e engine) After(c *actor.Context, d time.Duration, message any) (fired func()) {
	return c.SendRepeat(c.PID(), message, d).Stop
}

func (e engine) Address(p *actor.PID) string { return p.String() }

func (e engine) At(address string) *actor.PID {
	host, id, _ := strings.Cut(address, "/")
	return actor.NewPID(host, id)
}

func (e engine) Pack(payload []byte) any { return &remote.TestMessage{Data: payload} }

func (e engine) Unpack(message any) ([]byte, bool) {
	m, ok := message.(*remote.TestMessage)
	if !ok {
		return nil, false
	}
	return m.Data, true
}
