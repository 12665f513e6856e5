package singleton_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

func heard(t *testing.T, n *node) *testkit.Probe[any] {
	t.Helper()
	p := testkit.NewProbe[any](t, n.System)
	actor.Subscribe(n.System, p.Ref())
	return p
}

func next(p *testkit.Probe[any]) any {
	for {
		switch e := p.Receive().(type) {
		case singleton.Started, singleton.Stopped, singleton.HostChanged, singleton.Refused,
			singleton.LeaseAcquired, singleton.LeaseLost, singleton.Retired:
			return e
		}
	}
}

func TestTheEventsOfASingletonArePublishedWhereTheyHappen(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		onA, onB := heard(t, a), heard(t, b)
		refs := onAll(c, mortal, singleton.Buffer(1))
		settle()
		refs["a"].Tell(msg{Text: "one"})
		refs["a"].Tell(msg{Text: "two"})
		dropped := singleton.Refused{Name: "one", Message: msg{Text: "one"}, Reason: singleton.ErrBufferFull}
		require.Equal(t, dropped, next(onA))
		synctest.Wait() // the status follows
		require.Equal(t, uint64(1), a.status("one").Dropped)
		c.up(a)
		require.Equal(t, singleton.HostChanged{Name: "one", Host: "a"}, next(onA))
		require.Equal(t, singleton.HostChanged{Name: "one", Host: "a"}, next(onB))
		require.Equal(t, singleton.Started{Name: "one", Generation: singleton.Generation{Term: 1, Seq: 1}}, next(onA))
		settle()
		refs["a"].Tell(msg{Text: "fail"})
		stopped, ok := next(onA).(singleton.Stopped)
		require.True(t, ok)
		require.Equal(t, singleton.Generation{Term: 1, Seq: 1}, stopped.Generation)
		require.ErrorContains(t, stopped.Err, "told to")
		require.Equal(t, singleton.Started{Name: "one", Generation: singleton.Generation{Term: 1, Seq: 2}}, next(onA))
		synctest.Wait()
		require.Equal(t, uint64(2), a.status("one").Starts)
		require.Equal(t, uint64(1), a.status("one").Failures)
		c.up(b)
		c.leave("a")
		settle()
		require.Equal(t, singleton.HostChanged{Name: "one", Host: "b"}, next(onB))
		require.Equal(t, singleton.Started{Name: "one", Generation: singleton.Generation{Term: 2, Seq: 1}}, next(onB))
	})
}

// A message that arrives while an instance starts goes to the next one if the start fails.
func TestAMessageOutlivesInstancesThatFailToStart(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		book := newLedger()
		starts := 0
		refs := onAll(c, func() actor.Behavior[numbered] {
			return behaviors.Setup(func(ctx *actor.Context[numbered]) actor.Behavior[numbered] {
				time.Sleep(time.Second)
				if starts++; starts < 4 {
					return ctx.Fail(errors.New("the database is not there yet"))
				}
				return book.keep(0)()
			})
		})
		settle()
		require.Equal(t, "the instance is starting", c.nodes["a"].status("one").Why)
		telling(refs, 10, 700*time.Millisecond, "a", "b")
		time.Sleep(time.Minute)
		book.requireAll(t, 10, "a", "b")
		require.Equal(t, 4, starts)
		require.Equal(t, uint64(3), c.nodes["a"].status("one").Failures)
		require.Equal(t, uint64(1), c.nodes["a"].status("one").Starts)
		for _, n := range c.nodes {
			n.deadLetters.ExpectNone(0)
		}
	})
}

func TestABoundedMailboxOfAManagerLosesNothingOfTheProtocol(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		book, census := newLedger(), testkit.NewCensus(t)
		refs := map[string]actor.ActorRef[numbered]{}
		for _, n := range c.members {
			one := behaviors.Singleton(testkit.Counted(census, book.keep(0)))
			refs[n.peer.Name] = actor.Spawn(n.System, one, "one", actor.Bounded(1).Block(time.Minute))
		}
		telling(refs, 300, 100*time.Microsecond, "b", "c")
		time.Sleep(10 * time.Millisecond)
		c.leave("a")
		time.Sleep(time.Second)
		book.requireAll(t, 300, "b", "c")
		requireOne(t, census, "b")
	})
}

func TestASingletonMayLiveBelowAnotherActor(t *testing.T) {
	for _, opts := range [][]singleton.Option{nil, {singleton.AtLeastOnce(3)}} {
		inCluster(t, abc, func(t *testing.T, c *cluster) {
			book := newLedger()
			refs := map[string]actor.ActorRef[numbered]{}
			for _, n := range c.members {
				refs[n.peer.Name], _ = spawnBelow(n.System, behaviors.Singleton(book.keep(0), opts...))
			}
			telling(refs, 30, time.Millisecond, "b", "c")
			time.Sleep(10 * time.Millisecond)
			c.leave("a")
			time.Sleep(time.Second)
			book.requireAll(t, 30, "b", "c")
			require.True(t, c.nodes["b"].status("parent/one").Here)
		})
	}
}

func TestAskAndLateReplyAlsoWithAtLeastOnce(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		late := func() actor.Behavior[msg] {
			return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
				time.Sleep(10 * time.Minute)
				m.ReplyTo.Tell(m.Text)
				return behaviors.Same
			})
		}
		refs := onAll(c, late, singleton.AtLeastOnce(5))
		settle()
		p := testkit.NewProbe[string](t, c.nodes["c"].System)
		refs["c"].Tell(msg{"hello", p.Ref()})
		time.Sleep(11 * time.Minute)
		p.Expect("hello")
		p.ExpectNone(time.Hour)
		require.Zero(t, c.nodes["c"].status("one").Unacknowledged)
	})
}

// The roles of the node are misspelt.
func TestAnAskNamesWhatEveryMemberLacks(t *testing.T) {
	first := func(candidates []singleton.Candidate) (string, bool) { return "nobody", len(candidates) > 0 }
	for want, opts := range map[string][]singleton.Option{
		`no member that is up has the role "backend"`:                                            {singleton.Role("backend")},
		`no member that is up and has the role "bakend" has a manager for it`:                    {singleton.Role("bakend")},
		`the node "c" is not up`:                                                                 {singleton.OnNode("c")},
		`the node "b" has no manager for it`:                                                     {singleton.OnNode("b")},
		`"first" elects no member that is up and has a manager for it`:                           {singleton.OnElected("first", first)},
		`"first" elects no member that is up, has a manager for it, and has the role "frontend"`: {singleton.OnElected("first", first), singleton.Role("frontend")},
	} {
		inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
			c.change(func() { c.nodes["a"].peer.Roles, c.nodes["b"].peer.Roles = []string{"frontend"}, []string{"bakend"} })
			s := c.nodes["a"].System
			shop := actor.Spawn(s, behaviors.Singleton(parrot, opts...), "shop")
			_, err := actor.AskTimeout(t.Context(), shop, time.Second, func(replyTo actor.ActorRef[string]) msg { return msg{"hello", replyTo} })
			require.ErrorIs(t, err, singleton.ErrUnavailable)
			require.ErrorContains(t, err, want)
		})
	}
}

func TestStatusSaysWhyThereIsNoInstance(t *testing.T) {
	inCluster(t, nil, func(t *testing.T, c *cluster) {
		a, b := c.join("a"), c.join("b")
		onAll(c, parrot, singleton.Role("host"))
		settle()
		require.Equal(t, "this node is not up", a.status("one").Why)
		c.up(a)
		settle()
		require.Equal(t, `no member that is up has the role "host"`, a.status("one").Why)
		c.net.losing(cut("b"))
		c.change(func() { a.peer.Roles, b.peer.Roles, b.peer.Up = []string{"host"}, []string{"host"}, true })
		settle()
		require.Equal(t, "waits for the permission of b", a.status("one").Why)
		c.net.losing(nil)
		time.Sleep(10 * time.Second)
		require.Empty(t, a.status("one").Why)
		require.Empty(t, b.status("one").Why)
		c.reachable(a, false)
		settle()
		require.Equal(t, "its host is unreachable; it moves when the host is down", b.status("one").Why)
	})
}
