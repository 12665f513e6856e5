package cluster

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/testkit"
)

func TestWhomAClientTakesForAMemberWhenItsContactChanges(t *testing.T) {
	id := func(name string) remote.NodeID { return remote.NodeID{Address: name, Incarnation: 1} }
	news := func(from string, converged bool, members ...string) contactNews {
		n := contactNews{From: id(from), Member: true, Converged: converged}
		for _, name := range members {
			n.Members = append(n.Members, contactMember{Member: membership.Member{Address: name, Incarnation: 1, Status: membership.Up}})
		}
		return n
	}
	var a knownMembers
	learn := func(n contactNews) (names []string) {
		all, _ := a.learn(n)
		for _, p := range all {
			names = append(names, p.Address)
		}
		return names
	}
	require.Equal(t, []string{"a", "b", "c"}, learn(news("a", true, "a", "b", "c")))
	require.Equal(t, []string{"b", "d", "a", "c"}, learn(news("b", false, "b", "d")), "b may have joined just now")
	require.Equal(t, []string{"b", "c", "a"}, learn(news("b", false, "b", "c")), "d, whom b knew, is gone")
	require.Equal(t, []string{"b", "a"}, learn(news("b", false, "b")), "and so is c")
	down := news("b", false, "b")
	down.Members = append(down.Members, contactMember{Member: membership.Member{Address: "a", Incarnation: 1, Status: membership.Down}})
	require.Equal(t, []string{"b"}, learn(down))

	require.Equal(t, []string{"c", "b"}, learn(news("c", false, "c")))
	require.Equal(t, []string{"c"}, learn(news("c", true, "c")), "all agree that b is gone")

	again := news("d", false, "d")
	again.Members = append(again.Members, contactMember{Member: membership.Member{Address: "c", Incarnation: 2, Status: membership.Up}})
	all, gone := a.learn(again)
	require.Equal(t, []remote.NodeID{{Address: "d", Incarnation: 1}, {Address: "c", Incarnation: 2}}, all, "an address has one incarnation")
	require.Equal(t, []remote.NodeID{{Address: "c", Incarnation: 1}}, gone)
}

func TestContactsForgetClientsThatDoNotAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		client := func() actor.ActorRef[contactNews] {
			return actor.Spawn(s, func(*actor.Context[contactNews], *actor.Next[contactNews]) {}, "")
		}
		var mu sync.Mutex // guards clients
		var clients subscribers
		known := func() subscribers {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(clients)
		}
		contact := actor.Spawn(s, func(_ *actor.Context[contactAsked], next *actor.Next[contactAsked]) {
			clients = subscribers{}
			next.OnMessage = func(ctx *actor.Context[contactAsked], asked contactAsked) actor.Behavior[contactAsked] {
				mu.Lock()
				defer mu.Unlock()
				clients.hear(ctx, asked)
				return nil
			}
		}, "contact")
		quiet, eager := client(), client()
		contact.Tell(contactAsked{Push: quiet})
		for range 30 {
			contact.Tell(contactAsked{Push: eager})
			time.Sleep(time.Second)
		}
		require.Contains(t, known(), eager)
		require.NotContains(t, known(), quiet)
		time.Sleep(2 * contactMemory)
		require.Empty(t, known())
	})
}

func TestAContactThatHasManyClientsStillHearsThemAskAgain(t *testing.T) {
	clients, now := subscribers{}, time.Now()
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	client := func(i int) actor.ActorRef[contactNews] {
		return actor.Resolve[contactNews](s, fmt.Sprintf("understudy://test@there:1/user/%d", i))
	}
	var all []actor.ActorRef[contactNews]
	for i := range membership.MaxMembers + 1 {
		all = append(all, client(i))
		clients.add(all[i], subscription{asked: now})
	}
	require.Len(t, clients, membership.MaxMembers)
	clients.add(all[0], subscription{asked: now.Add(contactMemory)})
	clients.forget(now.Add(contactMemory))
	require.Equal(t, subscribers{all[0]: {asked: now.Add(contactMemory)}}, clients)
}
