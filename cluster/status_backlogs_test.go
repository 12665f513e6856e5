package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func actorsOf(t *testing.T, n *Node) (a statuspage.Actors) {
	t.Helper()
	require.NoError(t, json.Unmarshal(get(n, "/actors").Body.Bytes(), &a))
	return a
}

type asked struct{ replyTo actor.ActorRef[int] }

func spawnSlow(n *Node, name string, opts ...actor.SpawnOption) actor.ActorRef[asked] {
	return actor.Spawn(n, behaviors.Receive(func(_ *actor.Context[asked], msg asked) actor.Behavior[asked] {
		time.Sleep(time.Second)
		msg.replyTo.Tell(1)
		return behaviors.Same
	}), name, opts...)
}

func TestEveryNodeNamesAnActorForWhichTooMuchWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(5*time.Second, "n1", "n2", "n3")
		for _, n := range f.nodes {
			require.Empty(t, actorsOf(t, n).Problems)
		}
		flooded := spawnSlow(f.nodes["n2"], "till")
		for range 2500 {
			flooded.Tell(asked{})
		}
		time.Sleep(2 * time.Second)
		for name, n := range f.nodes {
			a := actorsOf(t, n)
			require.Equal(t, "n2", a.Backlogs[0].Node, name)
			require.Equal(t, "understudy://test@"+f.nodes["n2"].View().Self.Address+"/user/till", a.Backlogs[0].Actor)
			require.InDelta(t, 2498, a.Backlogs[0].Waiting, 2)
			i := slices.IndexFunc(a.Problems, func(p status.Problem) bool { return p.Kind == "backlog" })
			require.GreaterOrEqual(t, i, 0, name)
			require.Equal(t, a.Backlogs[0].Actor, a.Problems[i].About)
			require.Contains(t, a.Problems[i].Text, "The actor /user/till on n2 is behind.")
			require.Contains(t, a.Problems[i].Text, "the limit is 1000")
			require.Contains(t, a.Stuck, "/user/till", "it is the only reason")
		}
	})
}

func TestEveryNodeNamesAnActorWhoseRequestsWaitTooLong(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		slow := spawnSlow(f.nodes["n1"], "till")
		for range 20 {
			go func() {
				_, _ = actor.AskTimeout(context.Background(), slow, 8*time.Second, func(replyTo actor.ActorRef[int]) asked { return asked{replyTo} })
			}()
		}
		time.Sleep(1900 * time.Millisecond)
		require.Empty(t, actorsOf(t, f.nodes["n2"]).Problems, "no request has waited for a quarter of its time")
		time.Sleep(2 * time.Second)
		for name, n := range f.nodes {
			problems := actorsOf(t, n).Problems
			require.Len(t, problems, 1, name)
			require.Contains(t, problems[0].Text, "The actor /user/till on n1 is behind. Its oldest request has waited or been handled for 3.")
			require.Contains(t, problems[0].Text, "of the 8s that its ask has, and the limit is 2s.")
		}
		time.Sleep(time.Minute)
		for name, n := range f.nodes {
			require.Empty(t, actorsOf(t, n).Problems, name)
		}
	})
}

func TestEveryNodeNamesAnActorThatDropsMessagesForAWhile(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		full := spawnSlow(f.nodes["n1"], "till", actor.Bounded(5))
		for range 10 {
			full.Tell(asked{})
		}
		time.Sleep(3 * time.Second)
		for name, n := range f.nodes {
			a := actorsOf(t, n)
			require.NotEmpty(t, a.Backlogs[0].Dropped["mailbox is full"], name)
			require.Len(t, a.Problems, 1)
			require.Contains(t, a.Problems[0].Text, `by "mailbox is full"`)
		}
		time.Sleep(actorhook.RecentlyDropped)
		for name, n := range f.nodes {
			require.Empty(t, actorsOf(t, n).Problems, name)
		}
	})
}

func TestTheTenActorsOfTheClusterThatAreMostBehindAreListed(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		for i := range 16 {
			ref := spawnSlow(f.nodes[[]string{"n1", "n2"}[i%2]], fmt.Sprint("till-", i))
			for range 100 * i {
				ref.Tell(asked{})
			}
		}
		time.Sleep(time.Second)
		for name, n := range f.nodes {
			all := actorsOf(t, n).Backlogs
			require.Len(t, all, 10, name)
			for i, b := range all {
				require.Contains(t, b.Actor, fmt.Sprint("/user/till-", 15-i))
				require.Equal(t, []string{"n1", "n2"}[(15-i)%2], b.Node)
			}
		}
		f.crash("n2")
		time.Sleep(time.Minute)
		for _, b := range actorsOf(t, f.nodes["n1"]).Backlogs {
			require.Equal(t, "n1", b.Node, "the other has gone")
		}
	})
}
