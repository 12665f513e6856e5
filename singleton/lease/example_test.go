package lease_test

import (
	"context"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// Two processes contend for one name; the second one gets it when the first is done.
func ExampleNew() {
	ctx := context.Background()
	store := lease.NewMemory() // or a store in a database, etcd or Kubernetes
	contender := func(owner string) lease.Lease {
		l, err := lease.New(store, "nightly-report", owner, lease.Settings{TTL: 15 * time.Second})
		if err != nil {
			panic(err)
		}
		return l
	}
	first, second := contender("node-1"), contender("node-2")

	held, err := first.Acquire(ctx)
	fmt.Println(first, held, err, "token", first.Token())
	held, err = second.Acquire(ctx)
	fmt.Println(second, held, err)

	fmt.Println(first.Release(ctx))
	held, err = second.Acquire(ctx)
	fmt.Println(second, held, err, "token", second.Token())
	fmt.Println(second.Release(ctx))

	// Output:
	// nightly-report of node-1 true <nil> token 1
	// nightly-report of node-2 false <nil>
	// <nil>
	// nightly-report of node-2 true <nil> token 2
	// <nil>
}

// When a lease is lost, what it protects stops, whatever the reason of the loss.
func ExampleLease() {
	store := lease.NewMemory()
	l := store.Lease("nightly-report", "node-1", time.Second)
	stop := make(chan error, 1)
	l.OnLost(func(reason error) { stop <- reason })
	if held, err := l.Acquire(context.Background()); !held || err != nil {
		return
	}
	store.Usurp("nightly-report", "an operator", time.Minute)
	fmt.Println(<-stop, l.Valid())
	// Output: lease: lost: an operator has it false
}

// A store in memory shows what becomes of a program whose backend fails.
func ExampleMemory() {
	store := lease.NewMemory()
	store.SetOutage(lease.ErrUnavailable)
	held, err := store.Lease("nightly-report", "node-1", 30*time.Millisecond).Acquire(context.Background())
	fmt.Println(held, err)
	// Output: false acquire lease "nightly-report": lease: the store cannot be reached
}
