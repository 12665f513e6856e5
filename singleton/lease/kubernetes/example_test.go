package kubernetes_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/kubernetes"
)

// In a pod: the singleton runs only where the lease is held, and its generation has the
// token of the lease.
func ExampleInCluster() {
	store, err := kubernetes.InCluster()
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := lease.New(store, "GlobalCounter", os.Getenv("HOSTNAME"), lease.Settings{TTL: 15 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	system := actor.NewSystem("counter") // in a cluster: what cluster.Start returns
	counter := actor.Spawn(system, behaviors.Singleton(newCounter, singleton.WithLease(l)), "GlobalCounter")
	counter.Tell(Increment{By: 1})
	if err := system.Shutdown(context.Background()); err != nil { // gives the lease back
		fmt.Println(err)
	}
}

// Increment makes the counter count on.
type Increment struct{ By int }

func newCounter() actor.Behavior[Increment] {
	total := 0
	return behaviors.Receive(func(_ *actor.Context[Increment], msg Increment) actor.Behavior[Increment] {
		total += msg.By
		return behaviors.Same
	})
}

// From outside of a cluster everything is said.
func ExampleConnect() {
	_, err := kubernetes.Connect(kubernetes.Config{Server: "https://api.example.com:6443", Namespace: "demo"})
	fmt.Println(err)
	// Output:
	// kubernetes.Config: CAFile is missing: Server, CAFile, TokenFile and Namespace go together
}

func ExampleObjectName() {
	fmt.Println(kubernetes.ObjectName("global-counter"))
	fmt.Println(kubernetes.ObjectName("GlobalCounter"))
	// Output:
	// global-counter
	// globalcounter-2f93adfa61314fff9230
}
