package placement

import (
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A benchCluster is a planner with agents that carry out each request at once.
type benchCluster struct {
	m     *planner
	now   time.Time
	token home.Token
	nodes []home.Node
}

func newBenchCluster(nodes int) *benchCluster {
	cfg := rigConfig
	cfg.Epoch = 1
	f := &benchCluster{m: newPlanner(cfg), now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	for i := range nodes {
		name := fmt.Sprintf("node-%02d", i)
		f.nodes = append(f.nodes, home.Node{Name: name, Address: name, Incarnation: 1, UpNumber: uint64(i + 1), Up: true, Reachable: true})
	}
	f.step(home.Recovered{})
	f.step(home.ViewChanged{Nodes: f.nodes})
	return f
}

func (f *benchCluster) step(in home.Input) {
	_, effects := f.m.Step(in, f.now)
	for _, e := range effects {
		switch e := e.(type) {
		case home.Send:
			said := home.FromAgent{Node: e.Node, Incarnation: e.Incarnation}
			switch m := e.Msg.(type) {
			case home.StartRequest:
				said.StartAck = &home.StartAck{ID: m.ID, Label: m.Label}
			case home.StopRequest:
				said.StopAck = &home.StopAck{ID: m.ID, Label: m.Label}
			case home.ReportRequest:
				said.Report = &home.Report{Epoch: m.Epoch}
			}
			f.step(home.Received{Message: said})
		case home.Reply:
			if e.Err != nil {
				panic(e.Err)
			}
		}
	}
}

func (f *benchCluster) submit(label string) {
	f.token++
	f.step(submit{Token: f.token, Spec: specOf(label)})
}

// Decisions alone: no journal, no network.
func BenchmarkMachineSubmits(b *testing.B) {
	for _, there := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("beside=%d", there), func(b *testing.B) {
			f := newBenchCluster(5)
			for i := range there {
				f.submit(fmt.Sprintf("there/%d", i))
			}
			n := 0
			for b.Loop() {
				n++
				label := fmt.Sprintf("s/%d", n)
				f.submit(label)
				f.token++
				f.step(remove{Token: f.token, Label: label})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submits+removes/s")
		})
	}
}

func BenchmarkMachinePlaces1000Anew(b *testing.B) {
	f := newBenchCluster(5)
	for i := range 5000 {
		f.submit(fmt.Sprintf("s/%d", i))
	}
	incarnation := uint64(1)
	for b.Loop() {
		f.step(home.ViewChanged{Nodes: f.nodes[1:]})
		b.StopTimer()
		incarnation++
		f.nodes[0].Incarnation = incarnation
		f.step(home.ViewChanged{Nodes: f.nodes})
		for n := 0; f.actorsOnFirst() < 1000; n++ {
			label := fmt.Sprintf("more/%d/%d", incarnation, n)
			f.submit(label)
			f.token++
			f.step(remove{Token: f.token, Label: f.m.nodes.View().Nodes[1+n%4].Actors[0]})
		}
		b.StartTimer()
	}
}

// actorsOnFirst returns how many actors are on the first node.
func (f *benchCluster) actorsOnFirst() int {
	n, _ := f.m.nodes.Member(f.nodes[0].Name)
	return len(n.Actors)
}
