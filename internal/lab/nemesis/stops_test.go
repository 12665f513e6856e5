//go:build linux

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// life returns a process that says at some seconds that it is a member, and at others that it is no
// more: "up 3", "lost 7". "ended 9" is its end.
func life(process string, events ...string) Life {
	l := Life{Node: process[:2]}
	id := 0
	for _, text := range events {
		var what string
		var second int
		_, _ = fmt.Sscan(text, &what, &second)
		at := time.Duration(second) * time.Second
		switch what {
		case "ended":
			l.Ended = at
		case "lost":
			l.Seen = append(l.Seen, ObservedEvent{At: at, Kind: "MembershipLost", Member: l.Node, ID: "next"}, ObservedEvent{At: at, Kind: "LeaderChanged"})
		case "joined", "up":
			id++
			kind := map[string]string{"joined": "MemberJoined", "up": "MemberUp"}[what]
			l.Seen = append(l.Seen, ObservedEvent{At: at, Kind: kind, Member: l.Node, ID: fmt.Sprint(process, "#", id)})
		}
	}
	return l
}

func seconds(all ...int) (at []time.Duration) {
	for _, s := range all {
		at = append(at, time.Duration(s)*time.Second)
	}
	return at
}

func TestAStopOfTheWholeClusterIsATimeWithoutMembers(t *testing.T) {
	for name, test := range map[string]struct {
		lives []Life
		stops []time.Duration
	}{
		"nothing happens": {[]Life{life("n1.1", "up 1"), life("n2.1", "joined 2", "up 3")}, nil},
		"nobody runs":     {nil, nil},
		"all are killed":  {[]Life{life("n1.1", "up 1", "ended 10"), life("n2.1", "up 2", "ended 11"), life("n1.2", "up 15"), life("n2.2", "up 16")}, seconds(11)},
		"one after the other": {
			[]Life{life("n1.1", "up 1", "ended 10"), life("n2.1", "up 2", "ended 20"), life("n1.2", "up 15"), life("n2.2", "up 25")}, nil,
		},
		"all down themselves, and form a new one": {
			[]Life{life("n1.1", "up 1", "lost 10", "up 20"), life("n2.1", "up 2", "lost 12", "up 21"), life("n3.1", "up 2", "lost 11", "up 21")}, seconds(12),
		},
		"some are killed and the others down themselves": {
			[]Life{life("n1.1", "up 1", "ended 9"), life("n2.1", "up 2", "lost 12", "joined 18"), life("n3.1", "up 2", "lost 11", "up 21"), life("n1.2", "up 14")}, seconds(12),
		},
		"one is joining still": {
			[]Life{life("n1.1", "up 1", "ended 9"), life("n2.1", "joined 8"), life("n1.2", "up 14")}, nil,
		},
		"one is stopped, and does not know that it was removed": {
			[]Life{life("n1.1", "up 1", "lost 10", "up 20"), life("n2.1", "up 2", "lost 30")}, nil,
		},
		"it happens twice": {
			[]Life{life("n1.1", "up 1", "lost 10", "up 20", "lost 30", "up 40", "ended 50"), life("n2.1", "up 2", "ended 9"), life("n2.2", "up 41")}, seconds(10, 30),
		},
		"a process ends that was no member": {[]Life{life("n1.1", "up 1", "lost 10", "ended 12"), life("n1.2", "up 20")}, seconds(10)},
	} {
		require.Equal(t, test.stops, fullStops(test.lives), name)
	}
}

// A process may be stopped after others have seen it as a member, and before it sees that itself.
func TestAMemberIsOneFromTheTimeAtWhichTheFirstHasSeenIt(t *testing.T) {
	old, next := life("n1.1", "up 1", "ended 10"), life("n2.1", "joined 15")
	require.Equal(t, seconds(10), fullStops([]Life{old, next}))
	old.Seen = append(old.Seen, ObservedEvent{At: 9 * time.Second, Kind: "MemberJoined", Member: "n2", ID: next.Seen[0].ID})
	require.Empty(t, fullStops([]Life{old, next}))
}

// The planted violation: terms begin again while a process of the old cluster is a member.
func TestTermsThatBeginAgainAreAViolationWhileOneOfTheOldClusterLives(t *testing.T) {
	runs := []Run{ticking("n2.1", 2, [2]int{5, 12}), ticking("n1.3", 1, [2]int{20, 30})}
	lives := []Life{
		life("n1.2", "up 1", "ended 8"), life("n2.1", "up 2", "lost 12", "joined 22"), life("n3.1", "up 2", "lost 11", "joined 23"), life("n1.3", "up 19"),
	}
	require.Empty(t, checkGenerations(runs, fullStops(lives)))
	lives[2] = life("n3.1", "up 2", "lost 25", "joined 30")
	require.Equal(t, []string{"generation 2.1 started on n2.1 at 5s, and 1.1 on n1.3 at 20s"}, checkGenerations(runs, fullStops(lives)))
	lives[2] = life("n3.1", "up 2") // it never says that it is no member
	require.Len(t, checkGenerations(runs, fullStops(lives)), 1)

	both := []Run{ticking("n3.1", 2, [2]int{5, 40}), runs[1]}
	found := overlaps(both, nil)
	require.Len(t, found, 1)
	require.Empty(t, found[0].Excuse, "it runs twice")
}
