package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// load starts the servers, sends more payments than the fund can make, has its host leave and the
// next one killed, and checks the journal. The rates are of new payments; those who try again come
// on top.
func load(ctx context.Context, s settings) (err error) {
	all, err := open(ctx, s)
	defer func() { all.close(err != nil) }()
	if err != nil {
		return err
	}
	t := &table{}
	c := newCustomers(all.addresses, t.note)
	capacity := c.capacity(ctx, 2*time.Second)
	fmt.Printf("%d servers; the fund can make %.0f payments a second\n\n", servers, capacity)

	high, failover := time.Duration(s.seconds)*time.Second, s.node.Expected().FailoverFenced
	t.begin("a third of that")
	c.pay(ctx, capacity/3, high/2)
	t.begin("three times that")
	c.pay(ctx, capacity*3, high)
	t.begin("a third, and many tries again")
	c.pay(ctx, capacity/3, 2*tries*time.Second)
	t.begin("a third")
	c.pay(ctx, capacity/3, high/2)
	if _, err := all.end(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	t.begin("its host leaves")
	c.use(all.addresses)
	c.pay(ctx, capacity/3, high/2)
	host, err := all.end(ctx, syscall.SIGKILL)
	if err != nil {
		return err
	}
	killed := t.begin("its host is killed")
	c.use(all.addresses)
	c.pay(ctx, capacity/3, failover)
	t.begin("there is a next host")
	c.pay(ctx, capacity/3, high)
	c.left.Wait()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	t.print()
	fmt.Printf("\n%s was killed. The next host made a payment after %.1fs; Expected says at most %.1fs.\n",
		host, t.firstAfter(killed).Seconds(), failover.Seconds())
	return errors.Join(t.surprise, checkFile(ctx, s.journal, c.all))
}
