package sharding_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/memory"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Whatever happens to the nodes, an entity keeps each acknowledged entry, once, and in the order in
// which its writer was told so; and each entity answers in the end.
func TestInChaosNoAcknowledgedEntryIsLost(t *testing.T) {
	for name, journal := range map[string]bool{"with a journal of the coordinator": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			clustertest.Chaos{Nodes: 3, Faults: 5, ShrinkRuns: -1}.Run(t, func(r *clustertest.Round) { entriesInChaos(r, journal) })
		})
	}
}

// A writer appends to the entities, one entry after the other, and remembers what was acknowledged.
type writer struct {
	name         string
	mu           sync.Mutex // guards acknowledged
	acknowledged map[string][]string
}

func entriesInChaos(r *clustertest.Round, coordinatorJournal bool) {
	const entities = 12
	store := memory.New()
	var mu sync.Mutex // guards all below
	regions := map[string]*sharding.Region[note]{}
	var writers []*writer
	stop := make(chan struct{})
	opts := []sharding.Option{sharding.Shards(8), sharding.EventSourced(), sharding.PassivateAfter(20 * time.Second)}
	if coordinatorJournal {
		opts = append(opts, sharding.WithJournal(store))
	}
	ask := func(region *sharding.Region[note], id, text string) (string, error) {
		return actor.AskTimeout(r.Context(), region.Ref(id), 5*time.Second, func(to actor.ActorRef[string]) note { return note{Text: text, ReplyTo: to} })
	}
	r.EachNode(func(n *cluster.Node) {
		name := n.View().Self.Name
		region, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] { return persistentNotebook(e, store, name) }, opts...)
		if err != nil {
			r.Fatalf("%v", err)
		}
		mu.Lock()
		regions[name] = region
		w := &writer{name: fmt.Sprint(name, "-", len(writers)), acknowledged: map[string][]string{}}
		writers = append(writers, w)
		mu.Unlock()
		go func() {
			for i := 0; r.Context().Err() == nil; i++ {
				id, text := fmt.Sprint("e", i%entities), fmt.Sprint(w.name, ":", i)
				if _, err := ask(region, id, text); err == nil {
					w.mu.Lock()
					w.acknowledged[id] = append(w.acknowledged[id], text)
					w.mu.Unlock()
				}
				select {
				case <-n.Terminated():
					return
				case <-stop:
					return
				case <-r.Context().Done():
					return
				case <-time.After(500 * time.Millisecond):
				}
			}
		}()
	})
	r.Finally("each acknowledged entry is there once, in order", func() error {
		time.Sleep(time.Minute)
		close(stop)
		time.Sleep(time.Minute)
		for n := range entities {
			id := fmt.Sprint("e", n)
			for _, node := range r.Nodes() {
				mu.Lock()
				region := regions[node.View().Self.Name]
				mu.Unlock()
				text, err := ask(region, id, "")
				if err != nil {
					return fmt.Errorf("%s asked by %s: %w", id, node.View().Self.Name, err)
				}
				if err := keeps(strings.Fields(text), id, writers); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// keeps returns what is wrong with the entries of an entity.
func keeps(entries []string, id string, writers []*writer) error {
	at := map[string]int{}
	for i, text := range entries {
		if _, twice := at[text]; twice {
			return fmt.Errorf("%s has %s twice", id, text)
		}
		at[text] = i
	}
	for _, w := range writers {
		w.mu.Lock()
		acknowledged := slices.Clone(w.acknowledged[id])
		w.mu.Unlock()
		last := -1
		for _, text := range acknowledged {
			i, there := at[text]
			if !there {
				return fmt.Errorf("%s has lost %s", id, text)
			}
			if i < last {
				return fmt.Errorf("%s has %s too early", id, text)
			}
			last = i
		}
	}
	return nil
}
