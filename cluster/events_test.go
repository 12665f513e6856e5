package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An account is the state that a reader derives from events.
type account struct {
	statuses    map[ID]Status
	unreachable map[ID]bool
	leaders     map[string]ID
}

func newAccount() *account {
	return &account{statuses: map[ID]Status{}, unreachable: map[ID]bool{}, leaders: map[string]ID{}}
}

func (a *account) hear(e Event) {
	switch e := e.(type) {
	case MemberJoined:
		a.statuses[e.Member.ID()] = Joining
	case MemberUp:
		a.statuses[e.Member.ID()] = Up
	case MemberLeaving:
		a.statuses[e.Member.ID()] = Leaving
	case MemberExiting:
		a.statuses[e.Member.ID()] = Exiting
	case MemberDowned:
		a.statuses[e.Member.ID()] = Down
	case MemberRemoved:
		delete(a.statuses, e.Member.ID())
		delete(a.unreachable, e.Member.ID())
	case MemberUnreachable:
		a.unreachable[e.Member.ID()] = true
	case MemberReachable:
		delete(a.unreachable, e.Member.ID())
	case LeaderChanged:
		if a.leaders[e.Role] = e.After.ID(); e.After.ID() == (ID{}) {
			delete(a.leaders, e.Role)
		}
	case MembershipLost:
		clear(a.statuses)
		clear(a.unreachable)
	}
}

// accountOf returns the account that a view itself gives.
func accountOf(v View) *account {
	a := newAccount()
	for _, m := range v.Members {
		a.statuses[m.ID()] = m.Status
		if !v.Reachable(m) {
			a.unreachable[m.ID()] = true
		}
		for _, role := range append([]string{""}, m.Roles...) {
			if leader, ok := v.LeaderOf(role); ok {
				a.leaders[role] = leader.ID()
			}
		}
	}
	return a
}

func TestEventsBeginWithHowThingsStand(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		ctx, cancel := context.WithCancel(t.Context())
		a, heard := newAccount(), make(chan Event, 100)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for e := range f.nodes["n1"].Events(ctx) {
				heard <- e
			}
		}()
		time.Sleep(time.Second)
		require.Len(t, heard, 4, "three members and their leader")
		f.crash("n3")
		time.Sleep(6 * time.Second)
		require.NoError(t, f.nodes["n2"].Leave(t.Context()))
		delete(f.nodes, "n2")
		cancel()
		<-ended
		close(heard)
		kinds := map[string]int{}
		for e := range heard {
			a.hear(e)
			kinds[strings.TrimPrefix(fmt.Sprintf("%T", e), "membership.")]++
		}
		require.Equal(t, accountOf(f.nodes["n1"].View()), a)
		require.Subset(t, slices.Collect(maps.Keys(kinds)), []string{"MemberUp", "LeaderChanged", "MemberUnreachable", "MemberDowned", "MemberRemoved"})
	})
}
