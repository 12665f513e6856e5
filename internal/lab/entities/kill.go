package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/process"
)

const (
	hosts = 3

	// killed is the node that is killed: the oldest one, which has the coordinator as well.
	killed = "n1"

	// patience is how long an ask may take.
	patience = 30 * time.Second

	// wakers is how many entities are woken at once.
	wakers = 2000
)

// A kill is one measurement: entities on three processes, asks from a fourth, and one of the three
// killed.
type kill struct {
	entities int
	stored   bool
	woken    time.Duration // how long it took to wake them all
	nodes    []memory      // before the kill
	lost     int           // entities of the killed node
	seconds  []second
	first    time.Duration // until an entity of the killed node has answered
	whole    time.Duration // until the last ask was over that was sent to such an entity at the kill or later, and had to wait
}

// A stage has the processes of a measurement.
type stage struct {
	nodes []*process.Process
	of    *sharding.Region[Question]
	at    []uint8 // the number of the node of each entity, from 1
}

func measureKill(ctx context.Context, set settings, entities int, stored bool) (k kill, err error) {
	k = kill{entities: entities, stored: stored}
	free, err := process.FreeAddresses(hosts + 1)
	if err != nil {
		return k, err
	}
	dir, err := os.MkdirTemp("", "entities")
	if err != nil {
		return k, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing is measured any more
	cfg := nodeConfig{Seeds: free[:1]}
	if stored {
		cfg.Database = filepath.Join(dir, "journal.db")
	}
	s := &stage{at: make([]uint8, entities)}
	defer func() {
		for _, p := range s.nodes {
			p.Kill()
		}
	}()
	for n := range hosts {
		cfg.Name, cfg.Bind = fmt.Sprint("n", n+1), free[n]
		if err := s.start(cfg); err != nil {
			return k, err
		}
	}
	cfg.Name, cfg.Bind = "client", free[hosts]
	node, of, end, err := startRegion(ctx, cfg, sharding.ProxyOnly())
	if err != nil {
		return k, err
	}
	defer end()
	defer func() { _ = node.Shutdown(context.WithoutCancel(ctx)) }() // nothing is measured any more
	s.of = of
	if err := s.balanced(ctx); err != nil {
		return k, err
	}
	if k.woken, err = s.wake(ctx); err != nil {
		return k, err
	}
	if k.nodes, err = s.memory(); err != nil {
		return k, err
	}
	for _, at := range s.at {
		if at == 1 {
			k.lost++
		}
	}
	progress("%d entities are awake after %v", entities, k.woken.Round(time.Millisecond))
	all, err := s.load(ctx, set)
	if err != nil {
		return k, err
	}
	k.seconds = slices.DeleteFunc(bySecond(all), func(of second) bool { // the first and the last are not whole
		return of.from < -int(set.before.Seconds()) || of.from >= int(set.after.Seconds())
	})
	was := func(entity int) bool { return s.at[entity] == 1 }
	var ok bool
	if k.first, ok = firstWoken(all, was, killed); !ok {
		return k, errors.New("no entity of the killed node has answered")
	}
	k.whole = recovered(all)
	return k, nil
}

func progress(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stderr, format+"\n", args...) // nobody may be reading
}

func (s *stage) start(cfg nodeConfig) error {
	text, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	p, err := process.Start(process.Self([]string{nodeEnv + "=" + string(text)}))
	if err != nil {
		return err
	}
	s.nodes = append(s.nodes, p)
	_, err = s.memoryOf(p) // it runs
	return err
}

// balanced waits until each node has about a third of the shards. The first has all at the
// beginning.
func (s *stage) balanced(ctx context.Context) error {
	progress("waiting for the shards to be balanced, some two minutes")
	for {
		homes := map[string]int{}
		for _, shard := range s.of.Stats().Shards {
			if shard.Home != "" {
				homes[shard.Home]++
			}
		}
		even := len(homes) == hosts
		for _, n := range homes {
			even = even && n >= sharding.DefaultShards/hosts
		}
		if even {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// ask asks an entity on which node it is.
func (s *stage) ask(ctx context.Context, entity int) (node string, err error) {
	return actor.AskTimeout(ctx, s.of.Ref(strconv.Itoa(entity)), patience, func(r actor.ActorRef[string]) Question { return Question{ReplyTo: r} })
}

// wake asks each entity once, and notes where it is.
func (s *stage) wake(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	var next atomic.Int64
	var waking sync.WaitGroup
	errs := make([]error, wakers)
	for w := range wakers {
		waking.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(s.at) && errs[w] == nil; n = int(next.Add(1)) - 1 {
				var node string
				node, errs[w] = s.ask(ctx, n)
				for i := range hosts {
					if node == fmt.Sprint("n", i+1) {
						s.at[n] = uint8(i) + 1
					}
				}
			}
		})
	}
	waking.Wait()
	return time.Since(began), errors.Join(errs...)
}

// memory returns how much each node uses.
func (s *stage) memory() (all []memory, err error) {
	for _, p := range s.nodes {
		m, err := s.memoryOf(p)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (s *stage) memoryOf(p *process.Process) (m memory, err error) {
	if err := p.Tell("memory"); err != nil {
		return m, err
	}
	line, ok := p.Line()
	if !ok {
		return m, errors.New("a node has ended")
	}
	return m, json.Unmarshal([]byte(line), &m)
}

// load sends asks at a steady rate, and kills a node meanwhile. An ask is sent at its time, whether
// those before it have been answered or not.
func (s *stage) load(ctx context.Context, set settings) ([]ask, error) {
	began := time.Now()
	kill := began.Add(set.before)
	var collected asks
	var asking sync.WaitGroup
	gone := false
	for n := range int((set.before + set.after).Seconds() * float64(set.rate)) {
		due := began.Add(time.Duration(n) * time.Second / time.Duration(set.rate))
		if !gone && !due.Before(kill) {
			gone = true
			kill = time.Now()
			if err := s.nodes[0].Signal(os.Kill); err != nil {
				return nil, err
			}
			progress("%s is killed", killed)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Until(due)):
		}
		asking.Go(func() {
			one := ask{entity: (n*7919 + 13) % len(s.at)}
			sent := time.Now()
			one.node, _ = s.ask(ctx, one.entity) // one that fails has no node
			one.at, one.took = sent.Sub(began), time.Since(sent)
			collected.add(one)
		})
	}
	asking.Wait()
	for i := range collected.all {
		collected.all[i].at -= kill.Sub(began)
	}
	return collected.all, nil
}
