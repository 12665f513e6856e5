package sharding_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A fleet is a cluster whose nodes are restarted one after the other, while its notebooks are
// written.
type fleet struct {
	*clustertest.Cluster
	t     *testing.T
	store *journal.Memory

	mu          sync.Mutex // guards all below
	regions     map[string]*sharding.Region[note]
	generations map[int]map[uint64]bool // in which each shard has run
	slowest     time.Duration           // of all asks
}

func (f *fleet) start(name string) {
	f.t.Helper()
	r, err := sharding.Start(f.Node(name), "notebook", func(e sharding.Entity) actor.Behavior[note] {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.generations[e.Shard] == nil {
			f.generations[e.Shard] = map[uint64]bool{}
		}
		f.generations[e.Shard][e.Generation.Term] = true
		return persistentNotebook(e, f.store, name)
	}, sharding.Shards(32))
	require.NoError(f.t, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.regions[name] = r
}

// write writes numbers into a notebook until done is closed, by a node that is not restarted.
func (f *fleet) write(id string, from func() string, every time.Duration, done <-chan struct{}) (written int) {
	for ; ; written++ {
		select {
		case <-done:
			return written
		case <-time.After(every):
		}
		if !f.ask(id, from(), fmt.Sprint(written)) {
			return written
		}
	}
}

func (f *fleet) ask(id, from, text string) bool {
	f.mu.Lock()
	region := f.regions[from]
	f.mu.Unlock()
	began := time.Now()
	got, err := actor.AskTimeout(f.t.Context(), region.Ref(id), 30*time.Second, func(r actor.ActorRef[string]) note { return note{Text: text, ReplyTo: r} })
	if err != nil || got != "noted" {
		f.t.Errorf("%s, asked by %s: %q, %v", id, from, got, err)
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slowest = max(f.slowest, time.Since(began))
	return true
}

// A rolling restart of all nodes under load. No ask fails or waits for long, each shard
// moves at most twice, and each notebook has all that was written, once and in order. It makes no
// difference how the restarts fall on the rounds of balancing, which wait until the members have
// been the same for 30 s.
func TestARollingRestartLosesNothingAndMovesEachShardTwiceAtMost(t *testing.T) {
	effort.Unraced(t)
	for _, rest := range []time.Duration{time.Second, 25 * time.Second} {
		synctest.Test(t, func(t *testing.T) { rollingRestart(t, rest, 2) })
	}
}

// If shards are balanced between the restarts, some of them move more often.
func TestARollingRestartBetweenWhichShardsAreBalancedLosesNothing(t *testing.T) {
	effort.Unraced(t)
	synctest.Test(t, func(t *testing.T) { rollingRestart(t, 55*time.Second, 4) })
}

// rollingRestart rests after each node. It allows each shard that many moves.
func rollingRestart(t *testing.T, rest time.Duration, moves int) {
	const entities = 100
	f := &fleet{t: t, store: journal.NewMemory(), regions: map[string]*sharding.Region[note]{}, generations: map[int]map[uint64]bool{}}
	nodes := []string{"n1", "n2", "n3"}
	f.Cluster = clustertest.Start(t, len(nodes), clustertest.WithJournal(f.store))
	for _, name := range nodes {
		f.start(name)
	}
	time.Sleep(3 * time.Minute) // the shards are balanced
	var restarting string
	from := func() string {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, name := range nodes {
			if name != restarting {
				return name
			}
		}
		return ""
	}
	var writing sync.WaitGroup
	done, written := make(chan struct{}), make([]int, entities)
	for n := range entities {
		writing.Go(func() { written[n] = f.write(fmt.Sprint("e", n), from, max(100*time.Millisecond, rest/50), done) })
	}
	time.Sleep(time.Second)
	for _, name := range nodes {
		f.mu.Lock()
		restarting = name
		f.mu.Unlock()
		time.Sleep(100 * time.Millisecond) // its last asks are over
		f.Leave(name)
		f.Add(name)
		f.start(name)
		time.Sleep(rest)
	}
	close(done)
	writing.Wait()
	moved := map[int]int{}
	for shard, all := range f.generations {
		moved[len(all)-1]++
		require.LessOrEqual(t, len(all)-1, moves, "moves of shard %d", shard)
	}
	require.Less(t, f.slowest, 500*time.Millisecond)
	t.Logf("the slowest ask took %v; shards by number of moves: %v", f.slowest, moved)
	for n, count := range written {
		var want []string
		for i := range count {
			want = append(want, fmt.Sprint(i))
		}
		got, err := actor.AskTimeout(t.Context(), f.regions["n2"].Ref(fmt.Sprint("e", n)), time.Second, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
		require.NoError(t, err)
		require.Equal(t, strings.Join(want, " "), got)
		require.Positive(t, count)
	}
}

// A node that crashes with the coordinator costs its entities no more than one without it: the next
// coordinator hears at once what the nodes offer.
func TestTheShardsOfACrashedNodeRunElsewhereSoonAlsoIfItHadTheCoordinator(t *testing.T) {
	effort.Unraced(t)
	for _, offset := range []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second} {
		inShop(t, 3, func(t *testing.T, s *shop) {
			const entities = 20
			s.where("n2", entities)
			time.Sleep(time.Minute + offset)
			s.Kill("n1")
			from := time.Now()
			time.Sleep(3 * time.Second) // asks in flight to a node that dies fail
			for n := range entities {
				s.read("n2", fmt.Sprint("e", n))
			}
			require.Less(t, time.Since(from), 4*time.Second)
		})
	}
}

// The time to the first reply after a crash does not grow with the number of crashes before.
func TestTheSixthCrashCostsNoMoreThanTheFirst(t *testing.T) {
	effort.Unraced(t)
	inShop(t, 3, func(t *testing.T, s *shop) {
		const entities = 20
		for range 6 {
			s.where("n2", entities)
			s.Crash("n3")
			from := time.Now()
			var asking sync.WaitGroup
			for n := range entities {
				asking.Go(func() {
					for { // an ask in flight to a node that dies fails
						if _, err := s.ask("n2", fmt.Sprint("e", n), ""); err == nil {
							return
						}
					}
				})
			}
			asking.Wait()
			require.Less(t, time.Since(from), 4200*time.Millisecond)
			s.Add("n3")
			s.start("n3")
			time.Sleep(2 * time.Minute)
		}
	})
}
