package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/singleton"
)

// If no term can be claimed, the start fails and no instance runs. A later call succeeds; a skipped
// term does no harm.
func TestASourceThatFailsRefusesTheStart(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a")
	r.refuse = errStore
	to := r.start("catalog", Leader())
	r.failedWith(to, ErrSource)
	r.failedWith(to, errStore)
	r.none("catalog")
	r.pass(time.Hour)
	r.none("catalog")
	require.Empty(t, r.started)
	require.Empty(t, r.singles)

	r.refuse = nil
	r.answered(r.start("catalog", Leader()))
	require.Equal(t, SingletonActive, r.answered(r.start("catalog", Leader())).Phase)
}

// A failing source does not affect running instances.
func TestASourceThatFailsChangesNothingOfWhatRuns(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "z", "b:worker")
	r.start("catalog", Role("worker"))
	r.join(1, "a:worker")
	r.refuse = errStore
	r.failedWith(r.move("catalog"), ErrSource)
	r.failedWith(r.start("catalog", OnNode("a")), ErrSource)
	r.pass(time.Minute)
	require.Equal(t, []string{"b"}, r.running("catalog"))
	r.is("catalog", SingletonActive, "b", 1, 0)
	r.refuse = nil
	r.pass(time.Minute)
	require.Empty(t, r.is("catalog", SingletonActive, "b", 1, 0).Error)
	r.answered(r.move("catalog"))
	r.is("catalog", SingletonActive, "a", 2, 0)
}

// A call hangs. The request is answered with an error, and everything else is served meanwhile; the
// later outcome of the call has no effect.
func TestACallThatHangsIsAnError(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a")
	r.holdCalls = true
	to := r.start("catalog", Leader())
	r.ask(func(to home.Token) home.Input { return submit{Token: to, Spec: Spec{Label: "x", Type: "kept"}} })
	require.Equal(t, []string{"a"}, r.running("x"))
	r.pass(2 * time.Second)
	r.pending(to)
	r.pass(time.Second)
	r.failedWith(to, ErrSource)

	r.answerNext()
	r.none("catalog")
	require.Empty(t, r.calls)
	r.holdCalls = false
	o := r.answered(r.start("catalog", Leader()))
	require.Equal(t, singleton.Generation{Term: 2}, o.Generation)
}

// The planner does not trust a source that has forgotten its grants and ignores the floor.
func TestATermIsNeverLowerThanBefore(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a", "b")
	for range 3 {
		r.answered(r.start("catalog", OnNode("a")))
		r.answered(r.start("catalog", OnNode("b")))
	}
	r.is("catalog", SingletonActive, "b", 6, 0)
	r.source.terms["catalog"], r.source.ignoresFloor = 0, true
	r.failedWith(r.start("catalog", OnNode("a")), ErrSource)
	r.is("catalog", SingletonActive, "b", 6, 0)
	r.change("a", func(n *home.Node) {})
	r.crash("b")
	r.join(99, "b")
	r.pass(10 * time.Minute)
	r.is("catalog", SingletonActive, "b", 7, 0)
}

// Two sides of a partition share a source. Both act; of two owners the later one has the higher
// generation. Otherwise both are granted {1,0}.
func TestTwoSidesThatShareASourceAreGrantedDifferentGenerations(t *testing.T) {
	t.Parallel()
	a, b := newSourceRig(t, newFakeSource(), "a"), newSourceRig(t, newFakeSource(), "b")
	first := a.answered(a.start("catalog", Leader()))
	require.Equal(t, first.Generation, b.answered(b.start("catalog", Leader())).Generation, "sources of their own")

	shared := newFakeSource()
	a, b = newSourceRig(t, shared, "a"), newSourceRig(t, shared, "b")
	first = a.answered(a.start("catalog", Leader()))
	second := b.answered(b.start("catalog", Leader()))
	require.True(t, first.Generation.Less(second.Generation))
	require.NotEqual(t, first.Owner, second.Owner)
	a.crash("a")
	a.join(99, "a")
	a.is("catalog", SingletonActive, "a", 3, 0)
}

// The grants of a label only grow, whatever is requested and whatever fails.
func TestGrantsOnlyGrow(t *testing.T) {
	t.Parallel()
	for _, source := range []*fakeSource{nil, newFakeSource()} {
		grantsOnlyGrow(t, newSourceRig(t, source, "a:worker", "b:worker", "c:worker"))
	}
}

func grantsOnlyGrow(t *testing.T, r *singletonsRig) {
	rng := rand.New(rand.NewPCG(152, 0)) //nolint:gosec // a schedule, not a secret
	var last singleton.Generation
	for n := range 1000 {
		name := string(rune('a' + rng.IntN(3)))
		switch rng.IntN(8) {
		case 0, 1:
			r.start("catalog", Role("worker"))
		case 2:
			r.start("catalog", OnNode(name))
		case 3:
			r.move("catalog")
		case 4:
			r.stop("catalog")
		case 5:
			r.crash(name)
			r.join(uint64(n+100), name+":worker")
		case 6:
			r.refuse = errStore
		case 7:
			r.refuse = nil
		}
		r.pass(time.Duration(rng.IntN(4)) * time.Second)
		require.LessOrEqual(t, len(r.running("catalog")), 1)
	}
	for _, s := range r.started {
		var term, seq uint64
		var on string
		_, err := fmt.Sscanf(s, "catalog %d.%d %s", &term, &seq, &on)
		require.NoError(t, err)
		g := singleton.Generation{Term: term, Seq: seq}
		require.True(t, last.Less(g), "%v after %v", g, last)
		last = g
	}
	require.Greater(t, len(r.started), 100)
}

// Where the last number of a term has been granted, the next start is granted a term, and the
// instance that has it.
func TestATermWithoutNumbersIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	for _, again := range []func(*singletonsRig){
		func(r *singletonsRig) { r.start("catalog", Leader()) },
		func(r *singletonsRig) { r.end("a", "catalog", ""); r.pass(time.Second) },
	} {
		r := newSingletonsRig(t, "a")
		r.start("catalog", Leader())
		last := singleton.Generation{Term: 1, Seq: math.MaxUint32}
		r.m.singletons.all["catalog"].grant.generation, r.m.singletons.all["catalog"].granted.generation = last, last
		again(r)
		r.is("catalog", SingletonActive, "a", 2, 0)
		require.Equal(t, []string{"catalog 1.0 a", "catalog 2.0 a"}, r.started)
	}
}

func TestAfterTheLastTermNothingStarts(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.singles["catalog"] = home.Record{Ended: true, Granted: singleton.Generation{Term: math.MaxUint32}}
	r.boot()
	r.failedWith(r.start("catalog", Leader()), ErrSource)
	r.none("catalog")
}

// Requests that have waited for the source are checked again when it has answered.
func TestWhatWaitsForTheSourceIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "z", "b:worker")
	r.holdCalls = true
	r.start("catalog", Role("worker"))
	moved, stopped := r.move("catalog"), r.stop("catalog")
	r.answerNext()
	require.Equal(t, "b", r.answered(moved).Owner)
	require.NoError(t, r.answers[stopped].Err)
	require.Contains(t, r.answers, stopped)
	r.none("catalog")
}

// A journal may refuse what a singleton is made from, when it starts and when it changes. Only that
// request fails.
func TestASingletonThatTheJournalDoesNotTakeIsRefusedAlone(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.refuseFact = func(f home.Fact) error {
		if _, single := labelOf(f); single && len(singleIn(*f.Record).State) > 100 {
			return persistence.ErrTooLarge
		}
		return nil
	}
	large := func(anchor Anchor) SingletonSpec {
		s := singleOf("catalog", anchor)
		s.State = make([]byte, 101)
		return s
	}
	unfit := func(to home.Token) {
		r.failedWith(to, ErrInvalid)
		r.failedWith(to, persistence.ErrTooLarge)
	}
	unfit(r.startSpec(large(OnNode("a"))))
	r.none("catalog")
	require.Empty(t, r.singles)
	require.Empty(t, r.m.nodes.PlacesOf("catalog"))

	r.answered(r.start("catalog", OnNode("a")))
	unfit(r.startSpec(large(OnNode("a"))))
	r.is("catalog", SingletonActive, "a", 1, 0)
	unfit(r.startSpec(large(OnNode("b"))))
	r.pass(time.Minute)
	require.Equal(t, []string{"a"}, r.running("catalog"))
	r.boot()
	r.pass(time.Minute)
	require.Equal(t, []string{"a"}, r.running("catalog"))
	require.Empty(t, singleIn(r.singles["catalog"]).State)

	require.NoError(t, r.answers[r.stop("catalog")].Err)
	unfit(r.startSpec(large(Leader())))
	r.none("catalog")
	r.forgotten()
}
