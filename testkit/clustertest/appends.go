package clustertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/understudy-go/understudy/cluster"
)

// Appends tests entities that keep a list each, such as those of a sharded type, in a [Chaos]. One
// client on each node appends to them in turn, and remembers what was acknowledged.
// [Appends.EachOnce] is the law: each acknowledged entry is there once. Create one with
// [NewAppends] in each round.
type Appends struct {
	round *Round
	ids   []string

	mu      sync.Mutex // guards all below
	clients []*appendClient
	readers map[string]func(ctx context.Context, id string) ([]string, error) // by the name of the node
	ended   bool
}

type appendClient struct {
	name         string
	acknowledged map[string][]string // by the id of the entity
}

// The times of clients of [Appends].
const (
	appendEvery   = 500 * time.Millisecond
	appendTimeout = 5 * time.Second

	// How long clients go on after all faults, and how long entities are then left alone.
	appendsAfter = time.Minute
)

// NewAppends returns Appends for n entities, with the ids "e0" to "e(n-1)".
func NewAppends(r *Round, n int) *Appends {
	a := &Appends{round: r, readers: map[string]func(context.Context, string) ([]string, error){}}
	for i := range n {
		a.ids = append(a.ids, fmt.Sprint("e", i))
	}
	return a
}

// On starts a client on a node, which ends with the node. It makes two appends a second. Call it in
// [Round.EachNode].
//
// add appends an entry, which has no spaces, to the list of an entity. It returns nil when that is
// acknowledged; after an error, the entry may be there or not. list returns all entries of an
// entity. Both are called by other goroutines, with a context that ends after 5 s.
func (a *Appends) On(n *cluster.Node, add func(ctx context.Context, id, entry string) error, list func(ctx context.Context, id string) ([]string, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := n.View().Self.Name
	a.readers[name] = list
	c := &appendClient{name: fmt.Sprint(name, "-", len(a.clients)), acknowledged: map[string][]string{}}
	a.clients = append(a.clients, c)
	go a.work(n, c, add)
}

func (a *Appends) work(n *cluster.Node, c *appendClient, add func(context.Context, string, string) error) {
	over := a.round.Context()
	for i := 0; !a.isOver(); i++ {
		id, entry := a.ids[i%len(a.ids)], fmt.Sprint(c.name, ":", i)
		ctx, cancel := context.WithTimeout(over, appendTimeout)
		err := add(ctx, id, entry)
		cancel()
		if err == nil {
			a.note(c, id, entry)
		}
		select {
		case <-n.Terminated():
			return
		case <-over.Done():
			return
		case <-time.After(appendEvery):
		}
	}
}

func (a *Appends) note(c *appendClient, id, entry string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.acknowledged[id] = append(c.acknowledged[id], entry)
}

func (a *Appends) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended
}

// EachOnce requires that in the end each node can read each entity, and that this has each
// acknowledged entry once, those of one client in the order in which they were appended. No entry
// is there twice, whether it was acknowledged or not.
func (a *Appends) EachOnce() Invariant {
	return Invariant{Name: "each acknowledged entry is there once", Finally: func(r *Round) error {
		time.Sleep(appendsAfter)
		a.mu.Lock()
		a.ended = true
		a.mu.Unlock()
		time.Sleep(appendsAfter)
		for _, id := range a.ids {
			for _, n := range r.Nodes() {
				if err := a.read(r, n.View().Self.Name, id); err != nil {
					return err
				}
			}
		}
		return nil
	}}
}

func (a *Appends) read(r *Round, node, id string) error {
	a.mu.Lock()
	list := a.readers[node]
	a.mu.Unlock()
	if list == nil {
		return fmt.Errorf("no client was started on %s; call On in EachNode", node)
	}
	ctx, cancel := context.WithTimeout(r.Context(), appendTimeout)
	defer cancel()
	entries, err := list(ctx, id)
	if err != nil {
		return fmt.Errorf("%s read by %s: %w", id, node, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.clients {
		if err := keeps(entries, c.acknowledged[id]); err != nil {
			return fmt.Errorf("%s read by %s: %w; it has %q", id, node, err, entries)
		}
	}
	return nil
}

func keeps(entries, acknowledged []string) error {
	seen := make(map[string]bool, len(entries))
	for _, entry := range entries {
		if seen[entry] {
			return fmt.Errorf("entry %s is there twice", entry)
		}
		seen[entry] = true
	}
	last := -1
	for _, entry := range acknowledged {
		i := slices.Index(entries, entry)
		switch {
		case i < 0:
			return fmt.Errorf("acknowledged entry %s is lost", entry)
		case i < last:
			return fmt.Errorf("entry %s is before an earlier one", entry)
		}
		last = i
	}
	return nil
}
