package sharding_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A shift knows which daemons run on which node. No index may run twice, and no two daemons may be
// of different numbers.
type shift struct {
	t *testing.T

	mu     sync.Mutex // guards all below
	at     map[int]string
	of     int
	starts int
}

func (w *shift) pollers(node string) func(sharding.Share) actor.Behavior[note] {
	return func(part sharding.Share) actor.Behavior[note] {
		return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
			w.come(node, part)
			ctx.Defer(func() { w.ends(part) })
			return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
				if n.Text == "stop" {
					return behaviors.Stopped[note]
				}
				n.ReplyTo.Tell(fmt.Sprintf("%d of %d", part.Index, part.Of))
				return nil
			})
		})
	}
}

func (w *shift) come(node string, part sharding.Share) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts++
	if other, runs := w.at[part.Index]; runs {
		w.t.Errorf("%d runs on %s and %s", part.Index, other, node)
	}
	if len(w.at) > 0 && w.of != part.Of {
		w.t.Errorf("%d of %d runs beside others of %d", part.Index, part.Of, w.of)
	}
	w.at[part.Index], w.of = node, part.Of
}

func (w *shift) ends(part sharding.Share) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.at, part.Index)
}

// counts returns how many daemons each node has.
func (w *shift) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]int{}
	for _, node := range w.at {
		all[node]++
	}
	return all
}

func TestDaemonsRunWithoutACluster(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		w := &shift{t: t, at: map[int]string{}}
		d, err := sharding.Daemon(s, "pollers", 5, w.pollers("here"))
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, map[string]int{"here": 5}, w.counts())
		require.Equal(t, "3 of 5", read(t, d.Ref(3)))
		d.Ref(3).Tell(note{Text: "stop"})
		time.Sleep(time.Minute)
		require.Equal(t, map[string]int{"here": 5}, w.counts())
		require.Equal(t, 6, w.starts)
		_, err = tryRead(t, d.Ref(5))
		require.ErrorIs(t, err, sharding.ErrNoDaemon)

		require.NoError(t, d.Scale(t.Context(), 9))
		require.Equal(t, "8 of 9", read(t, d.Ref(8)))
		require.NoError(t, d.Scale(t.Context(), 2))
		require.Equal(t, "1 of 2", read(t, d.Ref(1)))
		synctest.Wait() // for the other one
		require.Equal(t, map[string]int{"here": 2}, w.counts())
		require.Len(t, d.Stats().Shards, 2)
		_, err = tryRead(t, d.Ref(8))
		require.ErrorIs(t, err, sharding.ErrNoDaemon)
	})
}

func TestDaemonRefusesWhatMakesNoSense(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		w := &shift{t: t, at: map[int]string{}}
		for _, n := range []int{-1, 0, sharding.MaxDaemons + 1} {
			_, err := sharding.Daemon(s, "pollers", n, w.pollers(""))
			require.ErrorContains(t, err, "from 1 to 1024")
		}
		for _, o := range []sharding.Option{sharding.Shards(4), sharding.PassivateAfter(time.Second), sharding.MaxEntities(3), sharding.Remember()} {
			_, err := sharding.Daemon(s, "pollers", 2, w.pollers(""), o)
			require.ErrorContains(t, err, "takes neither")
		}
		d, err := sharding.Daemon(s, "pollers", 2, w.pollers(""))
		require.NoError(t, err)
		require.ErrorContains(t, d.Scale(t.Context(), 0), "from 1 to 1024")
		require.Panics(t, func() { d.Ref(-1) })
		require.Panics(t, func() { _, _ = sharding.Start(s, "pollers", notebook) })
	})
}

// An office is a cluster with daemons.
type office struct {
	*clustertest.Cluster
	*shift
	t *testing.T
}

func (o *office) open(name string, n int) *sharding.Daemons[note] {
	o.t.Helper()
	d, err := sharding.Daemon(o.Node(name), "pollers", n, o.pollers(name))
	require.NoError(o.t, err)
	return d
}

func inOffice(t *testing.T, nodes int, f func(t *testing.T, o *office), opts ...clustertest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, &office{Cluster: clustertest.Start(t, nodes, opts...), shift: &shift{t: t, at: map[int]string{}}, t: t})
	})
}

func TestDaemonsAreSpreadOverTheNodesAndSurviveThem(t *testing.T) {
	inOffice(t, 3, func(t *testing.T, o *office) {
		var d *sharding.Daemons[note]
		for _, name := range []string{"n1", "n2", "n3"} {
			d = o.open(name, 7)
		}
		time.Sleep(2 * time.Minute)
		require.Equal(t, []int{2, 2, 3}, sortedValues(o.counts()))
		for n := range 7 {
			require.Equal(t, fmt.Sprintf("%d of 7", n), read(t, d.Ref(n)))
		}
		crashed := o.counts()["n1"]
		o.mu.Lock()
		for n, node := range o.at {
			if node == "n1" {
				delete(o.at, n)
			}
		}
		o.mu.Unlock()
		require.NotZero(t, crashed)
		o.Kill("n1")
		time.Sleep(2 * time.Minute)
		require.Equal(t, []int{3, 4}, sortedValues(o.counts()))
		o.Leave("n2")
		time.Sleep(10 * time.Second)
		require.Equal(t, map[string]int{"n3": 7}, o.counts())
	})
}

func TestTheNumberOfDaemonsChangesAndIsKept(t *testing.T) {
	effort.Unraced(t)
	inOffice(t, 3, func(t *testing.T, o *office) {
		d := map[string]*sharding.Daemons[note]{}
		for _, name := range []string{"n1", "n2", "n3"} {
			d[name] = o.open(name, 4)
		}
		time.Sleep(time.Minute)
		for _, n := range []int{16, 2, 5} {
			require.NoError(t, d["n2"].Scale(t.Context(), n))
			require.Equal(t, fmt.Sprintf("%d of %d", n-1, n), read(t, d["n3"].Ref(n-1)))
			time.Sleep(time.Minute)
			total := 0
			for _, here := range o.counts() {
				total += here
			}
			require.Equal(t, n, total)
		}
		_, err := tryRead(t, d["n1"].Ref(15))
		require.ErrorIs(t, err, sharding.ErrNoDaemon)
		why, err := d["n1"].Explain(t.Context(), 4)
		require.NoError(t, err)
		require.Equal(t, sharding.Running, why.State)

		o.Leave("n1")
		o.Add("n4")
		late := o.open("n4", 4)
		time.Sleep(time.Minute)
		require.Equal(t, "4 of 5", read(t, late.Ref(4)))
	})
}

func TestWithoutAJournalTheNumberOfDaemonsStays(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		d := o.open("n1", 4)
		require.ErrorIs(t, d.Scale(t.Context(), 8), persistence.ErrNoJournal)
	}, clustertest.WithJournal(nil))
}

// While a node that may run daemons is unreachable, no daemon of another number starts.
func TestDaemonsOfAnotherNumberWaitForTheLastOfTheFormer(t *testing.T) {
	inOffice(t, 3, func(t *testing.T, o *office) {
		var d *sharding.Daemons[note]
		for _, name := range []string{"n1", "n2", "n3"} {
			d = o.open(name, 6)
		}
		time.Sleep(2 * time.Minute)
		o.Pause("n1")
		scaled := make(chan error, 1)
		go func() { scaled <- d.Scale(t.Context(), 3) }()
		time.Sleep(time.Second)
		require.Empty(t, scaled)
		o.Resume("n1")
		require.NoError(t, <-scaled)
		time.Sleep(time.Minute)
		require.Equal(t, "2 of 3", read(t, d.Ref(2)))
	})
}

func sortedValues(m map[string]int) (all []int) {
	for _, n := range m {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}
