//go:build !quick

package clustertest_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// Every singleton must pass the tests of the files fifteen_*_test.go. Each test comes from a
// failure of another implementation.

// Where asks a singleton of these tests which node hosts it.
type Where struct{ ReplyTo actor.ActorRef[string] }

func init() { actor.RegisterType[Where]("clustertest.where") }

// A guide is a cluster with an unfenced singleton that replies with its node.
type guide struct {
	*clustertest.Cluster
	t      *testing.T
	census *testkit.Census
	refs   map[string]actor.ActorRef[Where]
}

func guided(t *testing.T, nodes int) *guide {
	t.Helper()
	g := &guide{Cluster: clustertest.Start(t, nodes), t: t, census: testkit.NewCensus(t), refs: map[string]actor.ActorRef[Where]{}}
	for _, name := range named(nodes) {
		g.manage(name)
	}
	g.AwaitQuiet()
	return g
}

func (g *guide) manage(name string) {
	g.refs[name] = actor.Spawn(g.Node(name), behaviors.Singleton(testkit.Counted(g.census, func() actor.Behavior[Where] {
		return behaviors.Receive(func(_ *actor.Context[Where], w Where) actor.Behavior[Where] {
			w.ReplyTo.Tell(name)
			return behaviors.Same
		})
	})), "guide")
}

// from asks through a node where the instance is, and waits for at most some time.
func (g *guide) from(name string, patience time.Duration) (host string, err error) {
	ctx, cancel := context.WithTimeout(g.t.Context(), patience)
	defer cancel()
	return actor.Ask(ctx, g.refs[name], func(replyTo actor.ActorRef[string]) Where { return Where{replyTo} })
}

// split cuts the cluster in two, asks through all nodes twice a second for a minute, and heals it.
// All answers must come from the asker's own side. On the losing side, an ask without an answer
// must fail because there is no instance, as soon as the other side is known to be unreachable.
// split returns the node that hosts in the end.
func (g *guide) split(loses, goesOn []string) string {
	g.t.Helper()
	g.Partition(loses, goesOn)
	begin := time.Now()
	for ; time.Since(begin) < time.Minute; time.Sleep(400 * time.Millisecond) {
		for _, name := range loses {
			host, err := g.from(name, 50*time.Millisecond)
			if err == nil {
				require.Contains(g.t, loses, host, "answered across the cut")
			} else if time.Since(begin) > time.Second {
				require.ErrorIs(g.t, err, singleton.ErrUnavailable, "%s, %v after the cut", name, time.Since(begin))
			}
		}
		for _, name := range goesOn {
			if host, err := g.from(name, 50*time.Millisecond); err == nil {
				require.Contains(g.t, goesOn, host, "answered across the cut")
			}
		}
	}
	for _, name := range loses {
		_, err := g.from(name, 50*time.Millisecond)
		require.ErrorIs(g.t, err, singleton.ErrUnavailable)
	}
	require.Equal(g.t, 1, g.census.Running(), "on the other side")
	g.Heal()
	whole(g.t, g.Cluster, 10*time.Second, named(len(loses)+len(goesOn))...)
	g.AwaitQuiet()
	require.Equal(g.t, 1, g.census.Running())
	require.Equal(g.t, 1, g.census.Peak(), "never two, healing included")
	hosts := map[string]bool{}
	for _, name := range slices.Concat(loses, goesOn) {
		host, err := g.from(name, time.Second)
		require.NoError(g.t, err)
		hosts[host] = true
	}
	require.Len(g.t, hosts, 1, "all reach the same one")
	return slices.Collect(maps.Keys(hosts))[0]
}

// Two-sided split 3/2 with the default settings.
func TestTwoSidedSplitOfThreeAndTwoNeverHasTwoActiveAndTheMinorityReportsErrUnavailable(t *testing.T) {
	for name, tt := range map[string]struct {
		minority, majority []string
		host               string
	}{
		"the host is in the minority": {[]string{"n1", "n2"}, []string{"n3", "n4", "n5"}, "n3"},
		"the host is in the majority": {[]string{"n4", "n5"}, []string{"n1", "n2", "n3"}, "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guided(t, 5)
				require.Equal(t, tt.host, g.split(tt.minority, tt.majority))
			})
		})
	}
}

// Two halves. The half with the lowest address continues, the other one stops.
func TestSplitsIntoEvenHalvesNeverHaveTwoActive(t *testing.T) {
	for name, tt := range map[string]struct {
		loses, goesOn []string
	}{
		"2/2, side by side": {[]string{"n3", "n4"}, []string{"n1", "n2"}},
		"2/2, crosswise":    {[]string{"n2", "n3"}, []string{"n1", "n4"}},
		"1/1":               {[]string{"n2"}, []string{"n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := guided(t, len(tt.loses)+len(tt.goesOn))
				require.Equal(t, "n1", g.split(tt.loses, tt.goesOn))
				require.Equal(t, 1, g.census.Started(), "it was on the side that goes on")
			})
		})
	}
}

// The instance is on the losing side: n1 has restarted, so it is the youngest node and still has
// the lowest address.
func TestTheHalfWithTheInstanceStopsItWhenItLoses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guided(t, 4)
		g.Leave("n1")
		g.Add("n1")
		g.manage("n1")
		g.AwaitQuiet()
		require.Equal(t, "n4", g.split([]string{"n2", "n3"}, []string{"n1", "n4"}), "the older of the half with the lowest address")
	})
}

// Of five nodes only the host is cut off, and clients on it continue to write. A fenced
// singleton is replaced without a margin, so two instances may run for a moment, but only one of
// them can write.
func TestTheHostAloneIsIsolatedWithItsClientsAttached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		s.write("n1", 0, 10)
		require.Equal(t, numbers(10), s.all("n1"))
		s.Partition([]string{"n1"}, named(5)[1:])
		for n := 10; n < 20; n++ {
			s.write("n1", n, n+1) // the journal has the entries that the instance there still stores
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(20 * time.Second)
		require.Equal(t, 1, s.census.Running())
		require.Equal(t, "n2", s.host())
		require.Equal(t, numbers(20), s.all("n3"), "the journal has what the old host has stored")
		s.write("n1", 20, 30) // held
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := actor.Ask(ctx, s.logs["n1"], func(replyTo actor.ActorRef[[]int]) Entry { return Entry{ReplyTo: replyTo} })
		require.ErrorIs(t, err, singleton.ErrUnavailable, "its clients are not told something old")
		s.Heal()
		time.Sleep(10 * time.Second)
		s.AwaitQuiet()
		require.Equal(t, "n2", s.host())
		require.Equal(t, numbers(30), s.all("n1"), "what its clients told meanwhile has waited")
		require.Equal(t, numbers(30), s.sound())
		require.Equal(t, 2, s.census.Started())
		require.EqualValues(t, 1, s.Node("n1").DeadLetters(), "the answer to the one who waits no more")
	})
}

// A witness is a journal that records the result of each append.
type witness struct {
	*journal.Memory

	mu      sync.Mutex // guards appends
	appends []outcome
}

type outcome struct {
	at    time.Time
	epoch uint64
	err   error
}

func (j *witness) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	results := j.Memory.Append(ctx, reqs)
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, r := range reqs {
		j.appends = append(j.appends, outcome{time.Now(), r.Epoch, results[i]})
	}
	return results
}

// byTheFirst returns the appends under the lowest epoch, from some time on.
func (j *witness) byTheFirst(from time.Time) (all []outcome) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.appends {
		if a.epoch == j.appends[0].epoch && !a.at.Before(from) {
			all = append(all, a)
		}
	}
	return all
}

// The host is frozen for twice the time of detection and downing, and then continues. It
// believes for a moment that it still hosts the instance; its first write is refused. (With
// real processes: examples/failover, and AHostThatStopsForLongIsReplacedAndFenced of
// internal/lab/nemesis.)
func TestAHostThatWasFrozenForTwiceTheDetectionHasItsFirstWriteRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, j := &freezer{}, &witness{Memory: journal.NewMemory()}
		s := &story{t: t, census: testkit.NewCensus(t), journal: j, logs: map[string]actor.ActorRef[Entry]{}}
		s.Cluster = clustertest.Start(t, 3, func(name string, cfg *cluster.Config) {
			if name == "n1" {
				cfg.Clock = f
			}
		})
		for _, name := range named(3) {
			s.manage(name)
		}
		s.AwaitQuiet()
		s.write("n2", 0, 10)
		require.Equal(t, numbers(10), s.all("n2"))

		f.freeze(true)
		s.Pause("n1")
		time.Sleep(2 * (detection + stableAfter))
		s.write("n2", 10, 20)
		require.Equal(t, numbers(20), s.all("n2"), "another one serves")
		require.Equal(t, 2, s.census.Running(), "the frozen one knows of nothing: that is what the fence is for")
		before, thawed := s.generation("n1"), time.Now()
		s.write("n1", 100, 101) // what was about to be written, as it froze
		time.Sleep(time.Millisecond)
		refused := j.byTheFirst(thawed)
		require.NotEmpty(t, refused)
		for _, a := range refused {
			require.ErrorIs(t, a.err, persistence.ErrFenced)
		}
		f.freeze(false)
		s.Resume("n1")
		time.Sleep(10 * time.Second)
		s.AwaitQuiet()
		require.Equal(t, 1, s.census.Running())
		require.Equal(t, "n2", s.host())
		require.True(t, before.Less(s.generation("n2")))
		require.Equal(t, numbers(20), s.sound()[:20])
	})
}

// A cut is longer than the thirty seconds after which gossip forgets dead nodes, and then
// heals. The result is one cluster with one instance. The instance of the lower generation has
// stopped first.
func TestAPartitionOfMoreThanThirtySecondsHealsIntoOneClusterWithOneInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guided(t, 5)
		generation := func(name string) singleton.Generation {
			status, ok := singleton.StatusOf(g.Node(name).System, "guide")
			require.True(t, ok)
			return status.Generation
		}
		g.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(45 * time.Second)
		g.Heal()
		whole(t, g.Cluster, 10*time.Second, named(5)...)
		g.AwaitQuiet()
		first, second := generation("n1"), generation("n3")
		require.True(t, first.Less(second), "%v, then %v", first, second)
		timeline := g.census.Timeline()
		require.Len(t, timeline, 3)
		require.Contains(t, timeline[1].Path, "@n1:")
		require.False(t, timeline[1].Started, "the lower one has ended before the higher one started")
		require.Contains(t, timeline[2].Path, "@n3:")
		for _, name := range named(5) {
			host, err := g.from(name, time.Second)
			require.NoError(t, err)
			require.Equal(t, "n3", host)
		}
	})
}
