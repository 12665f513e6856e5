package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
)

// becomes lets another node say which status it has now.
func (r *rig) becomes(id ID, s Status) {
	change := r.change()
	m := r.table.members[id]
	m.Status = s
	change.members[id] = m
	r.hears(id, tablePush{From: id, Table: change.pack()})
}

// ignore is what actors do that have nothing to do.
func ignore(*actor.Context[string], string) actor.Behavior[string] { return nil }

func TestANodeThatLeavesStopsItsActorsBeforeItIsGone(t *testing.T) {
	r := newRig(nil)
	n2 := id("n2:1", 2)
	r.joins(n2, "n2")
	r.happens(leaveAsked{})
	require.Equal(t, Leaving, r.table.status(r.self))
	r.happens(stopped{})
	require.Equal(t, Leaving, r.table.status(r.self), "it hands over first")

	r.said = nil
	r.happens(drained{})
	require.Equal(t, Exiting, r.view().Self.Status)
	require.IsType(t, stop{}, r.said[len(r.said)-1], "after it has been told")
	pushes := told[tablePush](r, "n2:1")
	require.Len(t, pushes, 1)
	require.Equal(t, Exiting, pushes[0].Table.table().status(r.self))
	r.happens(drained{})
	require.Equal(t, member, r.phase, "it is a member until its actors have stopped")

	r.said = nil
	r.happens(stopped{})
	require.Equal(t, parting, r.phase)
	require.Len(t, told[gone](r, "n2:1"), 1)
}

func TestAnExitingMemberThatFallsSilentIsRemovedCleanlyAndStopsNobody(t *testing.T) {
	r := newRig(func(set *rules) { set.downing = downing.Manual{} })
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.becomes(n2, Leaving)
	r.becomes(n2, Exiting)
	require.Equal(t, Exiting, r.table.status(n2))
	require.True(t, r.converged, "nobody waits for it to agree")
	require.Len(t, r.view().topology().Members, 1, "singletons need not ask it")

	r.wait(2 * time.Second)
	require.Equal(t, Removed, r.table.status(n2))
	require.True(t, r.table.tombs[n2].Clean)
	r.asks(n3, joinRequest{Name: "n3"})
	r.agrees()
	require.Equal(t, Up, r.table.status(n3))
}

func TestAnExitingMemberNeitherDecidesNorCounts(t *testing.T) {
	r := newRig(nil)
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	r.becomes(n2, Exiting)
	change := r.change()
	change.rows[n2] = row{Version: 9, Unreachable: []ID{n3}}
	r.hears(n2, tablePush{From: n2, Table: change.pack()})
	require.Empty(t, r.table.unreachable(), "its opinion counts for nothing")
	require.Len(t, r.situation().Members, 2, "downing does not see it")
	require.NotContains(t, r.table.voters(), n2)

	leader, ok := first(r.table.candidates(Oldest()), func(m Member) bool { return m.ID() != r.self && m.ID() != n3 })
	require.False(t, ok, "%v acts for nobody", leader)
}

func TestALeavingMemberThatFallsSilentHasCrashed(t *testing.T) {
	r := newRig(nil)
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	r.becomes(n2, Leaving)
	for range 100 {
		r.wait(50 * time.Millisecond)
		r.hears(n3, heartbeat{
			Cluster: r.table.cluster, Seq: uint64(r.clock.UnixNano()), Stream: true,
			Seen: make([]byte, len(r.witnesses.bits)), Members: r.sums.members, All: r.sums.all,
		})
	}
	require.Equal(t, Removed, r.table.status(n2))
	require.False(t, r.table.tombs[n2].Clean, "its singletons may still run")
}

func TestWhatActorsSayAsTheirNodeLeavesReachesOtherNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		heard := make(chan string, 1)
		listener := actor.Spawn(f.nodes["n1"], func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = func(_ *actor.Context[string], msg string) actor.Behavior[string] {
				heard <- msg
				return nil
			}
		}, "listener")
		n2 := f.nodes["n2"]
		abroad := actor.Resolve[string](n2.System, listener.String())
		statuses := make(chan Status, 2)
		actor.Spawn(n2, func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = ignore
			next.OnSignal = func(_ *actor.Context[string], sig actor.Signal) actor.Behavior[string] {
				if _, ends := sig.(actor.PostStop); ends {
					time.Sleep(time.Second) // it takes its time
					statuses <- n2.View().Self.Status
					m, _ := f.nodes["n1"].View().Member("n2")
					statuses <- m.Status
					abroad.Tell("farewell")
				}
				return nil
			}
		}, "talker")
		require.NoError(t, n2.Leave(t.Context()))
		delete(f.nodes, "n2")
		require.Equal(t, Exiting, <-statuses, "as it sees itself")
		require.Equal(t, Exiting, <-statuses, "as others see it")
		select {
		case msg := <-heard:
			require.Equal(t, "farewell", msg)
		case <-time.After(time.Minute):
			require.Fail(t, "nothing was heard")
		}
		f.await(time.Second, "n1", "n3")
	})
}

func TestANodeThatCrashesAsItsActorsStopIsNoCrash(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		n3 := f.nodes["n3"]
		hung := make(chan struct{})
		actor.Spawn(n3, func(ctx *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = ignore
			ctx.Defer(func() { <-hung })
		}, "slow")
		left := make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { left <- n3.Leave(ctx) }()
		time.Sleep(time.Second)
		require.Equal(t, Exiting, n3.View().Self.Status)
		f.net.Crash("n3")
		time.Sleep(1200 * time.Millisecond)
		f.await(0, "n1", "n2")
		require.Empty(t, f.nodes["n1"].View().gone, "nothing of it needs to be waited for")
		cancel()
		require.ErrorIs(t, <-left, context.Canceled, "leaving ends with its context")
		close(hung)
		delete(f.nodes, "n3")
		_ = n3.Leave(t.Context()) // its sockets are gone
	})
}

func TestSingletonsMoveFromANodeBeforeItIsExiting(t *testing.T) {
	r := newRig(nil)
	n2 := id("n2:1", 2)
	r.joins(n2, "n2")
	r.becomes(n2, Leaving)
	require.Len(t, r.view().topology().Members, 2, "it may still run one, and must be asked")
	require.Equal(t, ID{Address: "n2:1", Incarnation: 2}, r.view().topology().Members[1].ID)
	r.becomes(n2, Exiting)
	require.Len(t, r.view().topology().Members, 1)
}
