package reminders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
)

// overdue is how long after the last due time the program waits for reminders.
const overdue = 15 * time.Second

// direct sets reminders, kills a node, and checks what the recipient has got.
func direct(ctx context.Context, s settings) error {
	if s.journal == "" {
		dir, err := os.MkdirTemp("", "reminders")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.journal = filepath.Join(dir, "journal.db")
	}
	to, err := openRecipient()
	if err != nil {
		return err
	}
	defer to.close()
	s.recipient = to.url
	nodes, err := start(ctx, s)
	defer nodes.close()
	if err != nil {
		return err
	}
	fmt.Printf("three nodes run, with %d customers; journal in %s\n", customers, journals.Shown(s.journal))
	return s.tell(ctx, nodes, to)
}

func (s settings) tell(ctx context.Context, nodes *trio, to *recipient) error {
	begin := time.Now().Truncate(time.Second).Add(time.Second)
	all := s.plan(begin)
	finished := pursueAll(ctx, all, nodes.addresses)
	if err := waitUntil(ctx, begin.Add(killAfter)); err != nil {
		return errors.Join(err, finished())
	}
	killed, err := killBusiest(ctx, nodes, to)
	if err := errors.Join(err, finished()); err != nil {
		return err
	}
	if err := s.waitForAll(ctx, nodes.addresses, all); err != nil {
		return err
	}
	r := compare(all, to.receipts(), killed)
	r.print()
	return r.verdict()
}

// pursueAll begins to set and cancel all reminders. finished waits for the end.
func pursueAll(ctx context.Context, all []*wish, addresses []string) (finished func() error) {
	var running sync.WaitGroup
	errs := make([]error, len(all))
	for i, w := range all {
		at := i % len(addresses) // customers spread over the nodes
		running.Go(func() { errs[i] = w.pursue(ctx, slices.Concat(addresses[at:], addresses[:at])) })
	}
	return func() error {
		running.Wait()
		if ctx.Err() != nil {
			return errInterrupted
		}
		return errors.Join(errs...)
	}
}

// killBusiest kills the node that has delivered most, while it delivers once more.
func killBusiest(ctx context.Context, nodes *trio, to *recipient) (at time.Time, err error) {
	count, total, busiest := to.byNode(), 0, ""
	for node, n := range count {
		total += n
		if n > count[busiest] {
			busiest = node
		}
	}
	if busiest == "" {
		return at, fmt.Errorf("no reminder was delivered within %v; if the machine is busy, run it again later", killAfter)
	}
	select {
	case <-to.next(busiest):
	case <-time.After(3 * time.Second): // it delivers no more
	case <-ctx.Done():
		return at, errInterrupted
	}
	at = time.Now()
	nodes.all[busiest].Kill()
	fmt.Printf("%d reminders have been delivered, %d of them by %s: kill -9 of %s\n", total, count[busiest], busiest, busiest)
	return at, nil
}

// waitForAll waits until no customer has a reminder that is still to come.
func (s settings) waitForAll(ctx context.Context, addresses []string, all []*wish) error {
	last := slices.MaxFunc(all, func(a, b *wish) int { return a.due.Compare(b.due) }).due
	if err := waitUntil(ctx, last); err != nil {
		return err
	}
	for n := range customers {
		for {
			var keys []string
			if _, err := insist(ctx, http.MethodGet, addresses, s.customer(n), &keys); err != nil {
				return err
			}
			if len(keys) == 0 {
				break
			}
			if time.Now().After(last.Add(overdue)) {
				return fmt.Errorf("%s of %s: neither delivered nor cancelled %v after the last reminder was due; "+
					"run again with -journal PATH and look at the table timer of that database", strings.Join(keys, ", "), s.customer(n), overdue)
			}
			if err := waitUntil(ctx, time.Now().Add(pause)); err != nil {
				return err
			}
		}
	}
	return nil
}
