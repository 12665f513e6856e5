package carts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/lab/journals"
	"github.com/understudy-go/understudy/internal/process"
)

const (
	servers   = 3
	customers = 8
	carts     = 200
)

// cart returns the id of the n-th cart.
func (s settings) cart(n int) string { return fmt.Sprintf("%s-%d", s.run, n) }

// direct runs the shop, kills one of its servers, and checks the carts.
func direct(ctx context.Context, s settings) error {
	if s.journal == "" {
		dir, err := os.MkdirTemp("", "carts")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.journal = filepath.Join(dir, "journal.db")
	}
	all, pages, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range all {
			p.Kill()
		}
	}()
	fmt.Printf("three servers are open, with %d carts; journal in %s\n", carts, journals.Shown(s.journal))

	shopping, finish := context.WithCancel(ctx)
	defer finish()
	people, left := send(shopping, s, pages)
	if err := wait(ctx, 3*time.Second); err != nil {
		return err
	}
	before := count(people)
	fmt.Printf("%d items have been acknowledged; kill -9 of server 1\n", before)
	all[0].Kill() // the first to start has the coordinator, and most of the carts
	if err := wait(ctx, 10*time.Second); err != nil {
		return err
	}
	finish()
	left.Wait()
	fmt.Printf("%d items have been acknowledged since; nobody waited for longer than %v\n", count(people)-before, longest(people).Round(10*time.Millisecond))
	return check(ctx, s, people, pages[1])
}

// open starts the servers, and waits until all are open. pages are their addresses.
func open(ctx context.Context, s settings) (all []*process.Process, pages []string, err error) {
	addresses, err := process.FreeAddresses(2 * servers)
	if err != nil {
		return nil, nil, err
	}
	nodes, pages := addresses[:servers], addresses[servers:]
	for i := range servers {
		p, err := process.Start(process.Self(nil, "-node", fmt.Sprint("server-", i+1), "-bind", nodes[i], "-http", pages[i],
			"-seeds", strings.Join(nodes, ","), "-journal", s.journal))
		if err != nil {
			return all, nil, err
		}
		all = append(all, p)
	}
	for i, p := range all {
		if line, ok := p.Line(); !ok || line != "open" {
			return all, nil, fmt.Errorf("server %d has not started", i+1)
		}
	}
	for _, page := range pages { // the first answer comes when the shards have homes
		var items []string
		for call(ctx, http.MethodGet, "http://"+page+"/carts/"+s.cart(0), &items) != nil {
			if err := wait(ctx, 50*time.Millisecond); err != nil {
				return all, nil, err
			}
		}
	}
	return all, pages, nil
}

func send(ctx context.Context, s settings, pages []string) (people []*customer, left *sync.WaitGroup) {
	left = &sync.WaitGroup{}
	for i := range customers {
		c := &customer{name: fmt.Sprint("customer-", i), servers: pages, acknowledged: map[string][]string{}}
		people = append(people, c)
		left.Go(func() { c.shop(ctx, s) })
	}
	return people, left
}

func count(people []*customer) (items int) {
	for _, c := range people {
		items += c.count()
	}
	return items
}

func longest(people []*customer) (wait time.Duration) {
	for _, c := range people {
		wait = max(wait, c.longest)
	}
	return wait
}

// check reads all carts by one server.
func check(ctx context.Context, s settings, people []*customer, page string) error {
	total := 0
	for n := range carts {
		id := s.cart(n)
		var items []string
		if err := call(ctx, http.MethodGet, "http://"+page+"/carts/"+id, &items); err != nil {
			return err
		}
		times := map[string]int{}
		for _, item := range items {
			times[item]++
		}
		for _, c := range people {
			for _, item := range c.acknowledged[id] {
				if times[item] != 1 {
					return fmt.Errorf("%s was acknowledged, and is in %s %d times", item, id, times[item])
				}
				total++
			}
		}
	}
	fmt.Printf("all %d acknowledged items are in their carts, each once\n", total)
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}
