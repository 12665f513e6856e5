package clustertest_test

import (
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

// Entry is the message of the log of these tests: a number to store or, with ReplyTo, a request for
// all numbers.
type Entry struct {
	N       int
	ReplyTo actor.ActorRef[[]int]
}

// Kept is the event of an entry.
type Kept struct{ N int }

func init() {
	actor.RegisterType[Entry]("clustertest.entry")
	actor.RegisterType[Kept]("clustertest.kept")
}

// entries returns the factory of an event-sourced log of numbers.
func entries(journal persistence.Journal) func() actor.Behavior[Entry] {
	return func() actor.Behavior[Entry] {
		return behaviors.EventSourced("entries", journal, []int(nil),
			func(all []int, e Kept) []int { return append(all, e.N) },
			func(_ *actor.Context[Entry], all []int, msg Entry) persistence.Effect[Kept] {
				if msg.ReplyTo != (actor.ActorRef[[]int]{}) {
					msg.ReplyTo.Tell(all)
					return persistence.None
				}
				return persistence.Persist(Kept{msg.N})
			})
	}
}

// A story is a cluster with one log, and a census of its instances.
type story struct {
	*clustertest.Cluster
	t       *testing.T
	census  *testkit.Census
	journal persistence.Journal
	logs    map[string]actor.ActorRef[Entry]
}

func begin(t *testing.T, nodes int) *story {
	t.Helper()
	return beginWith(t, nodes)
}

// all asks for all entries, through the node of that name.
func (s *story) all(node string) []int {
	s.t.Helper()
	return testkit.Ask(s.t.Context(), s.t, s.logs[node], func(replyTo actor.ActorRef[[]int]) Entry { return Entry{ReplyTo: replyTo} })
}

// write sends the log the numbers n with from <= n < to, through the node of that name.
func (s *story) write(node string, from, to int) {
	for n := from; n < to; n++ {
		s.logs[node].Tell(Entry{N: n})
	}
}

// host returns the name of the node where the instance runs.
func (s *story) host() string {
	for _, n := range s.Nodes() {
		if status, ok := singleton.StatusOf(n.System, "log"); ok && status.Here {
			return n.View().Self.Name
		}
	}
	return ""
}

// numbers returns the numbers from 0 to n-1.
func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestAnEventSourcedSingletonFailsOverInSecondsWithItsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		require.Equal(t, "n1", s.host())
		s.write("n3", 0, 100)
		require.Equal(t, numbers(100), s.all("n3"))

		s.Crash("n1")
		time.Sleep(5 * time.Second) // detection 0.8 s, stable-after 3 s, and no margin, as the journal fences
		require.Equal(t, "n2", s.host())
		require.Equal(t, numbers(100), s.all("n4"))
		require.Equal(t, 2, s.census.Started())
		require.Equal(t, 1, s.census.Running())
	})
}

func TestTheThirdOldestHostsWhenTheTwoOldestDieAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		s.write("n4", 0, 10)
		require.Len(t, s.all("n4"), 10)
		s.Crash("n1")
		s.Crash("n2")
		time.Sleep(6 * time.Second)
		require.Equal(t, "n3", s.host())
		require.Equal(t, numbers(10), s.all("n5"))
		require.Equal(t, 1, s.census.Running())
	})
}

func TestWhatIsToldAfterSuspicionArrivesAfterTheFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 3)
		s.Crash("n1")
		time.Sleep(time.Second) // by now n1 is unreachable
		for n := range 50 {
			s.logs["n3"].Tell(Entry{N: n})
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, numbers(50), s.all("n3"))
		require.Equal(t, uint64(0), s.Node("n3").DeadLetters())
	})
}

func TestACutShorterThanStableAfterMovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		s.Partition([]string{"n1"}, []string{"n2", "n3", "n4", "n5"})
		time.Sleep(2 * time.Second)
		s.write("n4", 0, 10) // held, as the host is unreachable
		s.Heal()
		s.AwaitQuiet()
		require.Equal(t, "n1", s.host())
		require.Equal(t, numbers(10), s.all("n4"))
		require.Equal(t, 1, s.census.Started())
	})
}

func TestALeavingHostHandsOverAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 3)
		s.write("n3", 0, 50)
		left := make(chan error, 1)
		go func() { left <- s.Node("n1").Leave(t.Context()) }()
		s.write("n3", 50, 100)
		time.Sleep(300 * time.Millisecond)
		s.write("n3", 100, 150)
		require.NoError(t, <-left)
		require.Equal(t, numbers(150), s.all("n3"))
		require.Equal(t, uint64(0), s.Node("n3").DeadLetters())
		require.Equal(t, 1, s.census.Peak(), "the old instance has ended before the new one starts")
		require.Equal(t, 2, s.census.Started())
	})
}

func TestAfterACutOfTenMinutesThereIsOneClusterWithOneLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 5)
		s.write("n2", 0, 10)
		require.Len(t, s.all("n2"), 10)
		s.Partition([]string{"n1", "n2"}, []string{"n3", "n4", "n5"})
		time.Sleep(long(10 * time.Minute))
		require.Equal(t, "n3", s.host())
		s.write("n5", 10, 20)
		require.Equal(t, numbers(20), s.all("n5"))
		s.write("n1", 20, 30) // n1 is in no cluster: held
		s.Heal()
		time.Sleep(time.Minute)
		s.AwaitQuiet()
		require.Equal(t, "n3", s.host(), "who rejoins is the youngest")
		require.Equal(t, numbers(30), s.all("n1"))
		require.Equal(t, 1, s.census.Running())
	})
}

func TestWhoJoinsOrRestartsStartsNoInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, 3)
		s.Restart("n1") // quickly, at its old address: the old one is known to be dead
		time.Sleep(2 * time.Second)
		require.Equal(t, "n2", s.host())
		s.Add("n0") // a lower address
		time.Sleep(10 * time.Second)
		require.Equal(t, "n2", s.host())
		require.Equal(t, 2, s.census.Started())
		_, up := s.Node("n0").View().Member("n3")
		require.True(t, up)
	})
}

func TestWithoutARoleANodeOnlySends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3, func(name string, cfg *cluster.Config) {
			if name != "n1" {
				cfg.Roles = []string{"backend"}
			}
		})
		census := testkit.NewCensus(t)
		journal := journal.NewMemory()
		var first actor.ActorRef[Entry]
		for i, n := range c.Nodes() {
			ref := actor.Spawn(n, behaviors.Singleton(testkit.Counted(census, entries(journal)), singleton.Role("backend")), "log")
			if i == 0 {
				first = ref
			}
		}
		first.Tell(Entry{N: 1})
		require.Equal(t, []int{1}, testkit.Ask(t.Context(), t, first, func(r actor.ActorRef[[]int]) Entry { return Entry{ReplyTo: r} }))
		status, _ := singleton.StatusOf(c.Node("n1").System, "log")
		require.Equal(t, "n2:7355", status.Host)
		require.Equal(t, 1, census.Started())
	})
}
