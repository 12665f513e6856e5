package placement_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A submitted spec runs at most once during faults of real nodes, and exactly once after them. The
// coordinator knows where.
func TestInChaosEachSpecRunsOnceAtMost(t *testing.T) {
	effort.Verify(t)
	clustertest.Chaos{
		Nodes: 4, Faults: 6, ShrinkRuns: -1,
		Kinds:   chaosKinds,
		Options: []clustertest.Option{profile},
	}.Run(t, chaosStory)
}

// chaosKinds are all faults except pauses and wrong clocks, against which the margin does not
// protect.
var chaosKinds = []clustertest.Kind{
	clustertest.Crash, clustertest.Leave, clustertest.Partition, clustertest.Isolate, clustertest.OneWay,
	clustertest.Delay, clustertest.Lose, clustertest.Duplicate,
}

func chaosStory(r *clustertest.Round) {
	var mu sync.Mutex // guards clients
	clients := map[string]*placement.Coordinator{}
	r.EachNode(func(n *cluster.Node) {
		c, err := placement.Start(n, placement.Config{Factories: kinds})
		if err != nil {
			r.Fatalf("%v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		clients[n.View().Self.Name] = c
	})
	time.Sleep(10 * time.Second)
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	run := fmt.Sprintf("%s-%p", r.Name(), r)
	var labels []string
	for i := range 8 {
		label := fmt.Sprintf("%s/%d", run, i)
		s := counters.Spec(label, origin{Plan: label})
		switch i % 4 {
		case 1:
			s = s.WithCrashStrategy(placement.WaitForReturn(20 * time.Second))
		case 2:
			s = s.WithConstraints(placement.Constraints{AntiAffinity: []string{labels[0]}})
		case 3:
			s = s.WithConstraints(placement.Constraints{ColocateWith: labels[len(labels)-1]})
		}
		if _, err := clients["n1"].Submit(ctx, s); err != nil {
			r.Fatalf("%v", err)
		}
		labels = append(labels, label)
	}
	for i, anchor := range []placement.Anchor{placement.Leader(), placement.OnNode("n2"), placement.Role("role-n3")} {
		label := fmt.Sprintf("%s/single%d", run, i)
		if _, err := clients["n1"].StartSingleton(ctx, counters.Singleton(label, origin{Plan: label}, anchor)); err != nil {
			r.Fatalf("%v", err)
		}
		labels = append(labels, label)
	}
	r.Always("one at most", func() error {
		for _, label := range labels {
			if _, peak := planOf(label).alive(); peak > 1 {
				return fmt.Errorf("there were %d of %s", peak, label)
			}
		}
		return nil
	})
	r.Finally("one", func() error {
		time.Sleep(3 * time.Minute)
		for _, label := range labels {
			if now, _ := planOf(label).alive(); now != 1 {
				return fmt.Errorf("there are %d of %s", now, label)
			}
		}
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		for _, n := range r.Nodes() {
			mu.Lock()
			client := clients[n.View().Self.Name]
			mu.Unlock()
			specs, err := client.Specs(ctx)
			if err != nil {
				return err
			}
			for _, s := range specs {
				if s.State != placement.Running {
					return fmt.Errorf("%s is %s: %s", s.Spec.Label, s.State, s.LastError)
				}
			}
		}
		return nil
	})
}
