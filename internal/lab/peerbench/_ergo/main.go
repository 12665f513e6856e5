// Command ergo runs the scenarios of peerbench on ergo 3, without remote tells: only those of a
// process keep their order. It is compiled with a checkout of it, by peerbench -ergo=DIR.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"ergo.services/ergo"
	"ergo.services/ergo/act"
	"ergo.services/ergo/gen"
	"ergo.services/ergo/net/edf"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

type script = bench.Actor[*process]

func main() {
	bench.Main(map[string]bench.Contender{"default": bench.Untyped[*process, gen.PID]{New: start}})
}

// parcel is the message of the remote scenarios.
type parcel struct{ Data []byte }

func start(remoting bool) bench.Library[*process, gen.PID] {
	var options gen.NodeOptions
	options.Network.Mode = gen.NetworkModeDisabled
	if remoting {
		options.Network.Mode, options.Network.Cookie = gen.NetworkModeEnabled, "bench"
		check(edf.RegisterTypeOf(parcel{}))
	}
	options.Log.DefaultLogger.Disable = true
	return node{must(ergo.StartNode(gen.Atom(fmt.Sprintf("bench%d@localhost", os.Getpid())), options))}
}

type node struct{ gen.Node }

// A process is the actor for a script.
type process struct {
	act.Actor
	script   script
	answer   any  // to the request that is being handled
	stopping bool // it has stopped itself
}

func factory(a script) gen.ProcessFactory {
	return func() gen.ProcessBehavior { return &process{script: a} }
}

func (p *process) Init(...any) error {
	if p.script.Started != nil {
		p.script.Started()
	}
	return nil
}

func (p *process) HandleMessage(_ gen.PID, message any) error {
	if inside, ok := message.(func(*process)); ok {
		inside(p)
	} else if p.script.Receive != nil {
		p.script.Receive(p, message)
	}
	return p.reason()
}

func (p *process) HandleCall(_ gen.PID, _ gen.Ref, request any) (any, error) {
	p.script.Receive(p, request)
	return p.answer, p.reason()
}

func (p *process) Terminate(error) {
	if p.script.Stopped != nil {
		p.script.Stopped()
	}
}

func (p *process) reason() error {
	if p.stopping {
		return gen.TerminateReasonNormal
	}
	return nil
}

func (n node) Spawn(a script) gen.PID { return must(n.Node.Spawn(factory(a), gen.ProcessOptions{})) }

func (n node) SpawnChild(p *process, a script) gen.PID {
	return must(p.Spawn(factory(a), gen.ProcessOptions{}))
}

func (n node) Send(to gen.PID, message any) { check(n.Node.Send(to, message)) }

func (n node) Tell(p *process, to gen.PID, message any) { check(p.Send(to, message)) }

// Enter runs loop in a process of its own, because only a process can ask.
func (n node) Enter(loop func(ask func(to gen.PID, message any, timeout time.Duration) (any, error))) {
	done := make(chan struct{})
	n.Send(n.Spawn(script{}), func(p *process) {
		defer close(done)
		loop(func(to gen.PID, message any, timeout time.Duration) (any, error) {
			return p.CallWithTimeout(to, message, int(timeout/time.Second))
		})
	})
	<-done
}

func (n node) Ask(gen.PID, any, time.Duration) (any, error) { panic("only a process can ask") }

func (n node) Respond(p *process, answer any) { p.answer = answer }

func (n node) Self(p *process) gen.PID { return p.PID() }

func (n node) Stop(p *process, other gen.PID) {
	if other == p.PID() {
		p.stopping = true
		return
	}
	check(p.SendExit(other, gen.TerminateReasonNormal))
}

func (n node) After(p *process, d time.Duration, message any) (fired func()) {
	must(p.SendAfter(p.PID(), message, d))
	return nil
}

func (n node) Address(p gen.PID) string {
	return fmt.Sprintf("%s/%d/%d", string(p.Node), p.ID, p.Creation)
}

func (n node) At(address string) (p gen.PID) {
	at := strings.Split(address, "/")
	return gen.PID{Node: gen.Atom(at[0]), ID: must(strconv.ParseUint(at[1], 10, 64)), Creation: must(strconv.ParseInt(at[2], 10, 64))}
}

func (n node) Pack(payload []byte) any { return parcel{payload} }

func (n node) Unpack(message any) ([]byte, bool) {
	m, ok := message.(parcel)
	return m.Data, ok
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
