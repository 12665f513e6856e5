package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func summary(e Event) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", e), "cluster.")
	switch e := e.(type) {
	case MemberUp:
		return name + " " + e.Member.Name
	case MemberDowned:
		return name + " " + e.Member.Name
	case MemberRemoved:
		return name + " " + e.Member.Name
	case MemberUnreachable:
		return name + " " + e.Member.Name
	case LeaderChanged:
		return name + " " + e.After.Name
	case MemberJoined, MemberLeaving, MemberExiting, MemberReachable, MembershipLost:
	}
	return name
}

// The events between two views are tested in package membership.
func TestEventsBeginWithHowThingsStand(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		leader, _ := f.nodes["n1"].View().Leader()
		ctx, cancel := context.WithCancel(t.Context())
		var heard []string
		ended := make(chan struct{})
		n1 := f.nodes["n1"]
		go func() {
			defer close(ended)
			for e := range n1.Events(ctx) {
				heard = append(heard, summary(e))
			}
		}()
		f.crash("n3")
		time.Sleep(7 * time.Second)
		require.NoError(t, f.nodes["n2"].Leave(t.Context()))
		delete(f.nodes, "n2")
		time.Sleep(time.Second)
		cancel()
		<-ended
		begin := []string{"MemberUp n1", "MemberUp n2", "MemberUp n3"}
		slices.SortFunc(heard[:3], strings.Compare)
		require.Equal(t, append(begin, "LeaderChanged "+leader.Name, "MemberUnreachable n3", "MemberDowned n3"), heard[:6])
		require.Contains(t, heard[6:], "MemberRemoved n3")
		require.Contains(t, heard[6:], "MemberRemoved n2")

		v, members, last := f.nodes["n1"].View(), map[string]bool{}, ""
		for _, e := range heard {
			switch kind, name, _ := strings.Cut(e, " "); kind {
			case "MemberUp":
				members[name] = true
			case "MemberRemoved":
				delete(members, name)
			case "LeaderChanged":
				last = name
			}
		}
		leader, _ = v.Leader()
		require.Equal(t, leader.Name, last, "the events add up to the view")
		require.Len(t, v.Members, len(members))
		for _, m := range v.Members {
			require.True(t, members[m.Name], m.Name)
		}
	})
}
