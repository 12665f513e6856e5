package router_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/router"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestAPoolTellsEachRouteeInTurnAndEndsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		probe := testkit.NewProbe[string](t, s)
		pool := actor.Spawn(s, router.Pool(4, d.worker()), "pool")
		tell(pool, "1", "2", "3", "4", "5", "6", "7", "8")
		require.Equal(t, map[string][]string{
			"routee-1": {"1", "5"}, "routee-2": {"2", "6"}, "routee-3": {"3", "7"}, "routee-4": {"4", "8"},
		}, d.take())

		tell(pool, "")
		synctest.Wait()
		tell(pool, "1", "2", "3")
		require.Len(t, d.take(), 3, "others carry on")

		tell(pool, "fail")
		synctest.Wait()
		tell(pool, "1", "2", "3", "4")
		require.Len(t, flat(d.take()), 4)

		tell(pool, "", "")
		probe.ExpectTerminated(pool)
	})
}

// flat is all that any routee has handled.
func flat(jobs map[string][]string) (all []string) {
	for _, j := range jobs {
		all = append(all, j...)
	}
	return all
}

func TestARouteeOfAPoolIsSupervisedByWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(2, behaviors.Supervise(d.worker(), actor.Strategy{})), "pool")
		tell(pool, "fail", "fail", "fail", "1", "2")
		require.Equal(t, map[string][]string{"routee-2": {"1"}, "routee-1": {"2"}}, d.take())
	})
}

func TestRandomReachesAllRoutees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(4, d.worker(), router.Random()), "pool")
		for range 400 {
			tell(pool, "x")
		}
		jobs := d.take()
		require.Len(t, jobs, 4)
		for who, j := range jobs {
			require.Greater(t, len(j), 50, who)
		}
	})
}

func TestTheSameKeyGoesToTheSameRouteeAndFewKeysMoveWhenOneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(5, d.worker(), router.ConsistentHashing(func(j job) string { return j.What })), "pool")
		where := func() map[string]string {
			owners := map[string]string{}
			for range 2 {
				for i := range 1000 {
					tell(pool, fmt.Sprint("key-", i))
				}
			}
			for who, keys := range d.take() {
				for _, key := range keys {
					if owner, seen := owners[key]; seen {
						require.Equal(t, owner, who)
					}
					owners[key] = who
				}
			}
			return owners
		}
		before := where()
		require.Len(t, before, 1000)
		tell(pool, "") // ends the routee that gets it
		after := where()
		ended := map[string]bool{}
		for key, owner := range before {
			if owner != after[key] {
				ended[owner] = true
			}
		}
		require.Len(t, ended, 1, "only keys of the one that has ended have moved")
	})
}

func TestBroadcastTellsAllWhatThePredicateSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(3, d.worker(), router.Broadcast(func(j job) bool { return j.What == "all" })), "pool")
		tell(pool, "1", "all", "2")
		require.Equal(t, map[string][]string{"routee-1": {"1", "all"}, "routee-2": {"all", "2"}, "routee-3": {"all"}}, d.take())

		all := actor.Spawn(s, router.Pool(2, d.worker(), router.Broadcast(func(job) bool { return true })), "all")
		tell(all, "1", "2")
		require.Equal(t, map[string][]string{"routee-1": {"1", "2"}, "routee-2": {"1", "2"}}, d.take())
	})
}

func TestTheSmallestMailboxGetsTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(3, d.worker(), router.SmallestMailbox()), "pool")
		gate := make(chan struct{})
		pool.Tell(job{What: "slow", Gate: gate})
		synctest.Wait()
		for i := range 6 {
			tell(pool, fmt.Sprint(i))
			synctest.Wait()
		}
		jobs := d.take()
		require.Len(t, jobs, 2, "the third is busy")
		require.Len(t, flat(jobs), 6)
		close(gate)
		require.Equal(t, []string{"slow"}, flat(d.take()))
		for range 30 {
			tell(pool, "x")
			synctest.Wait()
		}
		for who, j := range d.take() {
			require.Len(t, j, 10, who)
		}
	})
}

func TestWhatIsToldToAllCountsForTheSmallestMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		pool := actor.Spawn(s, router.Pool(2, d.worker(), router.SmallestMailbox(), router.Broadcast(func(j job) bool { return j.What == "all" })), "pool")
		slow, busy := make(chan struct{}), make(chan struct{})
		pool.Tell(job{What: "slow", Gate: slow}) // for routee-2, as the first has its turn then
		pool.Tell(job{What: "busy", Gate: busy})
		synctest.Wait()
		tell(pool, "all", "all")
		synctest.Wait()
		close(busy)
		synctest.Wait()
		tell(pool, "1", "2", "3")
		synctest.Wait()
		close(slow)
		synctest.Wait()
		for who, jobs := range d.take() {
			if slices.Contains(jobs, "busy") {
				require.Equal(t, []string{"busy", "all", "all", "1", "2", "3"}, jobs, who)
			} else {
				require.Equal(t, []string{"slow", "all", "all"}, jobs, who)
			}
		}
	})
}

func TestWhatTheSmallestMailboxNeverHandlesIsADeadLetterOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		dead := deadLetters(t, s)
		pool := actor.Spawn(s, router.Pool(1, d.worker(), router.SmallestMailbox()), "pool")
		gate := make(chan struct{})
		pool.Tell(job{Gate: gate}) // its last
		tell(pool, "late")
		synctest.Wait()
		close(gate)
		l := dead.Receive()
		require.Equal(t, job{What: "late"}, l.Message)
		require.ErrorIs(t, l.Reason, actor.ErrTerminated)
		dead.ExpectNone(0)
	})
}

func TestWiringErrorsOfRoutersPanicWithWhatToDo(t *testing.T) {
	d := newDiary()
	require.PanicsWithValue(t, "router: a pool of 0 routees", func() { router.Pool(0, d.worker()) })
	require.PanicsWithValue(t, "router: Pool: ConsistentHashing takes messages of type string, and the routees take router_test.job", func() {
		router.Pool(1, d.worker(), router.ConsistentHashing(func(s string) string { return s }))
	})
	require.Panics(t, func() { router.Pool(1, d.worker(), router.PreferLocal()) })
	require.Panics(t, func() { router.Group(workers, router.SmallestMailbox()) })
	require.Panics(t, func() { router.Group(workers, router.Broadcast(func(int) bool { return true })) })
}
