// Command goakt runs the scenarios of peerbench on goakt v4. It is compiled with a checkout of it,
// by peerbench -goakt=DIR.
package main

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tochemey/goakt/v4/actor"
	"github.com/tochemey/goakt/v4/log"
	"github.com/tochemey/goakt/v4/remote"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

type (
	library = bench.Library[*actor.ReceiveContext, *actor.PID]
	script  = bench.Actor[*actor.ReceiveContext]
)

func main() {
	bench.Main(map[string]bench.Contender{"default": bench.Untyped[*actor.ReceiveContext, *actor.PID]{New: start}})
}

// parcel is the message of the remote scenarios.
type parcel struct{ Data []byte }

var ctx = context.Background()

func start(remoting bool) library {
	options := []actor.Option{actor.WithLogger(log.DiscardLogger)}
	if remoting {
		options = append(options, actor.WithRemote(remote.NewConfig("127.0.0.1", freePort(),
			remote.WithSerializers(new(parcel), remote.NewCBORSerializer()))))
	}
	s := must(actor.NewActorSystem("bench", options...))
	check(s.Start(ctx))
	return &system{system: s}
}

// freePort returns a port that is free. The actor system does not say which one it has if it is
// told 0.
func freePort() int {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { check(l.Close()) }()
	return l.Addr().(*net.TCPAddr).Port
}

type system struct {
	system actor.ActorSystem
	names  atomic.Int64
}

// An acting is the actor for a script.
type acting struct{ script script }

func (a *acting) PreStart(*actor.Context) error {
	if a.script.Started != nil {
		a.script.Started()
	}
	return nil
}

func (a *acting) Receive(c *actor.ReceiveContext) {
	if a.script.Receive != nil {
		a.script.Receive(c, c.Message())
	}
}

func (a *acting) PostStop(*actor.Context) error {
	if a.script.Stopped != nil {
		a.script.Stopped()
	}
	return nil
}

// name returns a new one: each actor needs it.
func (s *system) name() string { return "a" + strconv.FormatInt(s.names.Add(1), 10) }

func (s *system) Spawn(a script) *actor.PID {
	return must(s.system.Spawn(ctx, s.name(), &acting{a}, actor.WithLongLived()))
}

func (s *system) SpawnChild(c *actor.ReceiveContext, a script) *actor.PID {
	return c.Spawn(s.name(), &acting{a}, actor.WithLongLived())
}

func (s *system) Send(to *actor.PID, message any) { check(actor.Tell(ctx, to, message)) }

func (s *system) Tell(c *actor.ReceiveContext, to *actor.PID, message any) { c.Tell(to, message) }

func (s *system) Ask(to *actor.PID, message any, timeout time.Duration) (any, error) {
	return actor.Ask(ctx, to, message, timeout)
}

func (s *system) Respond(c *actor.ReceiveContext, answer any) { c.Response(answer) }

func (s *system) Self(c *actor.ReceiveContext) *actor.PID { return c.Self() }

func (s *system) Stop(c *actor.ReceiveContext, p *actor.PID) {
	if p == c.Self() {
		c.Shutdown()
		return
	}
	c.Stop(p)
}

func (s *system) After(c *actor.ReceiveContext, d time.Duration, message any) (fired func()) {
	check(s.system.ScheduleOnce(ctx, message, c.Self(), d))
	return nil
}

func (s *system) Address(p *actor.PID) string { return p.Path().HostPort() + "/" + p.Name() }

// At looks an actor up on its node. An actor of this system has to ask for it.
func (s *system) At(address string) *actor.PID {
	hostPort, name, _ := strings.Cut(address, "/")
	host, port, err := net.SplitHostPort(hostPort)
	check(err)
	return must(s.Spawn(script{}).RemoteLookup(ctx, host, must(strconv.Atoi(port)), name))
}

func (s *system) Pack(payload []byte) any { return &parcel{payload} }

func (s *system) Unpack(message any) ([]byte, bool) {
	switch m := message.(type) {
	case *parcel:
		return m.Data, true
	case parcel:
		return m.Data, true
	}
	return nil, false
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
