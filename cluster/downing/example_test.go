package downing_test

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
)

// A cluster of three splits in two. The example prints what the node on one side should do.
func Example() {
	cut := downing.Situation{
		Members: []downing.Member{
			{Name: "a", Address: "10.0.0.1:7355", UpNumber: 1, Self: true},
			{Name: "b", Address: "10.0.0.2:7355", UpNumber: 2, UnreachableBy: []string{"10.0.0.1:7355"}},
			{Name: "c", Address: "10.0.0.3:7355", UpNumber: 3, UnreachableBy: []string{"10.0.0.1:7355"}},
		},
		Stable: 3 * time.Second,
	}
	for _, s := range []downing.Strategy{
		downing.KeepMajority{},
		downing.StaticQuorum{Size: 2},
		downing.KeepOldest{KeepAlone: true},
		downing.KeepReferee{Name: "a"},
	} {
		d := s.Decide(cut)
		fmt.Println(s)
		for _, m := range d.Down {
			fmt.Println("\tdown:", m.Name)
		}
		fmt.Println("\tas", d.Reason)
	}
	// Output:
	// keep-majority(stable-after=3s, role="", keep-unstable=false)
	// 	down: a
	// 	as this side is not the majority
	// static-quorum(size=2, stable-after=3s, role="", keep-unstable=false)
	// 	down: a
	// 	as this side has 1 members of a quorum of 2
	// keep-oldest(keep-alone=true, stable-after=3s, role="", keep-unstable=false)
	// 	down: b
	// 	down: c
	// 	as the oldest member is on this side
	// keep-referee(name="a", quorum=1, stable-after=3s, keep-unstable=false)
	// 	down: b
	// 	down: c
	// 	as the referee "a" is on this side
}
