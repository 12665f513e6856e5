package router_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestAGroupWithoutRouteesMakesDeadLettersAndRoutesWhenOneRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		dead := deadLetters(t, s)
		group := actor.Spawn(s, router.Group(workers), "group")
		tell(group, "1", "2")
		for _, what := range []string{"1", "2"} {
			l := dead.Receive()
			require.Equal(t, job{What: what}, l.Message)
			require.ErrorIs(t, l.Reason, router.ErrNoRoutees)
			require.ErrorContains(t, l.Reason, "workers of router_test.job")
			require.Equal(t, group.String(), l.Recipient)
		}

		a := actor.Spawn(s, d.worker(), "a")
		receptionist.Register(s, workers, a)
		tell(group, "3")
		require.Equal(t, map[string][]string{"a": {"3"}}, d.take())

		tell(a, "")
		synctest.Wait()
		tell(group, "4")
		require.Equal(t, job{What: "4"}, dead.Receive().Message)
	})
}

func TestAGroupSeesThoseThatWereThereBeforeFromItsFirstMessageOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		actor.Spawn(s, behaviors.Discoverable(workers, d.worker()), "a")
		synctest.Wait()
		group := actor.Spawn(s, router.Group(workers), "group")
		tell(group, "1")
		require.Equal(t, map[string][]string{"a": {"1"}}, d.take())
		require.Zero(t, s.DeadLetters())
	})
}

func TestAGroupTakesTheOptionsOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
		for _, name := range []string{"a", "b"} {
			actor.Spawn(s, behaviors.Discoverable(workers, d.worker()), name)
		}
		synctest.Wait()
		inTurn := actor.Spawn(s, router.Group(workers, router.RoundRobin()), "in-turn")
		tell(inTurn, "1", "2", "3")
		require.Equal(t, map[string][]string{"a": {"1", "3"}, "b": {"2"}}, d.take())
		random := actor.Spawn(s, router.Group(workers), "random")
		for range 100 {
			tell(random, "x")
		}
		require.Len(t, d.take(), 2)
		all := actor.Spawn(s, router.Group(workers, router.Broadcast(func(job) bool { return true })), "all")
		tell(all, "1")
		require.Equal(t, map[string][]string{"a": {"1"}, "b": {"1"}}, d.take())
	})
}

// task is a message that crosses the wire.
type task struct{ Key string }

func init() { actor.RegisterType[task]("router_test.task") }

var tasks = receptionist.NewKey[task]("tasks")

// serve spawns an instance on a node, that notes its node's name.
func serve(n *cluster.Node, d *diary) {
	actor.Spawn(n, behaviors.Discoverable(tasks, behaviors.Receive(func(_ *actor.Context[task], m task) actor.Behavior[task] {
		d.note(n.View().Self.Name, m.Key)
		return behaviors.Same
	})), "server")
}

func TestAGroupPrefersWhoCanBeReachedAndOnRequestWhoIsNear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d := clustertest.Start(t, 3), newDiary()
		serve(c.Node("n2"), d)
		serve(c.Node("n3"), d)
		time.Sleep(time.Second)
		dead := deadLetters(t, c.Node("n1").System)
		group := actor.Spawn(c.Node("n1"), router.Group(tasks), "group")
		near := actor.Spawn(c.Node("n2"), router.Group(tasks, router.PreferLocal()), "near")
		handled := func(to actor.ActorRef[task]) map[string]int {
			for i := range 40 {
				to.Tell(task{fmt.Sprint(i)})
			}
			time.Sleep(500 * time.Millisecond)
			counts := map[string]int{}
			for who, all := range d.take() {
				counts[who] = len(all)
			}
			return counts
		}
		require.Len(t, handled(group), 2)
		require.Equal(t, map[string]int{"n2": 40}, handled(near))

		c.Crash("n3")
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, map[string]int{"n2": 40}, handled(group), "n3 is unreachable")

		c.Crash("n2")
		time.Sleep(1500 * time.Millisecond)
		require.NotEmpty(t, receptionist.Find(c.Node("n1").System, tasks).All())
		require.Empty(t, handled(group), "but told to who may come back")
		dead.ExpectNone(0)
	})
}

func TestGroupsOfDifferentNodesAgreeWhereAKeyBelongs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d := clustertest.Start(t, 3), newDiary()
		for _, n := range c.Nodes() {
			serve(n, d)
		}
		time.Sleep(time.Second)
		byKey := router.ConsistentHashing(func(m task) string { return m.Key })
		for _, n := range c.Nodes() {
			group := actor.Spawn(n, router.Group(tasks, byKey), "group")
			for i := range 100 {
				group.Tell(task{fmt.Sprint(i)})
			}
		}
		time.Sleep(time.Second)
		times := map[string]int{}
		for _, keys := range d.take() {
			seen := map[string]int{}
			for _, k := range keys {
				seen[k]++
			}
			for k, n := range seen {
				require.Equal(t, 3, n, "all three groups tell the same node of %s", k)
				times[k]++
			}
		}
		require.Len(t, times, 100)
	})
}

// A function of an option that panics costs the message with which it did, and no other.
func TestAFunctionOfAnOptionThatPanicsCostsOneMessage(t *testing.T) {
	key := func(j job) string {
		if j.What == "bad" {
			panic("no key")
		}
		return j.What
	}
	which := func(j job) bool { return key(j) == "all" }
	for name, router := range map[string]func(d *diary) actor.Behavior[job]{
		"hashing in a group":    func(*diary) actor.Behavior[job] { return router.Group(workers, router.ConsistentHashing(key)) },
		"broadcasts in a group": func(*diary) actor.Behavior[job] { return router.Group(workers, router.Broadcast(which)) },
		"hashing in a pool":     func(d *diary) actor.Behavior[job] { return router.Pool(1, d.worker(), router.ConsistentHashing(key)) },
		"broadcasts in a pool":  func(d *diary) actor.Behavior[job] { return router.Pool(1, d.worker(), router.Broadcast(which)) },
		"broadcasts of smallest": func(d *diary) actor.Behavior[job] {
			return router.Pool(1, d.worker(), router.SmallestMailbox(), router.Broadcast(which))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, d := testkit.NewSystem(t, testkit.WithoutEncoding()), newDiary()
				dead := deadLetters(t, s)
				actor.Spawn(s, behaviors.Discoverable(workers, d.worker()), "a")
				synctest.Wait()
				r := actor.Spawn(s, router(d), "router")
				tell(r, "1", "bad", "2", "all")
				report := dead.Receive()
				require.Equal(t, job{What: "bad"}, report.Message)
				require.ErrorContains(t, report.Reason, "panic: no key")
				var handled []string
				for _, jobs := range d.take() {
					handled = append(handled, jobs...)
				}
				require.Equal(t, []string{"1", "2", "all"}, handled)
			})
		})
	}
}
