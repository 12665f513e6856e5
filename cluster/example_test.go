package cluster_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/cluster"
)

func ExampleStart() {
	ctx := context.Background()
	first, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "first"})
	if err != nil {
		fmt.Println(err)
		return
	}

	second, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "second", Seeds: []string{first.Address()}})
	if err != nil {
		fmt.Println(err)
		return
	}

	leader, _ := second.View().Leader()
	fmt.Println(leader.Name, "leads", len(second.View().Members), "members")
	fmt.Println(second.Leave(ctx), first.Leave(ctx))
	// Output:
	// first leads 2 members
	// <nil> <nil>
}

func ExampleNode_Views() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "only"})
	if err != nil {
		fmt.Println(err)
		return
	}
	left := make(chan error)
	for v := range node.Views(ctx) {
		fmt.Println(v.Self.Name, "is", v.Self.Status)
		if v.Self.Status == cluster.Up {
			go func() { left <- node.Leave(ctx) }()
			break
		}
	}
	fmt.Println(<-left)
	// Output:
	// only is up
	// <nil>
}
