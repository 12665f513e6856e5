// Command carts is a web shop whose carts are entities of a sharded type, on three processes.
//
//	go run ./examples/carts
//
// Each cart is one actor in the whole cluster. It keeps its items in a journal, SQLite in a
// temporary directory, and sleeps when nobody needs it. Customers add items over HTTP, by any of
// the three servers. One server is killed with SIGKILL meanwhile. In the end the program reads all
// carts and checks that each acknowledged item is in its cart, and once; only then is the exit
// status 0.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/understudy-go/understudy/internal/process"
)

// settings are the values of the flags, which the program sets itself for its servers.
type settings struct {
	node, bind, http, journal string
	seeds                     []string
}

const (
	servers   = 3
	customers = 8
	carts     = 200
)

func main() {
	var s settings
	flag.StringVar(&s.node, "node", "", "run as the server of this name (used by the program itself)")
	flag.StringVar(&s.bind, "bind", "", "address of the node")
	flag.StringVar(&s.http, "http", "", "address of the server")
	flag.StringVar(&s.journal, "journal", "", "path of the journal")
	seeds := flag.String("seeds", "", "addresses of all nodes")
	flag.Parse()
	s.seeds = strings.Split(*seeds, ",")

	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	run := tell
	if s.node != "" {
		run = func(ctx context.Context) error { return serve(ctx, s) }
	}
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "carts:", err)
		os.Exit(1)
	}
}

// tell runs the shop, kills one of its servers, and checks the carts.
func tell(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "carts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, pages, err := open(ctx, filepath.Join(dir, "journal.db"))
	if err != nil {
		return err
	}
	defer func() {
		for _, p := range all {
			p.Kill()
		}
	}()
	fmt.Printf("three servers are open, with %d carts\n", carts)

	shopping, finish := context.WithCancel(ctx)
	defer finish()
	people, left := send(shopping, pages)
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
	return check(ctx, people, pages[1])
}

// open starts the servers, and waits until all are open. pages are their addresses.
func open(ctx context.Context, journal string) (all []*process.Process, pages []string, err error) {
	addresses, err := process.FreeAddresses(2 * servers)
	if err != nil {
		return nil, nil, err
	}
	nodes, pages := addresses[:servers], addresses[servers:]
	for i := range servers {
		p, err := process.Start(process.Self(nil, "-node", fmt.Sprint("server-", i+1), "-bind", nodes[i], "-http", pages[i],
			"-seeds", strings.Join(nodes, ","), "-journal", journal))
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
		for call(ctx, http.MethodGet, "http://"+page+"/carts/cart-0", &items) != nil {
			if err := wait(ctx, 50*time.Millisecond); err != nil {
				return all, nil, err
			}
		}
	}
	return all, pages, nil
}

func send(ctx context.Context, pages []string) (people []*customer, left *sync.WaitGroup) {
	left = &sync.WaitGroup{}
	for i := range customers {
		c := &customer{name: fmt.Sprint("customer-", i), servers: pages, acknowledged: map[string][]string{}}
		people = append(people, c)
		left.Go(func() { c.shop(ctx, carts) })
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
func check(ctx context.Context, people []*customer, page string) error {
	total := 0
	for n := range carts {
		id := fmt.Sprintf("cart-%d", n)
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
