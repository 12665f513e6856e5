package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// stoppingRig returns a rig in which "catalog" is being stopped on a.
func stoppingRig(t *testing.T, drain time.Duration) (*singletonsRig, home.Token) {
	t.Helper()
	r := newSingletonsRig(t, "a", "b")
	spec := singleOf("catalog", Leader())
	spec.DrainTimeout = drain
	r.answered(r.startSpec(spec))
	r.holdStops = true
	return r, r.stop("catalog")
}

// A stop drains, and is answered when the instance has ended; then the singleton is gone. The
// journal knows that first.
func TestAStopIsAnsweredAfterTheEnd(t *testing.T) {
	t.Parallel()
	r, to := stoppingRig(t, 0)
	r.pending(to)
	r.is("catalog", SingletonDraining, "a", 1, 0)
	require.True(t, r.singles["catalog"].Ended)
	r.failedWith(r.stop("catalog"), ErrInProgress)
	r.failedWith(r.move("catalog"), ErrInProgress)
	r.failedWith(r.start("catalog", Leader()), ErrInProgress)

	r.release()
	require.NoError(t, r.answers[to].Err)
	require.Contains(t, r.answers, to)
	r.none("catalog")
	r.forgotten()

	r.answered(r.start("catalog", Leader()))
	r.is("catalog", SingletonActive, "a", 2, 0)
}

// What has no owner has nothing to end.
func TestAStopOfWhatRunsNowhereIsDoneAtOnce(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("b"))
	r.crash("b")
	require.NoError(t, r.answers[r.stop("catalog")].Err)
	r.none("catalog")
	r.join(99, "b")
	r.pass(time.Hour)
	r.none("catalog")
}

// The owner dies while it is being stopped: it is forgotten, and does not rise again elsewhere.
func TestAnOwnerThatDiesWhileItStopsIsNotReplaced(t *testing.T) {
	t.Parallel()
	r, to := stoppingRig(t, 0)
	r.crash("a")
	require.Contains(t, r.answers, to)
	r.none("catalog")
	r.join(99, "a")
	r.pass(time.Hour)
	r.none("catalog")
	require.Equal(t, []string{"catalog 1.0 a"}, r.started)
}

// What has been stopped does not come back with another coordinator. The same holds for what was
// being stopped when the coordinator died.
func TestWhatWasStoppedDoesNotComeBack(t *testing.T) {
	t.Parallel()
	r, _ := stoppingRig(t, 0)
	r.boot()
	_, ok := r.m.ownership("catalog")
	require.False(t, ok)
	r.failedWith(r.start("catalog", Leader()), ErrInProgress)
	r.release()
	r.none("catalog")
	r.forgotten()

	r.boot()
	r.pass(time.Hour)
	r.none("catalog")
	require.Equal(t, []string{"catalog 1.0 a"}, r.started)
}

// A stop, too, waits no longer than the spec says; what has not ended is told to until it
// does.
func TestADrainTimeoutEndsAStop(t *testing.T) {
	t.Parallel()
	r, to := stoppingRig(t, 10*time.Second)
	r.pass(9 * time.Second)
	r.pending(to)
	r.pass(time.Second)
	require.Contains(t, r.answers, to)
	_, ok := r.m.ownership("catalog")
	require.False(t, ok)
	r.release()
	r.pass(10 * time.Second)
	r.none("catalog")
}

// A start that was acknowledged after the stop has begun changes nothing.
func TestALateStartIsStoppedToo(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.holdStarts = true
	r.start("catalog", Leader())
	r.holdStops = true
	to := r.stop("catalog")
	r.is("catalog", SingletonDraining, "a", 1, 0)
	r.ackStart(home.IDOf(r.nodes["a"]), r.sends[0].Msg.(home.StartRequest))
	r.is("catalog", SingletonDraining, "a", 1, 0)
	r.pending(to)
	r.release()
	require.Contains(t, r.answers, to)
	r.none("catalog")
}

// An agent that does not stop it, as it knows of a later generation, is asked what it runs, and
// told again later.
func TestAStopThatIsRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	r, to := stoppingRig(t, 0)
	stop := r.sends[len(r.sends)-1].Msg.(home.StopRequest)
	r.held = nil
	r.hear(home.IDOf(r.nodes["a"]), home.FromAgent{StopAck: &home.StopAck{ID: stop.ID, Label: "catalog", Error: "2.0 runs"}})
	require.Contains(t, r.is("catalog", SingletonDraining, "a", 1, 0).Error, "2.0 runs")
	require.Empty(t, r.held)
	r.pass(time.Second)
	require.Len(t, r.held, 1)
	r.pending(to)
	r.release()
	require.Contains(t, r.answers, to)
	r.none("catalog")
}
