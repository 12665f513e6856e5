//go:build !quick

package clustertest_test

import (
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A singleton moves to another node when its host leaves. In a test of your own, call Start with
// the test's t, inside synctest.Test, where time is virtual.
func ExampleStart() {
	clustertest.RunExample(func(t testing.TB) {
		c := clustertest.Start(t, 2)
		census := testkit.NewCensus(t)
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
		}
		c.AwaitQuiet()
		fmt.Println("started", census.Started())

		c.Leave("n1")
		c.AwaitQuiet()
		fmt.Println("started", census.Started(), "running", census.Running())
	})
	// Output:
	// started 1
	// started 2 running 1
}

// Faults change the network until Heal.
func ExampleCluster_Sever() {
	clustertest.RunExample(func(t testing.TB) {
		c := clustertest.Start(t, 3)
		c.Sever("n2", "n3")
		c.Heal()
		c.AwaitQuiet()
		fmt.Println(len(c.Node("n2").View().Members), "members")
	})
	// Output: 3 members
}

// A failing run of a Chaos prints its schedule. A schedule can be parsed, and run again.
func ExampleParseSchedule() {
	schedule, err := clustertest.ParseSchedule("3.2s partition n1,n2 | n3 for 12s; 5s crash n3 for 4s")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range schedule {
		fmt.Println(f.Kind, f.Sides, f.For)
	}
	// Output:
	// partition [[n1 n2] [n3]] 12s
	// crash [[n3]] 4s
}

// A Chaos runs a story under random faults. The story says what must hold.
func ExampleChaos_Run() {
	test := func(t *testing.T) {
		clustertest.Chaos{Nodes: 5, Faults: 8}.Run(t, func(r *clustertest.Round) {
			census := testkit.NewCensus(r)
			r.EachNode(func(n *cluster.Node) {
				actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, ticker)), "ticker")
			})
			r.Check(clustertest.OneRunsFinally(census), clustertest.MajoritySurvives())
		})
	}
	_ = test // go test runs it
}
