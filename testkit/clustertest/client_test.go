//go:build !quick

package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A ticket asks an actor of the cluster where it runs.
type ticket struct {
	Number  int
	ReplyTo actor.ActorRef[stub]
}

// A stub is the answer.
type stub struct {
	Number  int
	Address string
}

func init() {
	actor.RegisterType[ticket]("clustertest_test.ticket")
	actor.RegisterType[stub]("clustertest_test.stub")
}

// clerk answers tickets.
func clerk() actor.Behavior[ticket] {
	return behaviors.Receive(func(ctx *actor.Context[ticket], t ticket) actor.Behavior[ticket] {
		t.ReplyTo.Tell(stub{t.Number, ctx.System().Address()})
		return behaviors.Same
	})
}

func hand(ctx context.Context, to actor.ActorRef[ticket], number int) (stub, error) {
	return actor.Ask(ctx, to, func(replyTo actor.ActorRef[stub]) ticket { return ticket{number, replyTo} })
}

// handIn is for answers that must come within seconds.
func handIn(t *testing.T, to actor.ActorRef[ticket], number int) stub {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := hand(ctx, to, number)
	require.NoError(t, err)
	require.Equal(t, number, s.Number)
	return s
}

func at[M any](c *cluster.Client, n *cluster.Node, path string) actor.ActorRef[M] {
	return actor.Resolve[M](c.System, "understudy://test@"+n.Address()+path)
}

func TestAClientTellsAndAsksActorsOfTheClusterAndIsNoMember(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		actor.Spawn(c.Node("n2"), clerk(), "clerk")
		client := c.Dial("client")
		for i := range 10 {
			require.Equal(t, stub{i, "n2:7355"}, handIn(t, at[ticket](client, c.Node("n2"), "/user/clerk"), i))
		}
		p := testkit.NewProbe[stub](t, client.System)
		at[ticket](client, c.Node("n2"), "/user/clerk").Tell(ticket{7, p.Ref()})
		p.Expect(stub{7, "n2:7355"})

		whole(t, c, time.Second, "n1", "n2", "n3")
		v := client.View()
		require.Len(t, v.Members, 3)
		require.True(t, v.Converged)
		oldest, ok := v.Oldest("")
		require.True(t, ok)
		require.Equal(t, "n1", oldest.Name)
		require.Zero(t, v.Self.Status)
		require.Zero(t, c.Node("n1").DeadLetters()+client.DeadLetters())
	})
}

func TestAClientFindsServicesByKeyAndAsksThem(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		key := receptionist.NewKey[ticket]("clerks")
		client := c.Dial("client")
		none, err := cluster.Lookup(t.Context(), client, key)
		require.NoError(t, err)
		require.Empty(t, none.All())

		for _, name := range []string{"n2", "n3"} {
			actor.Spawn(c.Node(name), behaviors.Discoverable(key, clerk()), "clerk")
		}
		time.Sleep(time.Second)
		found, err := cluster.Lookup(t.Context(), client, key)
		require.NoError(t, err)
		var answers []string
		for _, ref := range found.Reachable() {
			answers = append(answers, handIn(t, ref, 1).Address)
		}
		require.ElementsMatch(t, []string{"n2:7355", "n3:7355"}, answers)

		c.Crash(nameOf(t, c, client.Contact()))
		found, err = cluster.Lookup(t.Context(), client, key)
		require.NoError(t, err, "another member answers")
		require.NotEmpty(t, found.Reachable())
	})
}

func nameOf(t *testing.T, c *clustertest.Cluster, address string) string {
	t.Helper()
	for _, n := range c.Nodes() {
		if n.Address() == address {
			return n.View().Self.Name
		}
	}
	require.Fail(t, "nobody lives there", address)
	return ""
}

func TestAClientReachesASingletonByNameWhereverItIs(t *testing.T) {
	scenario(t, 4, func(t *testing.T, c *clustertest.Cluster) {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
		}
		client := c.Dial("client")
		ref := singleton.Ref[ticket](client.System, "clerk")
		require.Equal(t, ref, singleton.Ref[ticket](client.System, "clerk"))
		require.Equal(t, "n1:7355", handIn(t, ref, 1).Address)
		c.Leave("n1")
		require.Equal(t, "n2:7355", handIn(t, ref, 2).Address)
		c.Crash("n2")
		time.Sleep(5 * time.Second)
		require.Equal(t, "n3:7355", handIn(t, ref, 3).Address)
		require.Panics(t, func() { singleton.Ref[int](client.System, "clerk") })
	})
}

func TestMessagesOfAClientWaitWhileASingletonMoves(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		for _, n := range c.Nodes() {
			actor.Spawn(n, behaviors.Singleton(clerk), "clerk")
		}
		client := c.Dial("client")
		ref := singleton.Ref[ticket](client.System, "clerk")
		handIn(t, ref, 0)
		p := testkit.NewProbe[stub](t, client.System)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			for i := range 3000 {
				ref.Tell(ticket{i, p.Ref()})
				time.Sleep(time.Millisecond)
			}
		}()
		time.Sleep(time.Second)
		c.Leave("n1")
		<-stopped
		seen := map[int]bool{}
		for range 3000 {
			s := p.Receive()
			require.False(t, seen[s.Number], "once")
			seen[s.Number] = true
		}
		require.Zero(t, client.DeadLetters())
	})
}

func TestWhatAClientTellsASingletonThatNobodyHasWaitsForOne(t *testing.T) {
	scenario(t, 1, func(t *testing.T, c *clustertest.Cluster) {
		client := c.Dial("client")
		dead := testkit.NewProbe[actor.DeadLetter](t, client.System)
		actor.Subscribe(client.System, dead.Ref())
		ref := singleton.Ref[ticket](client.System, "desk/clerk")
		p := testkit.NewProbe[stub](t, client.System)
		for i := range 1001 {
			ref.Tell(ticket{i, p.Ref()})
		}
		letter := dead.Receive()
		require.ErrorIs(t, letter.Reason, singleton.ErrBufferFull)
		require.Equal(t, 0, letter.Message.(ticket).Number)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		other := singleton.Ref[ticket](client.System, "other")
		_, err := hand(ctx, other, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, singleton.ErrUnavailable)
		require.ErrorContains(t, err, "has a manager of other")

		desk := actor.Spawn(c.Node("n1"), func(ctx *actor.Context[int], next *actor.Next[int]) {
			actor.Spawn(ctx, behaviors.Singleton(clerk), "clerk")
			next.OnMessage = func(*actor.Context[int], int) actor.Behavior[int] { return nil }
		}, "desk")
		_ = desk
		for i := range 1000 {
			require.Equal(t, i+1, p.Receive().Number)
		}
		dead.ExpectNone(time.Second)
	})
}

func TestAClientFindsAnotherContactWhenItsOwnDies(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		actor.Spawn(c.Node("n3"), clerk(), "clerk")
		client := c.Dial("client", func(cfg *cluster.ClientConfig) { cfg.Contacts = []string{"n1:7355"} })
		require.Equal(t, "n1:7355", client.Contact())
		far := at[ticket](client, c.Node("n3"), "/user/clerk")
		c.Crash("n1")
		for i := range 10 {
			require.Equal(t, "n3:7355", handIn(t, far, i).Address)
			time.Sleep(time.Second)
		}
		require.NotEqual(t, "n1:7355", client.Contact())
		require.Len(t, client.View().Members, 2)

		c.Add("n4")
		time.Sleep(2 * time.Second)
		require.Len(t, client.View().Members, 3)
	})
}

func TestAClientComesBackAfterItWasCutOffFromEverybody(t *testing.T) {
	scenario(t, 2, func(t *testing.T, c *clustertest.Cluster) {
		actor.Spawn(c.Node("n1"), clerk(), "clerk")
		client := c.Dial("client")
		inbox := testkit.NewProbe[stub](t, client.System)
		c.Partition([]string{"client"})
		time.Sleep(long(10 * time.Minute))
		require.Len(t, client.View().Members, 2, "it is what was known before")
		whole(t, c, time.Second, "n1", "n2")
		c.Heal()
		time.Sleep(10 * time.Second)
		handIn(t, at[ticket](client, c.Node("n1"), "/user/clerk"), 1)
		actor.Resolve[stub](c.Node("n2").System, inbox.Ref().String()).Tell(stub{Number: 5})
		inbox.Expect(stub{Number: 5})
	})
}

func TestAnAskOfAClientEndsWhenTheNodeIsRemoved(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		client := c.Dial("client")
		ended := make(chan error, 1)
		go func() {
			_, err := actor.Ask(context.Background(), actor.Resolve[watchQuestion](client.System, target.String()),
				func(to actor.ActorRef[int]) watchQuestion { return watchQuestion{to} })
			ended <- err
		}()
		time.Sleep(time.Second)
		c.Crash("n3")
		require.ErrorIs(t, <-ended, actor.ErrUnreachable)
	})
}

func TestActorsOfClientAndClusterWatchEachOther(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		client := c.Dial("client")
		there := mute(c.Node("n3"), "there")
		ends := testkit.NewProbe[string](t, client.System)
		actor.Spawn(client, func(ctx *actor.Context[string], next *actor.Next[string]) {
			ctx.WatchWith(actor.Resolve[watchQuestion](client.System, there.String()), "end")
			next.OnMessage = func(_ *actor.Context[string], m string) actor.Behavior[string] {
				ends.Ref().Tell(m)
				return nil
			}
		}, "watcher")
		here := actor.Spawn(client, clerk(), "here")
		polite := watchFrom(t, c.Node("n1"), here.String())
		time.Sleep(long(10 * time.Minute))
		ends.ExpectNone(0)
		polite.ExpectNone(0)
		c.Crash("n3")
		time.Sleep(10 * time.Second)
		ends.Expect("end")
		require.NoError(t, client.Shutdown(t.Context()))
		polite.Expect(here.Path())

		cut := c.Dial("cut")
		lost := actor.Spawn(cut, clerk(), "lost")
		p := watchFrom(t, c.Node("n2"), lost.String())
		time.Sleep(long(time.Minute))
		c.Partition([]string{"cut"})
		time.Sleep(12 * time.Second)
		p.Expect(lost.Path())
	})
}

func TestAClientThatIsNotWelcomeIsToldWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := []byte("0123456789abcdef")
		c := clustertest.Start(t, 2, func(_ string, cfg *cluster.Config) { cfg.Secret = secret })
		dial := func(change func(*cluster.ClientConfig)) error {
			_, err := c.TryDial(t.Context(), "client", change)
			require.Error(t, err)
			return err
		}
		begin := time.Now()
		require.ErrorIs(t, dial(func(cfg *cluster.ClientConfig) {}), remote.ErrNotAuthenticated)
		require.ErrorIs(t, dial(func(cfg *cluster.ClientConfig) { cfg.Secret = []byte("fedcba9876543210") }), remote.ErrNotAuthenticated)
		err := dial(func(cfg *cluster.ClientConfig) { cfg.Secret, cfg.Name = secret, "other" })
		refused, ok := errors.AsType[*remote.RefusedError](err)
		require.True(t, ok)
		require.Equal(t, remote.RefusedCluster, refused.Refusal)
		require.Less(t, time.Since(begin), 10*time.Second, "nobody waits for what will not come")

		actor.Spawn(c.Node("n2"), clerk(), "clerk")
		client := c.Dial("client", func(cfg *cluster.ClientConfig) { cfg.Secret = secret })
		handIn(t, at[ticket](client, c.Node("n2"), "/user/clerk"), 1)
	})
}

func TestDialEndsWithItsContextAndWaitsForAContactUntilThen(t *testing.T) {
	scenario(t, 1, func(t *testing.T, c *clustertest.Cluster) {
		late := func(cfg *cluster.ClientConfig) { cfg.Contacts = []string{"n2:7355"} }
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := c.TryDial(ctx, "client", late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "n2:7355")
		dialled := make(chan *cluster.Client)
		go func() { dialled <- c.Dial("client", late) }()
		time.Sleep(5 * time.Second)
		c.Add("n2")
		require.Len(t, (<-dialled).View().Members, 2)
	})
}

func TestAClientConfigThatMakesNoSenseIsRefused(t *testing.T) {
	for _, cfg := range []cluster.ClientConfig{
		{},
		{Contacts: []string{"nonsense"}},
		{Contacts: []string{"n1:0"}},
		{Contacts: []string{"n1:1"}, Name: "a b"},
		{Contacts: []string{"n1:1"}, Secret: []byte("short")},
		{Contacts: []string{"n1:1"}, OldSecrets: [][]byte{nil}},
	} {
		_, err := cluster.Dial(t.Context(), cfg)
		require.ErrorContains(t, err, "ClientConfig.")
	}
}

// The names of singletons are paths: the names of children have slashes.
func TestAClientTellsSingletonsOfSimilarNamesApart(t *testing.T) {
	scenario(t, 1, func(t *testing.T, c *clustertest.Cluster) {
		client := c.Dial("client")
		seen := map[string]string{}
		for _, name := range []string{"a/b", "a~b", "a~1b", "a~0b", "a~~b"} {
			path := singleton.Ref[ticket](client.System, name).Path()
			require.Empty(t, seen[path], "%s is %s", path, name)
			seen[path] = name
		}
	})
}

// A client is not a node: its messages once reached no subscriber, and its subscribers got nothing.
func TestTopicsAndServicesOfAClientAreRefusedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		prices, shops := topic.New[string]("prices"), receptionist.NewKey[string]("shops")
		heard := testkit.NewProbe[string](t, c.Node("n2").System)
		prices.Subscribe(c.Node("n2").System, heard.Ref())
		receptionist.Register(c.Node("n2").System, shops, heard.Ref())
		client := c.Dial("client")
		letters := testkit.NewProbe[actor.DeadLetter](t, client.System)
		actor.Subscribe(client.System, letters.Ref())
		prices.Publish(client.System, "apples 3")
		lost := letters.Receive()
		require.ErrorIs(t, lost.Reason, topic.ErrOutside)
		require.ErrorContains(t, lost.Reason, "this system is a client, which is no member of the cluster")
		require.Equal(t, "apples 3", lost.Message)
		mine := testkit.NewProbe[string](t, client.System)
		require.PanicsWithValue(t, `topic: cannot subscribe "`+mine.Ref().Path()+`" to "prices": this system is a client, which is no member of the cluster; `+
			`have an actor of the cluster subscribe, and tell it on`, func() { prices.Subscribe(client.System, mine.Ref()) })
		require.Panics(t, func() { receptionist.Register(client.System, shops, mine.Ref()) })
		require.ErrorContains(t, receptionist.Find(client.System, shops).Err, "cluster.Lookup")
		l, err := cluster.Lookup(t.Context(), client, shops)
		require.NoError(t, err)
		require.Len(t, l.Instances, 1)
	})
}

// The node still sends news to the client, which it does not know to have gone. That is no loss.
func TestNothingIsLostWhenAClientAndThenItsNodeShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		c := clustertest.Start(t, 1, func(_ string, cfg *cluster.Config) { cfg.Logger = zap.New(core) })
		n1 := c.Node("n1")
		lost := testkit.NewProbe[actor.DeadLetter](t, n1.System)
		actor.Subscribe(n1.System, lost.Ref())
		client := c.Dial("client")
		desk := actor.Spawn(client, clerk(), "desk")
		require.Equal(t, 7, handIn(t, actor.Resolve[ticket](n1.System, desk.String()), 7).Number)
		require.NoError(t, client.Shutdown(t.Context()))
		require.NoError(t, n1.Leave(t.Context()))
		require.Empty(t, logs.FilterMessage("messages lost").All())
		lost.ExpectNone(time.Second)
	})
}

// Messages that wait for a member that has crashed end when the client hears that it is gone.
func TestWhatAClientHasNotSentEndsWhenTheNodeIsRemoved(t *testing.T) {
	scenario(t, 3, func(t *testing.T, c *clustertest.Cluster) {
		target := mute(c.Node("n3"), "target")
		client := c.Dial("client")
		lost := testkit.NewProbe[actor.DeadLetter](t, client.System)
		actor.Subscribe(client.System, lost.Ref())
		ref := actor.Resolve[watchQuestion](client.System, target.String())
		ref.Tell(watchQuestion{})
		time.Sleep(time.Second)
		c.Kill("n3")
		time.Sleep(50 * time.Millisecond)
		ref.Tell(watchQuestion{})
		begun := time.Now()
		time.Sleep(2 * time.Second) // a probe waits no longer than three
		require.ErrorIs(t, lost.Receive().Reason, actor.ErrUnreachable)
		require.Less(t, time.Since(begun), 4*time.Second)
		_, member := client.View().Member("n3")
		require.False(t, member)
	})
}
