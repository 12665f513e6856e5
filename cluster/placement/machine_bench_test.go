package placement

import (
	"fmt"
	"testing"
	"time"
)

// A benchFleet is a machine, and agents that do at once what they are told.
type benchFleet struct {
	m     *machine
	now   time.Time
	token token
	nodes []Node
}

func newBenchFleet(nodes int) *benchFleet {
	cfg := rigConfig
	cfg.epoch = 1
	f := &benchFleet{m: newMachine(cfg), now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	for i := range nodes {
		name := fmt.Sprintf("node-%02d", i)
		f.nodes = append(f.nodes, Node{Name: name, Address: name, Incarnation: 1, UpNumber: uint64(i + 1), Up: true, Reachable: true})
	}
	f.step(begun{})
	f.step(viewSeen{nodes: f.nodes})
	return f
}

func (f *benchFleet) step(in input) {
	_, effects := f.m.step(in, f.now)
	for _, e := range effects {
		switch e := e.(type) {
		case call:
			f.step(sourced{call: e.call})
		case send:
			said := fromAgent{Node: e.node, Incarnation: e.incarnation}
			switch m := e.msg.(type) {
			case startRequest:
				said.StartAck = &startAck{ID: m.ID, Label: m.Label}
			case stopRequest:
				said.StopAck = &stopAck{ID: m.ID, Label: m.Label}
			case reportRequest:
				said.Report = &report{Epoch: m.Epoch}
			}
			f.step(heard{said})
		case reply:
			if e.err != nil {
				panic(e.err)
			}
		}
	}
}

func (f *benchFleet) submit(label string) {
	f.token++
	f.step(submit{token: f.token, spec: specOf(label)})
}

// Decisions alone: no journal, no network.
func BenchmarkMachineSubmits(b *testing.B) {
	for _, there := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("beside=%d", there), func(b *testing.B) {
			f := newBenchFleet(5)
			for i := range there {
				f.submit(fmt.Sprintf("there/%d", i))
			}
			n := 0
			for b.Loop() {
				n++
				label := fmt.Sprintf("s/%d", n)
				f.submit(label)
				f.token++
				f.step(remove{token: f.token, label: label})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submits+removes/s")
		})
	}
}

func BenchmarkMachinePlaces1000Anew(b *testing.B) {
	f := newBenchFleet(5)
	for i := range 5000 {
		f.submit(fmt.Sprintf("s/%d", i))
	}
	incarnation := uint64(1)
	for b.Loop() {
		f.step(viewSeen{nodes: f.nodes[1:]})
		b.StopTimer()
		incarnation++
		f.nodes[0].Incarnation = incarnation
		f.step(viewSeen{nodes: f.nodes})
		for n := 0; len(f.m.fleet.nodes[nodeID{name: "node-00", incarnation: incarnation}].Actors) < 1000; n++ {
			label := fmt.Sprintf("more/%d/%d", incarnation, n)
			f.submit(label)
			f.token++
			f.step(remove{token: f.token, label: f.m.fleet.view().Nodes[1+n%4].Actors[0]})
		}
		b.StartTimer()
	}
}
