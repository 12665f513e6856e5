package singleton_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/testkit"
)

// A singleton of the same name with another message type takes no part, and says so.
func TestASingletonOfAnotherMessageTypeTakesNoPart(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		actor.Spawn(c.nodes["a"].System, behaviors.Singleton(testkit.Counted(census, parrot)), "one")
		settle()
		b := c.nodes["b"]
		other := actor.Spawn(b.System, behaviors.Singleton(testkit.Counted(census, newLedger().keep(0))), "one")
		settle()
		other.Tell(numbered{"b", 1})
		dead := b.deadLetters.Receive()
		require.Equal(t, numbered{"b", 1}, dead.Message)
		require.ErrorIs(t, dead.Reason, singleton.ErrMismatch)
		require.EqualError(t, dead.Reason, `singleton: the name belongs to another singleton: message is "singleton_test.numbered" here and "singleton_test.msg" there, on a; give the same type and options on every node`)
		require.Equal(t, `message is "singleton_test.numbered" here and "singleton_test.msg" there`, b.status("one").Mismatch)
		require.Equal(t, singleton.Pending, b.status("one").Phase)
		require.Empty(t, c.nodes["a"].status("one").Mismatch)

		c.leave("a") // then there is no other singleton
		settle()
		requireOne(t, census, "b")
		require.Empty(t, b.status("one").Mismatch)
		other.Tell(numbered{"b", 2})
		b.deadLetters.ExpectNone(time.Hour)
	})
}

// The settings that keep two instances apart must be the same on all nodes. Others, such as
// timeouts, may differ.
func TestSettingsThatKeepInstancesApartMustAgree(t *testing.T) {
	for name, c := range map[string]struct {
		opt  singleton.Option
		what string
	}{
		"role":         {singleton.Role("x"), `role is "x" here and "" there`},
		"anchor":       {singleton.OnOldest(), `anchor is "oldest" here and "" there`},
		"node":         {singleton.OnNode("b"), `anchor is "node b" here and "" there`},
		"stop message": {singleton.StopMessage(msg{}), `stop message is "singleton_test.msg" here and "" there`},
		"generations":  {singleton.WithGenerations(journal.NewMemory()), `generations is "yes" here and "" there`},
		"lease":        {singleton.WithLease(lease.NewMemory().Lease("one", "b", 15*time.Second)), `lease is "yes" here and "" there`},
		"delivery":     {singleton.AtLeastOnce(5), `at least once is "yes" here and "" there`},
		"buffer":       {singleton.Buffer(3), ""},
		"expiry":       {singleton.Expire(time.Minute), ""},
		"leader":       {singleton.OnLeader(), ""},
		"stop timeout": {singleton.StopTimeout(time.Minute), ""},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, []string{"a", "b"}, func(t *testing.T, cl *cluster) {
				cl.change(func() { cl.nodes["b"].peer.Roles = []string{"x"} })
				census := testkit.NewCensus(t)
				actor.Spawn(cl.nodes["a"].System, behaviors.Singleton(testkit.Counted(census, parrot)), "one")
				settle()
				actor.Spawn(cl.nodes["b"].System, behaviors.Singleton(testkit.Counted(census, parrot), c.opt), "one")
				settle()
				require.Equal(t, c.what, cl.nodes["b"].status("one").Mismatch)
				requireOne(t, census, "a")
				time.Sleep(effort.Of(time.Minute, time.Hour, time.Hour))
				requireOne(t, census, "a")
			})
		})
	}
}

// A new version with other settings is rolled out node by node. A node with the new settings waits
// until the last node with the old ones leaves, which hands over. Two instances never run at once.
func TestSettingsChangeFromNodeToNode(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		census := testkit.NewCensus(t)
		onAll(c, testkit.Counted(census, mortal))
		settle()
		for _, name := range []string{"b", "c", "a"} {
			c.leave(name)
			n := c.join(name)
			c.up(n)
			actor.Spawn(n.System, behaviors.Singleton(testkit.Counted(census, mortal), singleton.OnOldest()), "one")
			settle()
			require.Equal(t, 1, census.Running())
			require.Equal(t, 1, census.Peak())
		}
		requireOne(t, census, "b")
		for _, name := range abc {
			require.Empty(t, c.nodes[name].status("one").Mismatch)
		}
	})
}

// A node that only sends needs no options: its ref leads to the nodes whose settings count, before
// and after the last of the old ones has left.
func TestANodeThatOnlySendsLosesNothingWhileSettingsChange(t *testing.T) {
	inCluster(t, abc, func(t *testing.T, c *cluster) {
		for _, name := range []string{"a", "b"} {
			actor.Spawn(c.nodes[name].System, behaviors.Singleton(mortal), "one")
		}
		settle()
		sender := c.nodes["c"]
		p := testkit.NewProbe[string](t, sender.System)
		ref := singleton.Ref[msg](sender.System, "one")
		tell := func(text, want string) {
			t.Helper()
			ref.Tell(msg{text, p.Ref()})
			p.Expect(want + " " + text)
		}
		tell("before", "1.1")
		for _, name := range []string{"b", "a"} {
			c.leave(name)
			n := c.join(name)
			c.up(n)
			changed := actor.Spawn(n.System, behaviors.Singleton(mortal, singleton.AtLeastOnce(5)), "one")
			settle()
			if name == "b" {
				tell("meanwhile", "1.1")
				changed.Tell(msg{"on a new node", p.Ref()})
				require.ErrorIs(t, n.deadLetters.Receive().Reason, singleton.ErrMismatch)
			}
		}
		tell("after", "2.1")
		sender.deadLetters.ExpectNone(time.Hour)
	})
}

// A host with settings that do not count stops, although the node with the right settings does not
// ask it.
func TestAHostThatDoesNotFitStops(t *testing.T) {
	inCluster(t, []string{"a", "b"}, func(t *testing.T, c *cluster) {
		a := c.nodes["a"]
		c.change(func() { c.nodes["b"].peer.Roles = []string{"x"} })
		census := testkit.NewCensus(t)
		b := actor.Spawn(c.nodes["b"].System, behaviors.Singleton(testkit.Counted(census, mortal), singleton.Role("x")), "one")
		settle()
		requireOne(t, census, "b")
		actor.Spawn(a.System, behaviors.Singleton(testkit.Counted(census, mortal)), "one")
		settle() // the older one counts
		requireOne(t, census, "a")
		b.Tell(msg{Text: "lost"})
		require.ErrorIs(t, c.nodes["b"].deadLetters.Receive().Reason, singleton.ErrMismatch)
	})
}
