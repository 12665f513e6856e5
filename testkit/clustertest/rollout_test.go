//go:build !quick

package clustertest_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

// A pod is a node as Kubernetes sees it when it decides which one to delete.
type pod struct {
	name    string
	created int
	cost    int // controller.kubernetes.io/pod-deletion-cost
}

// These compare pods that are ready: the lesser one is deleted first. Kubernetes compares the costs
// first. After them come the number of pods on the machine, how long they have been ready, restarts
// and the age, so that any order may follow.
var (
	lowestCost    = func(a, b pod) int { return cmp.Compare(a.cost, b.cost) }
	oldestFirst   = func(a, b pod) int { return cmp.Compare(a.created, b.created) }
	youngestFirst = func(a, b pod) int { return cmp.Compare(b.created, a.created) }
)

// A rollout replaces the pods of a Deployment one after the other, with maxSurge 1 and
// maxUnavailable 0, while its singletons are written.
type rollout struct {
	*clustertest.Cluster
	t        *testing.T
	censuses map[string]*testkit.Census // by singleton
	journals map[string]persistence.Journal
	newest   atomic.Pointer[cluster.Node]

	joined, left time.Duration // the longest of all pods
	mu           sync.Mutex    // guards answered
	answered     time.Duration // the longest of all asks
}

func deploy(t *testing.T, pods int) *rollout {
	t.Helper()
	r := &rollout{
		Cluster: clustertest.Start(t, pods), t: t,
		censuses: map[string]*testkit.Census{}, journals: map[string]persistence.Journal{},
	}
	for _, name := range []string{"orders", "invoices", "mails"} {
		r.censuses[name], r.journals[name] = testkit.NewCensus(t), journal.NewMemory()
	}
	for _, n := range r.Nodes() {
		r.begin(n)
	}
	r.AwaitQuiet()
	return r
}

func (r *rollout) begin(n *cluster.Node) {
	for name, census := range r.censuses {
		actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, entries(r.journals[name]))), name)
	}
	r.newest.Store(n)
}

// hosted returns how many singletons run on a node.
func (r *rollout) hosted(name string) (all int) {
	for _, s := range singleton.Statuses(r.Node(name).System) {
		if s.Here {
			all++
		}
	}
	return all
}

// update replaces every pod. order compares those of the old version.
func (r *rollout) update(order func(a, b pod) int) {
	var old []pod
	for i, n := range r.Nodes() {
		old = append(old, pod{name: n.View().Self.Name, created: i})
	}
	for i := 1; len(old) > 0; i++ {
		began := time.Now()
		n := r.Add(fmt.Sprintf("new%d", i))
		r.joined = max(r.joined, time.Since(began))
		r.begin(n)
		time.Sleep(2 * time.Second) // until the next probe of its readiness
		for p := range old {
			old[p].cost = r.hosted(old[p].name)
		}
		deleted := slices.MinFunc(old, order)
		old = slices.DeleteFunc(old, func(p pod) bool { return p == deleted })
		time.Sleep(5 * time.Second) // preStop
		began = time.Now()
		r.Leave(deleted.name)
		r.left = max(r.left, time.Since(began))
	}
}

// write writes a singleton until done is closed. Each number that it sends, through the newest pod,
// must be in the next answer.
func (r *rollout) write(name string, done <-chan struct{}) {
	for n := 1; ; n++ {
		ref := singleton.Ref[Entry](r.newest.Load().System, name)
		ref.Tell(Entry{N: n - 1})
		began := time.Now()
		all, err := actor.AskTimeout(r.t.Context(), ref, 10*time.Second, func(replyTo actor.ActorRef[[]int]) Entry { return Entry{ReplyTo: replyTo} })
		if err != nil || !slices.Equal(all, numbers(n)) {
			r.t.Errorf("%s after %d numbers: %v, %v", name, n, all, err)
			return
		}
		r.mu.Lock()
		r.answered = max(r.answered, time.Since(began))
		r.mu.Unlock()
		select {
		case <-done:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// requireMoves updates all pods in that order, and requires how often each singleton moves.
func requireMoves(t *testing.T, moves, pods int, order func(a, b pod) int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := deploy(t, pods)
		var writing sync.WaitGroup
		done := make(chan struct{})
		for name := range r.censuses {
			writing.Go(func() { r.write(name, done) })
		}
		r.update(order)
		close(done)
		writing.Wait()
		t.Logf("%d pods: joined within %v, left within %v, each ask was answered within %v", pods, r.joined, r.left, r.answered)
		require.Len(t, r.Nodes(), pods)
		require.Less(t, max(r.joined, r.left, r.answered), time.Second)
		for name, census := range r.censuses {
			require.Equal(t, moves, census.Started()-1, "%s of %d pods", name, pods)
			require.Equal(t, 1, census.Peak(), "the old instance has ended before the new one starts")
		}
	})
}

// The pod that hosts singletons has the highest cost. It is deleted last, whatever the order of the
// others is, when the oldest pod is a new one.
func TestWithDeletionCostsARollingUpdateMovesEachSingletonOnce(t *testing.T) {
	for _, pods := range []int{3, 5} {
		for _, order := range []func(a, b pod) int{oldestFirst, youngestFirst} {
			requireMoves(t, 1, pods, func(a, b pod) int { return cmp.Or(lowestCost(a, b), order(a, b)) })
		}
	}
}

// Without the costs, an update that happens to begin with the oldest pod moves each singleton to
// the next oldest one each time.
func TestWithoutDeletionCostsARollingUpdateMayMoveEachSingletonWithEachPod(t *testing.T) {
	for _, pods := range []int{3, 5} {
		requireMoves(t, pods, pods, oldestFirst)
		requireMoves(t, 1, pods, youngestFirst)
	}
}
