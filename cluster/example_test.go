package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
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

// Nodes that find each other through DNS found a cluster when at least MinSeeds of them are found.
func ExampleDiscovery() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := cluster.Start(ctx, cluster.Config{
		Name:      "shop",
		Bind:      "127.0.0.1:0",
		Discovery: cluster.DNS{Host: "127.0.0.1", Port: 7355}, // in production: the name of a headless service
		MinSeeds:  2,
	})
	fmt.Println("alone:", errors.Is(err, context.DeadlineExceeded))
	// Output: alone: true
}

func ExampleNode_Handler() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "only"})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
	server := httptest.NewServer(mux) // a program has an http.Server
	defer server.Close()

	answer, err := http.Get(server.URL + "/cluster/readyz?verbose")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Printf("%s%v\n", text, err)
	fmt.Println(node.Leave(ctx))
	// Output:
	// [+]membership ok
	// [+]agreement ok
	// readyz check passed
	// <nil>
	// <nil>
}

func ExampleSubscribe() {
	ctx := context.Background()
	node, err := cluster.Start(ctx, cluster.Config{Name: "shop", NodeID: "only"})
	if err != nil {
		fmt.Println(err)
		return
	}
	said := make(chan string)
	var before cluster.View
	watcher := actor.Spawn(node, behaviors.Receive(func(_ *actor.Context[cluster.View], v cluster.View) actor.Behavior[cluster.View] {
		for _, e := range v.Since(before) {
			if e, ok := e.(cluster.MemberUp); ok {
				said <- e.Member.Name + " is up"
			}
		}
		before = v
		return nil
	}), "watcher")
	defer cluster.Subscribe(node, watcher)()
	fmt.Println(<-said)
	fmt.Println(node.Leave(ctx))
	// Output:
	// only is up
	// <nil>
}
