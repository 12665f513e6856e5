package main

import (
	"net"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	"github.com/asynkron/protoactor-go/cluster/clusterproviders/automanaged"
	"github.com/asynkron/protoactor-go/cluster/identitylookup/disthash"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

// A library is protoactor-go with its virtual actors.
type library struct {
	bench.Untyped[actor.Context, *actor.PID]
}

var _ bench.EntityHost = library{}

// The kinds of virtual actors.
const (
	sinks  = "sink"
	adders = "adder"
)

const (
	// refresh is how often members are asked whether they live. It is the provider's default.
	refresh = 2 * time.Second
	// findPause is the time between two looks for the first member.
	findPause = 10 * time.Millisecond
)

// ServeEntities implements [bench.EntityHost]. The address is the one at which members ask each
// other whether they live.
func (library) ServeEntities(newSink func() (got func(payload []byte))) (address string, here bench.Entities) {
	port := freePort()
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	c := newCluster(automanaged.NewWithConfig(refresh, port, address),
		cluster.NewKind(sinks, actor.PropsFromProducer(func() actor.Actor { return sink(newSink()) })),
		cluster.NewKind(adders, actor.PropsFromFunc(add)),
	)
	c.StartMember()
	return address, reach(c)
}

// A sink passes its payloads on.
type sink func(payload []byte)

// Receive implements [actor.Actor].
func (s sink) Receive(c actor.Context) {
	if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
		s(m.Value)
	}
}

func add(c actor.Context) {
	if m, ok := c.Message().(*wrapperspb.BytesValue); ok {
		c.Respond(wrapperspb.Bytes(bench.NumberBytes(bench.BytesNumber(m.Value) + 1)))
	}
}

// DialEntities implements [bench.EntityHost]. The process is a client of the cluster.
func (library) DialEntities(address string) bench.Entities {
	c := newCluster(automanaged.NewWithConfig(refresh, 0, address))
	c.StartClient()
	return reach(c)
}

// reach returns when the cluster finds a virtual actor.
func reach(c *cluster.Cluster) bench.Entities {
	for c.Get("first", adders) == nil {
		time.Sleep(findPause)
	}
	return bench.Entities{
		Send: func(id string, payload []byte) { c.ActorSystem.Root.Send(find(c, id), wrapperspb.Bytes(payload)) },
		Ask: func(id string, n int) int {
			answer, err := c.Request(id, adders, wrapperspb.Bytes(bench.NumberBytes(n)))
			if err != nil {
				panic(err)
			}
			return bench.BytesNumber(answer.(*wrapperspb.BytesValue).Value)
		},
	}
}

// find returns the PID of a sink. A cluster has no method that tells by id: Get returns a PID to
// send to, but asks the other process for it each time. So find looks into the cache of PIDs first,
// as requests by id do.
func find(c *cluster.Cluster, id string) *actor.PID {
	if p, ok := c.PidCache.Get(id, sinks); ok {
		return p
	}
	p := c.Get(id, sinks)
	if p == nil {
		panic("no PID for " + id)
	}
	c.PidCache.Set(id, sinks, p)
	return p
}

// newCluster returns a cluster that is not started yet. The deadline of requests is in its
// configuration, where it costs least.
func newCluster(provider cluster.ClusterProvider, kinds ...*cluster.Kind) *cluster.Cluster {
	return cluster.New(quietSystem(), cluster.Configure("bench", provider, disthash.New(), remoteConfig(),
		cluster.WithKinds(kinds...), cluster.WithRequestTimeout(bench.AskTimeout)))
}

// freePort returns a free port. The provider takes none that means any.
func freePort() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }() // it has been bound
	return l.Addr().(*net.TCPAddr).Port
}
