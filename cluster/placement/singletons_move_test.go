package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// moving returns a rig in which "catalog" is being moved from b to a: an older worker has
// joined.
func moving(t *testing.T, drain time.Duration) (*singletonsRig, home.Token) {
	t.Helper()
	r := newSingletonsRig(t, "z", "b:worker")
	spec := singleOf("catalog", Role("worker"))
	spec.DrainTimeout = drain
	r.answered(r.startSpec(spec))
	r.is("catalog", SingletonActive, "b", 1, 0)
	r.join(1, "a:worker")
	r.is("catalog", SingletonActive, "b", 1, 0) // an older one is no reason to move
	r.holdStops, r.holdStarts = true, true
	return r, r.move("catalog")
}

// A move drains the old owner, and shows it until the instance has ended. Then the next instance
// starts, with the term that was granted before. An acknowledgement of another stop does not count.
func TestAMoveStopsThenStarts(t *testing.T) {
	t.Parallel()
	r, to := moving(t, 0)
	o := r.answered(to)
	require.Equal(t, Ownership{Label: "catalog", Owner: "b", Generation: singleton.Generation{Term: 1}, Phase: SingletonDraining}, o)
	require.Equal(t, "a", r.singles["catalog"].Owner, "the term is granted first")
	stop := r.sends[len(r.sends)-1].Msg.(home.StopRequest)
	require.Equal(t, singleton.Generation{Term: 1}, stop.Generation)

	r.hear(home.IDOf(r.nodes["b"]), home.FromAgent{StopAck: &home.StopAck{ID: home.RequestID{Epoch: 1, N: 99}, Label: "catalog"}})
	r.hear(home.IDOf(r.nodes["a"]), home.FromAgent{StopAck: &home.StopAck{ID: stop.ID, Label: "catalog"}})
	r.is("catalog", SingletonDraining, "b", 1, 0)

	r.ackStop(home.IDOf(r.nodes["b"]), stop)
	r.is("catalog", SingletonStarting, "a", 2, 0)
	r.release()
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 a"}, r.started)
}

// If the anchor still names the owner, a move is done at once.
func TestAMoveToWhereItIsChangesNothing(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	require.Equal(t, SingletonActive, r.answered(r.move("catalog")).Phase)
	r.is("catalog", SingletonActive, "a", 1, 0)
	require.Len(t, r.started, 1)
}

// After the DrainTimeout the next owner starts, even if the old instance has not ended. Its later
// end has no effect.
func TestADrainTimeoutEndsTheWait(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 10*time.Second)
	r.pass(9 * time.Second)
	r.is("catalog", SingletonDraining, "b", 1, 0)
	r.pass(time.Second)
	r.is("catalog", SingletonStarting, "a", 2, 0)
	require.Equal(t, []string{"b"}, r.running("catalog"))
	r.release()
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"a"}, r.running("catalog"), "it is told to stop until it has")
	r.pass(time.Hour)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 a"}, r.started)
}

// Without a DrainTimeout the wait may take a year.
func TestWithoutADrainTimeoutAMoveWaits(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 0)
	for range 365 {
		r.now = r.now.Add(24 * time.Hour)
		r.step(home.Tick{})
		r.sends, r.held = nil, nil
	}
	r.is("catalog", SingletonDraining, "b", 1, 0)
}

// While a singleton moves, no other move or stop of it begins.
func TestWhatIsMovedIsNeitherMovedNorStopped(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 0)
	r.failedWith(r.move("catalog"), ErrInProgress)
	r.failedWith(r.stop("catalog"), ErrInProgress)
	r.release()
	r.is("catalog", SingletonActive, "a", 2, 0)
}

// No move or stop begins while the call for the term is in flight.
func TestWhatIsAboutToBeMovedIsNeitherMovedNorStopped(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "z", "b:worker")
	r.start("catalog", Role("worker"))
	r.join(1, "a:worker")
	r.holdCalls = true
	r.move("catalog")
	r.failedWith(r.move("catalog"), ErrInProgress)
	r.failedWith(r.stop("catalog"), ErrInProgress)
}

// There is nothing to move or to stop.
func TestWhatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.start("catalog", Leader())
	r.failedWith(r.move("minter"), ErrNotFound)
	r.failedWith(r.stop("minter"), ErrNotFound)
	r.none("minter")
}

// A singleton that runs nowhere cannot be moved.
func TestWhatHasNoOwnerIsNotMoved(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("b"))
	r.crash("b")
	r.is("catalog", SingletonOwnerless, "", 1, 0)
	r.failedWith(r.move("catalog"), ErrNoOwner)
}

// A move that leads nowhere is refused, and changes nothing.
func TestAMoveToNobodyIsRefused(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b:worker")
	r.start("catalog", Role("worker"))
	r.change("b", func(n *home.Node) { n.Reachable = false })
	r.failedWith(r.move("catalog"), ErrNoEligibleNodes)
	r.is("catalog", SingletonActive, "b", 1, 0)
}

// The old owner crashes while it drains. The new instance starts once, with the term that was
// granted, and may then be moved again.
func TestAnOwnerThatDiesWhileItDrainsEndsTheWait(t *testing.T) {
	t.Parallel()
	for _, drain := range []time.Duration{0, 10 * time.Second} {
		r, _ := moving(t, drain)
		r.crash("b")
		r.is("catalog", SingletonStarting, "a", 2, 0)
		r.release()
		r.is("catalog", SingletonActive, "a", 2, 0)
		r.pass(time.Hour)
		r.is("catalog", SingletonActive, "a", 2, 0)
		require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 a"}, r.started)
		require.Equal(t, SingletonActive, r.answered(r.move("catalog")).Phase)
	}
}

// The destination dies while the old owner drains: another is found when it has ended.
func TestADestinationThatDiesIsReplaced(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 0)
	r.join(97, "c:worker")
	r.crash("a")
	r.is("catalog", SingletonDraining, "b", 1, 0)
	r.release()
	r.is("catalog", SingletonActive, "b", 3, 0)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 3.0 b"}, r.started)

	r, _ = moving(t, 0)
	r.join(97, "c:worker")
	r.crash("a", "b")
	r.release()
	r.is("catalog", SingletonActive, "c", 3, 0)

	r, _ = moving(t, 0)
	r.crash("a", "b")
	r.is("catalog", SingletonOwnerless, "", 2, 0)
	r.join(98, "c:worker")
	r.release()
	r.is("catalog", SingletonActive, "c", 3, 0)
}

// When the leader changes without a crash, a singleton anchored at it follows.
func TestALeadersSingletonFollowsTheLeader(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "b", "c")
	r.start("catalog", Leader())
	r.is("catalog", SingletonActive, "b", 1, 0)
	r.holdStops = true
	r.join(1, "a")
	r.is("catalog", SingletonDraining, "b", 1, 0)
	r.release()
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 a"}, r.started)
}

// A node being drained gives up the singletons that other nodes may own, and the drain is answered
// when they have ended. The others stay until the node leaves.
func TestADrainMovesSingletonsByTheirAnchors(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a:worker", "b:worker")
	r.start("catalog", Role("worker"))
	r.start("minter", OnNode("a"))
	r.start("manager", Leader())
	r.holdCalls = true
	a := home.IDOf(r.nodes["a"])
	drained := r.ask(func(to home.Token) home.Input {
		return home.Drain{Token: to, Node: home.NodeID{Name: a.Name, Incarnation: a.Incarnation}}
	})
	r.pending(drained)
	r.holdCalls, r.holdStops = false, true
	r.answerNext()
	r.answerNext()
	r.pending(drained)
	r.release()
	require.Contains(t, r.answers, drained)
	r.is("catalog", SingletonActive, "b", 2, 0)
	r.is("manager", SingletonActive, "b", 2, 0)
	r.is("minter", SingletonActive, "a", 1, 0)
	r.crash("a")
	r.is("minter", SingletonOwnerless, "", 1, 0)
}

// An unreachable node keeps its instances.
func TestUnreachableAloneMovesNothing(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "z", "a:worker", "b:worker")
	r.start("catalog", Role("worker"))
	r.start("minter", OnNode("a"))
	r.change("a", func(n *home.Node) { n.Reachable = false })
	r.pass(time.Hour)
	r.is("catalog", SingletonActive, "a", 1, 0)
	r.is("minter", SingletonActive, "a", 1, 0)
}
