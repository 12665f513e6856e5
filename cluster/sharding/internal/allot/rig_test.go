package allot

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// A rig has a machine, and nodes that carry out its requests at once.
type rig struct {
	t       *testing.T
	m       *Machine
	now     time.Time
	nodes   []home.Node
	gone    []home.Gone
	busy    map[string]bool // nodes whose shards do not end
	stored  home.Ledger
	effects []home.Effect // others than Send and Push
	inputs  []home.Input
	starts  int
	tokens  home.Token // of requests so far
	last    uint64     // incarnation
	offer   Offer
	leases  map[string]uint64 // the tokens that nodes have
	vacant  int               // shards from this number on have no entities

	lastStart home.StartRequest
}

const rigShards = 8

func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, now: time.Unix(0, 0).UTC(), busy: map[string]bool{}, vacant: rigShards,
		offer: Offer{Type: table.Type{Name: "cart", Shards: rigShards, Message: "m"}, Hosts: true},
	}
	r.begin(1, change...)
	return r
}

// begin starts a coordinator that continues from what is stored.
func (r *rig) begin(epoch uint64, change ...func(*Config)) {
	cfg := Config{Config: home.Config{Epoch: epoch, AckTimeout: 2 * time.Second, Retry: time.Second, RetryMax: time.Minute}, FirstTerm: epoch, HelloWait: time.Second, RebalanceEvery: 10 * time.Second}
	for _, c := range change {
		c(&cfg)
	}
	r.m = New(cfg, r.stored)
	require.Empty(r.t, r.m.Unfit)
	r.do(home.Recovered{})
	r.view()
}

// join adds members, which start the type.
func (r *rig) join(names ...string) {
	for _, name := range names {
		r.nodes = append(r.nodes, home.Node{Name: name, Address: name, Incarnation: r.next(), Up: true, Reachable: true})
	}
	r.view()
}

// leave lets a node leave in good order.
func (r *rig) leave(name string) {
	r.nodes = slices.Clone(r.nodes)
	for i := range r.nodes {
		r.nodes[i].Up = r.nodes[i].Up && r.nodes[i].Name != name
	}
	r.view()
	r.nodes = slices.DeleteFunc(r.nodes, func(n home.Node) bool { return n.Name == name })
	r.view()
}

func (r *rig) view() {
	r.do(home.ViewChanged{Nodes: r.nodes, Gone: r.gone})
	for _, n := range r.nodes {
		r.hello(n)
	}
}

func (r *rig) hello(n home.Node) {
	o := r.offer
	o.Lease, o.Awake = r.leases[n.Name], map[int]int{}
	for shard := range r.vacant {
		o.Awake[shard] = 1
	}
	r.do(Hello{Node: home.IDOf(n), Offers: []Offer{o}})
}

// do gives the machine an input, and what the nodes answer.
func (r *rig) do(in home.Input) {
	r.inputs = append(r.inputs, in)
	if len(r.inputs) > 1 {
		return // the loop below is under way
	}
	for len(r.inputs) > 0 {
		facts, effects := r.m.Step(r.inputs[0], r.now)
		for _, f := range facts {
			r.stored = r.stored.With(f)
		}
		for _, e := range effects {
			r.carryOut(e)
		}
		r.inputs = r.inputs[1:]
	}
}

func (r *rig) carryOut(e home.Effect) {
	send, ok := e.(home.Send)
	if !ok {
		if _, pushed := e.(Push); !pushed {
			r.effects = append(r.effects, e)
		}
		return
	}
	answer := home.FromAgent{Node: send.Node, Incarnation: send.Incarnation}
	switch msg := send.Msg.(type) {
	case home.StartRequest:
		r.starts++
		r.lastStart = msg
		answer.StartAck = &home.StartAck{ID: msg.ID, Label: msg.Label}
	case home.StopRequest:
		if r.busy[send.Node] {
			return
		}
		answer.StopAck = &home.StopAck{ID: msg.ID, Label: msg.Label}
	case home.ReportRequest:
		answer.Report = &home.Report{Epoch: msg.Epoch}
	}
	r.do(home.Received{Message: answer})
}

// pass lets time pass, with the ticks that are due.
func (r *rig) pass(d time.Duration) {
	for end := r.now.Add(d); r.now.Before(end); {
		r.now = r.now.Add(time.Second)
		r.do(home.Tick{})
	}
}

// homes returns how many shards each node has.
func (r *rig) homes() map[string]int {
	all := map[string]int{}
	for n := range rigShards {
		if e := r.m.Explain("cart", n); e.State == "running" {
			all[e.Node]++
		}
	}
	return all
}

func (r *rig) next() uint64 {
	r.last++
	return r.last
}

func (r *rig) on(shard int) string { return r.m.Explain("cart", shard).Node }

// record returns what is stored of a shard.
func (r *rig) record() home.Record { return r.stored.All()[ofShard+Label("cart", 0)] }
