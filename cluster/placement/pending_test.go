package placement

import (
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/effort"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

func stateful(label string, size int) Spec {
	return Spec{Label: label, Type: "t", State: make([]byte, size)}
}

// Only the first fact of a spec has its state, so a step that places a thousand of them again is
// small, however large the states are.
func TestAFactHasNoStateThatTheJournalHas(t *testing.T) {
	effort.Unraced(t)
	r := newSpecsRig(t, "a", "b")
	const size = 64 << 10
	for i := range 1000 {
		r.placed(stateful(fmt.Sprintf("s%03d", i), size).WithConstraints(Constraints{}).WithCrashStrategy(WaitForReturn(time.Minute)))
	}
	bytes, largest := r.bytes, r.largest
	require.Greater(t, bytes, 1000*size)
	require.Less(t, largest, 2*size)
	r.crash("a", "b")
	r.join(70, "c")
	r.pass(2 * time.Minute)
	r.runs("s000", "c")
	r.runs("s999", "c")
	require.Less(t, r.bytes-bytes, 1<<20, "two moves of each")
	r.boot()
	r.runs("s999", "c")
	require.Len(t, r.status("s999").Spec.State, size, "and the next coordinator has it still")
	r.done(r.remove("s999"))
	require.NotContains(t, r.journal, "s999")
}

// A refusingRig is a rig whose journal does not take specs of some size.
func newRefusingRig(t *testing.T, nodes ...string) specsRig {
	r := newSpecsRig(t, nodes...)
	r.refuseFact = func(f home.Fact) error {
		if f.Record != nil && len(specIn(*f.Record).State) > 100 {
			return fmt.Errorf("spec of %s: %w", f.Key, persistence.ErrTooLarge)
		}
		return nil
	}
	return r
}

func (r specsRig) unfit(to home.Token) {
	r.t.Helper()
	r.failedWith(to, ErrInvalid)
	r.failedWith(to, persistence.ErrTooLarge)
	require.Nil(r.t, r.answers[to].Value)
}

func TestASpecThatTheJournalDoesNotTakeIsRefusedAlone(t *testing.T) {
	r := newRefusingRig(t, "a", "b")
	r.placed(specOf("one"))
	r.unfit(r.submit(stateful("large", 101)))
	r.absent("large")
	require.Empty(t, r.m.nodes.PlacesOf("large"))
	r.runs("one", "a")
	require.Equal(t, "b", r.placed(specOf("two")), "nothing else is on b")
	require.Equal(t, "a", r.placed(specOf("large")), "the label is free")
	r.failedWith(r.remove("other"), ErrNotFound)
	r.boot()
	for label, node := range map[string]string{"one": "a", "two": "b", "large": "a"} {
		r.runs(label, node)
	}
}

// Specs that are submitted while the nodes have not reported yet are accepted in one step.
func TestOfSpecsThatAreStoredTogetherOnlyTheCulpritIsRefused(t *testing.T) {
	r := newRefusingRig(t, "a", "b")
	silent := home.IDOf(r.nodes["b"])
	runs := r.agents[silent]
	delete(r.agents, silent)
	r.boot()
	var asked []home.Token
	for i := range 9 {
		asked = append(asked, r.submit(stateful(fmt.Sprint("s", i), 97+i)))
	}
	again := r.submit(specOf("s7"))
	follower := r.submit(with("follower", Constraints{ColocateWith: "s2"}))
	r.pending(asked[0])
	r.agents[silent] = runs
	r.pass(time.Minute)
	for i, to := range asked {
		label := fmt.Sprint("s", i)
		if i > 3 {
			r.unfit(to)
			r.absent(label)
			continue
		}
		r.done(to)
		require.Equal(t, Running, r.status(label).State)
	}
	r.failedWith(again, ErrExists)
	r.done(follower)
	require.Len(t, r.m.Statuses(), 5)
	r.boot()
	require.Len(t, r.m.Statuses(), 5)
}

// A spec that the journal rejects has a follower that got a place in the same step. The follower
// has not started, and waits for the next spec of that label.
func TestWhatFollowsASpecThatIsRefusedWaitsForTheNextOne(t *testing.T) {
	r := newRefusingRig(t, "a", "b")
	r.placed(specOf("x"))
	anchor := r.placed(specOf("anchor"))
	require.Equal(t, anchor, r.placed(with("follower", Constraints{ColocateWith: "anchor"})))
	r.done(r.remove("anchor"))
	r.crash(anchor)
	r.inState("follower", Unplaced)
	r.unfit(r.submit(stateful("anchor", 1000)))
	r.absent("anchor")
	r.inState("follower", Unplaced)
	require.Equal(t, "a", r.placed(specOf("anchor")))
	r.runs("follower", "a")
}

func TestAFactThatIsNoSubmissionMustBeStored(t *testing.T) {
	m := newPlanner(rigConfig)
	_, _, ok := m.Refused(home.Fact{Key: ofSpec + "s", Record: &home.Record{Node: "a"}}, persistence.ErrTooLarge, nil, time.Time{})
	require.False(t, ok)
	_, _, ok = m.Refused(home.Fact{Key: ofSpec + "s", Record: &home.Record{Spec: home.Encode(specOf("s"))}}, persistence.ErrInvalid, nil, time.Time{})
	require.True(t, ok)
}

// The ledger says what all facts say, one after the other.
// The last grant of a singleton outlives a spec that has its label.
func TestASpecTakesTheLabelOfASingletonThatHasEnded(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.singles["x"] = home.Record{Granted: singleton.Generation{Term: 3}, Generation: singleton.Generation{Term: 3}, Ended: true}
	r.boot()
	r.done(r.submit(specOf("x")))
	r.runs("x", "a")
	r.boot()
	r.runs("x", "a")
	r.done(r.remove("x"))
	require.Equal(t, singleton.Generation{Term: 4}, r.answered(r.start("x", Leader())).Generation)
}

// A spec is removed and submitted again in one step, and the journal rejects the new record. Then
// the journal has no record of that label.
func TestASpecThatIsRefusedDoesNotLeaveTheOneBeforeIt(t *testing.T) {
	r := newRefusingRig(t, "a", "b")
	r.journal["s"] = recorded(with("s", Constraints{RequiredNode: "nobody"}), home.Record{})
	silent := home.IDOf(r.nodes["b"])
	runs := r.agents[silent]
	delete(r.agents, silent)
	r.boot()
	removed, asked := r.remove("s"), r.submit(stateful("s", 1000))
	r.agents[silent] = runs
	r.pass(time.Minute)
	r.done(removed)
	r.unfit(asked)
	require.NotContains(t, r.journal, "s")
	r.boot()
	r.absent("s")
}

func TestARemovalThatEndsBeforeAllNodesHaveReportedIsErased(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	a := home.IDOf(r.nodes["a"])
	r.journal["s"] = home.Record{Node: a.Name, Incarnation: a.Incarnation, Request: home.RequestID{Epoch: 1, N: 1}, Ended: true}
	silent := home.IDOf(r.nodes["b"])
	runs := r.agents[silent]
	delete(r.agents, silent)
	r.boot()
	r.pass(time.Second)
	require.Contains(t, r.journal, "s", "b may have it too")
	r.agents[silent] = runs
	r.pass(time.Minute)
	require.NotContains(t, r.journal, "s")
}
