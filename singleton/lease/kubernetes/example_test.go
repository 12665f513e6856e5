package kubernetes_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/kubernetes"
)

// In a pod: give the lease to singleton.Init with the option singleton.WithLease(l), and
// the instance runs only where the lease is held.
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
	held, err := l.Acquire(context.Background())
	fmt.Println(held, err)
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
