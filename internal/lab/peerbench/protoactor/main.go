// Command protoactor runs the scenarios of peerbench on protoactor-go.
package main

import (
	"io"
	"log/slog" //nolint:depguard // protoactor-go is given its logger
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/asynkron/protoactor-go/scheduler"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{"default": contender(), "lock-free": contender(actor.WithMailbox(actor.UnboundedLockfree()))})
}

// contender is github.com/asynkron/protoactor-go, whose actors have these options.
func contender(options ...actor.PropsOption) library {
	return library{bench.Untyped[actor.Context, *actor.PID]{New: func(remoting bool) bench.Library[actor.Context, *actor.PID] {
		s := quietSystem()
		if remoting {
			remote.NewRemote(s, remoteConfig()).Start()
		}
		return system{s, s.Root, scheduler.NewTimerScheduler(s.Root), options}
	}}}
}

// quietSystem returns a system whose log is not written.
func quietSystem() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))
}

// remoteConfig allows messages of any size: a batch may have several of the largest.
func remoteConfig() *remote.Config {
	config := remote.Configure("127.0.0.1", 0)
	most := 1 << 30
	config.ServerOptions = append(config.ServerOptions, grpc.MaxRecvMsgSize(most), grpc.MaxSendMsgSize(most))
	config.CallOptions = append(config.CallOptions, grpc.MaxCallRecvMsgSize(most), grpc.MaxCallSendMsgSize(most))
	return config
}

type system struct {
	system  *actor.ActorSystem
	root    *actor.RootContext
	clock   *scheduler.TimerScheduler
	options []actor.PropsOption
}

func (s system) props(a bench.Actor[actor.Context]) *actor.Props {
	return actor.PropsFromFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *actor.Started:
			if a.Started != nil {
				a.Started()
			}
		case *actor.Stopping:
		case *actor.Stopped:
			if a.Stopped != nil {
				a.Stopped()
			}
		default:
			if a.Receive != nil {
				a.Receive(c, m)
			}
		}
	}, s.options...)
}

func (s system) Spawn(a bench.Actor[actor.Context]) *actor.PID { return s.root.Spawn(s.props(a)) }

func (s system) SpawnChild(c actor.Context, a bench.Actor[actor.Context]) *actor.PID {
	return c.Spawn(s.props(a))
}

func (s system) Send(to *actor.PID, message any) { s.root.Send(to, message) }

func (s system) Tell(c actor.Context, to *actor.PID, message any) { c.Send(to, message) }

func (s system) Ask(to *actor.PID, message any, timeout time.Duration) (any, error) {
	return s.root.RequestFuture(to, message, timeout).Result()
}

func (s system) Respond(c actor.Context, answer any) { c.Respond(answer) }

func (s system) Self(c actor.Context) *actor.PID { return c.Self() }

func (s system) Stop(c actor.Context, p *actor.PID) { c.Stop(p) }

func (s system) After(c actor.Context, d time.Duration, message any) (fired func()) {
	s.clock.SendOnce(d, c.Self(), message)
	return nil
}

func (s system) Address(p *actor.PID) string { return s.system.Address() + "/" + p.Id }

func (s system) At(address string) *actor.PID {
	host, id, _ := strings.Cut(address, "/")
	return actor.NewPID(host, id)
}

func (s system) Pack(payload []byte) any { return &wrapperspb.BytesValue{Value: payload} }

func (s system) Unpack(message any) ([]byte, bool) {
	m, ok := message.(*wrapperspb.BytesValue)
	if !ok {
		return nil, false
	}
	return m.Value, true
}
