package sharding_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A shop is a cluster whose nodes host event-sourced notebooks in one journal.
type shop struct {
	*clustertest.Cluster
	t       *testing.T
	store   *journal.Memory
	opts    []sharding.Option
	logs    zapcore.Core
	entries *observer.ObservedLogs

	mu      sync.Mutex // guards all below
	regions map[string]*sharding.Region[note]
	at      map[string]int // how many entities have started, by node
}

func inShop(t *testing.T, nodes int, f func(t *testing.T, s *shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, store: journal.NewMemory(), regions: map[string]*sharding.Region[note]{}, at: map[string]int{}}
		s.opts = []sharding.Option{sharding.Shards(16)}
		s.Cluster = clustertest.Start(t, nodes, clustertest.WithJournal(nil))
		for n := range nodes {
			s.start(fmt.Sprint("n", n+1))
		}
		f(t, s)
	})
}

func (s *shop) start(name string) {
	s.t.Helper()
	r, err := sharding.Start(s.Node(name), "notebook", s.persistent(name), s.opts...)
	require.NoError(s.t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regions[name] = r
}

func (s *shop) region(name string) *sharding.Region[note] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.regions[name]
}

// persistent returns the factory of notebooks that keep their text in the journal, and know their
// node.
func (s *shop) persistent(node string) func(sharding.Entity) actor.Behavior[note] {
	return func(e sharding.Entity) actor.Behavior[note] {
		s.mu.Lock()
		s.at[node]++
		s.mu.Unlock()
		return persistentNotebook(e, s.store, node)
	}
}

func persistentNotebook(e sharding.Entity, store journal.Journal, node string) actor.Behavior[note] {
	return behaviors.EventSourced(e.PersistenceID(), store, []string(nil),
		func(all []string, n noted) []string { return append(all, n.Text) },
		func(_ *actor.Context[note], all []string, n note) persistence.Effect[noted] {
			switch n.Text {
			case "":
				n.ReplyTo.Tell(strings.Join(all, " "))
			case "where":
				n.ReplyTo.Tell(node)
			default:
				if n.Text == "slow" {
					time.Sleep(14 * time.Second)
				}
				effect := persistence.Persist(noted{n.Text})
				if n.ReplyTo != (actor.ActorRef[string]{}) {
					return effect.Then(func() { n.ReplyTo.Tell("noted") })
				}
				return effect
			}
			return persistence.None
		})
}

func (s *shop) tell(from, id, text string) { s.region(from).Ref(id).Tell(note{Text: text}) }

func (s *shop) ask(from, id, text string) (string, error) {
	ctx, cancel := contextFor(s.t, 30*time.Second)
	defer cancel()
	return actor.Ask(ctx, s.region(from).Ref(id), func(r actor.ActorRef[string]) note { return note{Text: text, ReplyTo: r} })
}

func (s *shop) read(from, id string) string {
	s.t.Helper()
	got, err := s.ask(from, id, "")
	require.NoError(s.t, err)
	return got
}

// where returns how many of some entities each node has.
func (s *shop) where(from string, entities int) map[string]int {
	s.t.Helper()
	all := map[string]int{}
	for n := range entities {
		node, err := s.ask(from, fmt.Sprint("e", n), "where")
		require.NoError(s.t, err)
		all[node]++
	}
	return all
}

func TestEachNodeReachesEachEntity(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		for n := range 60 {
			s.tell(fmt.Sprint("n", n%3+1), fmt.Sprint("e", n%20), fmt.Sprint("from", n%3+1))
		}
		time.Sleep(time.Second)
		for n := range 20 {
			got := s.read("n2", fmt.Sprint("e", n))
			require.Len(t, strings.Fields(got), 3, got)
		}
		require.Len(t, s.where("n1", 20), 3, "all nodes host some")
		total := 0
		for _, n := range s.at {
			total += n
		}
		require.Equal(t, 20, total, "each has been started once")
	})
}

func TestAJoiningNodeGetsShards(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		require.Equal(t, map[string]int{"n1": 40}, s.where("n1", 40))
		for n := range 40 {
			s.tell("n1", fmt.Sprint("e", n), "one")
		}
		s.Add("n2")
		s.start("n2")
		time.Sleep(3 * time.Minute)
		at := s.where("n1", 40)
		require.Greater(t, at["n2"], 10, "%v", at)
		for n := range 40 {
			require.Equal(t, "one", s.read("n2", fmt.Sprint("e", n)))
		}
	})
}

func TestTheShardsOfACrashedNodeRunElsewhere(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		for n := range 40 {
			s.tell("n1", fmt.Sprint("e", n), "one")
		}
		s.where("n1", 40)
		s.Kill("n3")
		time.Sleep(10 * time.Second) // until then, asks of entities there end with ErrUnreachable
		for n := range 40 {
			require.Equal(t, "one", s.read("n1", fmt.Sprint("e", n)))
		}
		require.NotContains(t, s.where("n2", 40), "n3")
	})
}

func TestTheNodeOfTheCoordinatorMayCrash(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		for n := range 40 {
			s.tell("n2", fmt.Sprint("e", n), "one")
		}
		before := s.where("n2", 40)
		s.Kill("n1")
		time.Sleep(10 * time.Second)
		for n := range 40 {
			require.Equal(t, "one", s.read("n2", fmt.Sprint("e", n)))
		}
		after := s.where("n3", 40)
		require.NotContains(t, after, "n1")
		require.GreaterOrEqual(t, after["n2"], before["n2"])
		require.GreaterOrEqual(t, after["n3"], before["n3"])
	})
}

func TestANodeThatLeavesHandsItsShardsOver(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		s.where("n1", 40)
		var asking sync.WaitGroup
		done := make(chan struct{})
		for n := range 40 {
			asking.Go(func() {
				for count := 0; ; count++ {
					select {
					case <-done:
						return
					default:
					}
					got, err := s.ask("n1", fmt.Sprint("e", n), fmt.Sprint(count))
					if err != nil || got != "noted" {
						t.Errorf("e%d: %q, %v", n, got, err)
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		s.Leave("n3")
		time.Sleep(time.Second)
		close(done)
		asking.Wait()
		require.NotContains(t, s.where("n2", 40), "n3")
		for n := range 40 { // in order, and none twice
			for i, text := range strings.Fields(s.read("n2", fmt.Sprint("e", n))) {
				require.Equal(t, fmt.Sprint(i), text)
			}
		}
	})
}

func TestMessagesOfASenderStayInOrderWhileShardsMove(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		const each = 700 // for longer than balancing waits after a node has joined
		s.where("n1", 20)
		var telling sync.WaitGroup
		for _, from := range []string{"n1", "n2"} {
			telling.Go(func() {
				for count := range each {
					for n := range 20 {
						s.tell(from, fmt.Sprint("e", n), fmt.Sprint(from, ":", count))
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		s.Add("n3")
		s.start("n3")
		telling.Wait()
		time.Sleep(10 * time.Second)
		require.Contains(t, s.where("n1", 20), "n3")
		for n := range 20 {
			next := map[string]int{}
			for text := range strings.FieldsSeq(s.read("n1", fmt.Sprint("e", n))) {
				from, count, _ := strings.Cut(text, ":")
				require.Equal(t, fmt.Sprint(next[from]), count, "e%d from %s", n, from)
				next[from]++
			}
			require.Equal(t, map[string]int{"n1": each, "n2": each}, next, "e%d", n)
		}
	})
}

func TestANodeThatIsPartitionedWritesNothingForShardsThatHaveMoved(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		for n := range 40 {
			s.tell("n1", fmt.Sprint("e", n), "one")
		}
		s.where("n1", 40)
		s.Partition([]string{"n3"}, []string{"n1", "n2"})
		time.Sleep(10 * time.Second)
		for n := range 40 {
			require.Equal(t, "one", s.read("n1", fmt.Sprint("e", n)))
			s.tell("n1", fmt.Sprint("e", n), "two")
			s.tell("n3", fmt.Sprint("e", n), "stale") // it may still believe that it has the shard
		}
		time.Sleep(time.Minute)
		for n := range 40 {
			require.Equal(t, "one two", strings.ReplaceAll(s.read("n2", fmt.Sprint("e", n)), " stale", ""))
		}
	})
}

func TestNodesThatJoinAnotherClusterForgetTheTableOfTheFormer(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		const entities = 4 // few, whose shards must get above the terms of the former cluster
		for n := range entities {
			s.tell("n1", fmt.Sprint("e", n), "one")
		}
		for range 2 { // the table of the former cluster has had more changes than the next one has
			s.Crash("n3")
			time.Sleep(20 * time.Second)
			s.Add("n3")
			s.start("n3")
			time.Sleep(40 * time.Second)
		}
		s.Partition([]string{"n1"}, []string{"n2"}, []string{"n3"}) // no majority: all go down
		time.Sleep(10 * time.Second)
		s.Crash("n1") // no node is left that knows the term of the coordinator
		s.Heal()
		s.Add("n1")
		s.start("n1")
		s.AwaitQuiet()
		for n := range entities {
			for _, node := range []string{"n1", "n2", "n3"} {
				require.Equal(t, "one", s.read(node, fmt.Sprint("e", n)), "e%d by %s", n, node)
			}
		}
	})
}

func TestANodeWithAnotherNumberOfShardsTakesNoPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		factory := func(e sharding.Entity) actor.Behavior[note] { return notebook(e) }
		one, err := sharding.Start(c.Node("n1"), "notebook", factory, sharding.Shards(16))
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		two, err := sharding.Start(c.Node("n2"), "notebook", factory, sharding.Shards(32))
		require.NoError(t, err)
		time.Sleep(time.Minute)
		require.Equal(t, "a:", read(t, one.Ref("a")))
		_, err = tryRead(t, two.Ref("a"))
		require.ErrorIs(t, err, sharding.ErrMismatch)
		require.ErrorContains(t, err, `on node n2, "notebook" has shards 32 here and 16 in the cluster`)
	})
}

func TestTheNumberOfShardsStaysWhenTheCoordinatorMovesToANodeWithAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		regions := map[string]*sharding.Region[note]{}
		for _, n := range []string{"n1", "n3", "n2"} { // after n1, n2 is the oldest
			shards := 16
			if n == "n2" {
				shards = 32
			}
			r, err := sharding.Start(c.Node(n), "notebook", notebook, sharding.Shards(shards))
			require.NoError(t, err)
			regions[n] = r
			time.Sleep(10 * time.Second)
		}
		c.Leave("n1")
		time.Sleep(time.Minute)
		require.Equal(t, "a:", read(t, regions["n3"].Ref("a")))
		_, err := tryRead(t, regions["n2"].Ref("a"))
		require.ErrorIs(t, err, sharding.ErrMismatch)
	})
}

func TestANodeWithoutTheRoleSendsAndHostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1)
		c.Add("worker", func(_ string, cfg *cluster.Config) { cfg.Roles = []string{"worker"} })
		store := journal.NewMemory()
		var regions []*sharding.Region[note]
		for _, n := range c.Nodes() {
			name := n.View().Self.Name
			r, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] { return persistentNotebook(e, store, name) }, sharding.Shards(16), sharding.Role("worker"))
			require.NoError(t, err)
			regions = append(regions, r)
		}
		for _, r := range regions {
			ctx, cancel := contextFor(t, 10*time.Second)
			for n := range 20 {
				got, err := actor.Ask(ctx, r.Ref(fmt.Sprint(n)), func(r actor.ActorRef[string]) note { return note{Text: "where", ReplyTo: r} })
				require.NoError(t, err)
				require.Equal(t, "worker", got)
			}
			cancel()
		}
	})
}

func TestAClientOutsideReachesEntitiesAlsoWhenItsContactDies(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		s.where("n1", 10)
		c := s.Dial("outside")
		ref := func(n int) actor.ActorRef[note] { return sharding.RefOf[note](c, "notebook", fmt.Sprint("e", n)) }
		for n := range 10 {
			ref(n).Tell(note{Text: "one"})
			require.Equal(t, "one", read(t, ref(n)))
			require.Equal(t, ref(n), actor.Resolve[note](c.System, ref(n).String()))
		}
		s.Kill("n1")
		time.Sleep(20 * time.Second)
		for n := range 10 {
			ref(n).Tell(note{Text: "two"})
			require.Equal(t, "one two", read(t, ref(n)))
		}
	})
}

func TestTheStatsOfEachNodeHaveTheHomesOfAllShards(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		time.Sleep(time.Minute)
		here := 0
		for _, name := range []string{"n1", "n2"} {
			for _, of := range s.region(name).Stats().Shards {
				require.NotEmpty(t, of.Home)
				require.Equal(t, of.Home == s.Node(name).Address(), of.Here)
				require.NotZero(t, of.Term)
				if of.Here {
					here++
				}
			}
		}
		require.Equal(t, 16, here)
	})
}

// An entity whose handler takes longer than entities may take to stop loses no message when its
// node leaves.
func TestWhatWaitsForASlowEntityMovesWithItsShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		store := journal.NewMemory()
		regions := map[string]*sharding.Region[note]{}
		for _, n := range c.Nodes() {
			name := n.View().Self.Name
			r, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] {
				return persistentNotebook(e, store, name)
			}, sharding.Shards(16), sharding.StopTimeout(20*time.Second)) // longer than "slow"
			require.NoError(t, err)
			regions[name] = r
		}
		time.Sleep(5 * time.Minute)
		ask := func(id, text string) (string, error) {
			ctx, cancel := contextFor(t, time.Minute)
			defer cancel()
			return actor.Ask(ctx, regions["n1"].Ref(id), func(r actor.ActorRef[string]) note { return note{Text: text, ReplyTo: r} })
		}
		id := ""
		for n := 0; id == ""; n++ {
			if at, err := ask(fmt.Sprint("e", n), "where"); err == nil && at == "n2" {
				id = fmt.Sprint("e", n)
			}
		}
		var asking sync.WaitGroup
		for _, text := range []string{"slow", "one", "two", "three"} {
			asking.Go(func() {
				got, err := ask(id, text)
				if err != nil || got != "noted" {
					t.Errorf("%s: %q, %v", text, got, err)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		c.Leave("n2")
		asking.Wait()
		got, err := ask(id, "")
		require.NoError(t, err)
		require.Equal(t, "slow one two three", got)
	})
}

func TestANodeThatAloneHasStartedATypeHostsItAndLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		r, err := sharding.Start(c.Node("n2"), "notebook", notebook, sharding.Shards(16))
		require.NoError(t, err)
		require.Equal(t, "a:", read(t, r.Ref("a")))
		begun := time.Now()
		c.Leave("n2")
		require.Less(t, time.Since(begun), 3*time.Second)
	})
}

func TestTheNodesOfANewClusterShareTheShardsAtOnce(t *testing.T) {
	inShop(t, 3, func(t *testing.T, s *shop) {
		time.Sleep(10 * time.Second)
		for n := range 3 {
			here := 0
			for _, of := range s.region(fmt.Sprint("n", n+1)).Stats().Shards {
				if of.Here {
					here++
				}
			}
			require.InDelta(t, 5.5, here, 0.6)
		}
	})
}
