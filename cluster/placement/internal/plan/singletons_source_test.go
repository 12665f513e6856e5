package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/singleton/generation"
)

// If the spec cannot be stored, the start fails and no instance runs. Likewise if no term can be
// claimed. A later call succeeds; a skipped term does no harm.
func TestASourceThatFailsRefusesTheStart(t *testing.T) {
	t.Parallel()
	for _, op := range []SourceOp{OpClaimTerm, OpPutSpec} {
		r := newSingletonsRig(t, "a")
		r.refuse = failing(op)
		to := r.start("catalog", Leader())
		r.failedWith(to, ErrSource)
		r.failedWith(to, errStore)
		require.ErrorContains(t, r.answers[to].Err, op.String())
		r.none("catalog")
		r.pass(time.Hour)
		r.none("catalog")
		require.Empty(t, r.started)
		require.Empty(t, r.journal)

		r.refuse = nil
		r.answered(r.start("catalog", Leader()))
		require.Equal(t, SingletonActive, r.answered(r.start("catalog", Leader())).Phase)
	}
}

// A failing source does not affect running instances.
func TestASourceThatFailsChangesNothingOfWhatRuns(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "z", "b:worker")
	r.start("catalog", Role("worker"))
	r.join(1, "a:worker")
	r.refuse = failing(OpClaimTerm, OpClaimSeq, OpForget, OpPutSpec)
	r.failedWith(r.move("catalog"), ErrSource)
	r.failedWith(r.stop("catalog"), ErrSource)
	r.failedWith(r.start("catalog", OnNode("b")), ErrSource)
	r.pass(time.Minute)
	require.Equal(t, []string{"b"}, r.running("catalog"))
	require.Contains(t, r.is("catalog", SingletonActive, "b", 1, 0).Error, errStore.Error())
	r.refuse = nil
	r.pass(time.Minute)
	require.Empty(t, r.is("catalog", SingletonActive, "b", 1, 1).Error)
	r.answered(r.move("catalog"))
	r.is("catalog", SingletonActive, "a", 2, 0)
}

// A stop that has failed may have taken effect at the source. If it has, the singleton ends.
func TestAStopThatSeemedToFailGoesOn(t *testing.T) {
	t.Parallel()
	for _, happened := range []bool{true, false} {
		r := newSingletonsRig(t, "a", "b")
		r.start("catalog", Leader())
		r.holdCalls = true
		to := r.stop("catalog")
		if happened {
			r.source.ask(r.calls[0])
		}
		r.holdCalls = false
		r.pass(4 * time.Second)
		r.failedWith(to, ErrSource)
		if happened {
			r.none("catalog")
			require.Empty(t, r.journal)
		} else {
			r.is("catalog", SingletonActive, "a", 1, 1)
		}
	}
}

// A failed registration may have stored the spec. If it has, the source is made to forget it.
func TestASpecThatWasRefusedIsForgotten(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.holdCalls = true
	to := r.start("catalog", Leader())
	r.answerNext()
	r.source.ask(r.calls[0])
	r.pass(3 * time.Second)
	r.failedWith(to, ErrSource)
	r.calls = r.calls[1:]
	again := r.start("catalog", Leader()) // does not wait for a store that has been tidied up
	r.holdCalls = false
	r.answerNext()
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, Generation{Term: 2}, r.answered(again).Generation)

	r = newSingletonsRig(t, "a")
	r.refuse = func(c SourceCall) error {
		if c.Op == OpPutSpec {
			r.source.ask(c)
			return errStore
		}
		return nil
	}
	r.failedWith(r.start("catalog", Leader()), ErrSource)
	r.none("catalog")
	require.Empty(t, r.source.specs)
	require.Empty(t, r.journal)
}

// A call hangs. The request is answered with an error, and everything else is served meanwhile; the
// later outcome of the call has no effect.
func TestACallThatHangsIsAnError(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.holdCalls = true
	to := r.start("catalog", Leader())
	r.ask(func(to hosting.Token) Input { return Submit{Token: to, Spec: Spec{Label: "x", Type: "kept"}} })
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
	require.Equal(t, Generation{Term: 2}, o.Generation)
}

// Until the source has returned the list, requests about singletons fail, and requests about specs
// are served.
func TestAListThatHangsIsAnError(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.start("catalog", Leader())
	r.holdCalls = true
	r.boot()
	to := r.move("catalog")
	r.pass(3 * time.Second)
	r.failedWith(to, ErrSource)
	r.ask(func(to hosting.Token) Input { return Submit{Token: to, Spec: Spec{Label: "x", Type: "kept"}} })
	require.Equal(t, []string{"a"}, r.running("x"))
	require.Equal(t, []string{"a"}, r.running("catalog"))
	r.calls, r.holdCalls = nil, false
	r.pass(time.Minute)
	r.is("catalog", SingletonActive, "a", 1, 0)
}

// A spec that was stored by a late call, after it was forgotten, is forgotten again.
func TestASpecWithoutAGrantIsForgotten(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.source.specs["catalog"] = singleOf("catalog", Leader())
	r.boot()
	r.pass(time.Minute)
	r.none("catalog")
	require.Empty(t, r.source.specs)
}

// The planner does not trust a source that has forgotten its grants and ignores the floor.
func TestATermIsNeverLowerThanBefore(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	for range 3 {
		r.answered(r.start("catalog", OnNode("a")))
		r.answered(r.start("catalog", OnNode("b")))
	}
	r.is("catalog", SingletonActive, "b", 6, 0)
	r.source.terms["catalog"], r.source.ignoresFloor = 0, true
	r.failedWith(r.start("catalog", OnNode("a")), ErrSource)
	r.is("catalog", SingletonActive, "b", 6, 0)
	r.change("a", func(n *hosting.Node) {})
	r.crash("b")
	r.join(99, "b")
	r.pass(10 * time.Minute)
	r.is("catalog", SingletonActive, "b", 7, 0)
}

// Two sides of a partition share a source. Both act; of two owners the later one has the higher
// generation. Otherwise both are granted {1,0}.
func TestTwoSidesThatShareASourceAreGrantedDifferentGenerations(t *testing.T) {
	t.Parallel()
	shared := newFakeSource()
	a, b := newSingletonsRig(t, "a"), newSingletonsRig(t, "b")
	first := a.answered(a.start("catalog", Leader()))
	require.Equal(t, first.Generation, b.answered(b.start("catalog", Leader())).Generation, "sources of their own")

	a, b = newSingletonsRig(t, "a"), newSingletonsRig(t, "b")
	a.source, b.source = shared, shared
	first = a.answered(a.start("catalog", Leader()))
	second := b.answered(b.start("catalog", Leader()))
	require.True(t, first.Generation.Less(second.Generation))
	require.NotEqual(t, first.Owner, second.Owner)
	a.start("catalog", Leader())
	a.is("catalog", SingletonActive, "a", 3, 0)
}

// The grants of a label only grow, whatever is requested and whatever fails.
func TestGrantsOnlyGrow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(152, 0)) //nolint:gosec // a schedule, not a secret
	r := newSingletonsRig(t, "a:worker", "b:worker", "c:worker")
	var last Generation
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
			r.refuse = failing(SourceOp(rng.IntN(5)))
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
		g := Generation{Term: term, Seq: seq}
		require.True(t, last.Less(g), "%v after %v", g, last)
		last = g
	}
	require.Greater(t, len(r.started), 100)
}

// Where it ends in place, and the source has granted another term since, or has no number
// left, or knows of no term, it starts by a new one.
func TestARestartInPlaceThatTheSourceCannotNumberIsGrantedATerm(t *testing.T) {
	t.Parallel()
	for _, spoil := range []func(*singletonsRig){
		func(r *singletonsRig) { r.source.ask(SourceCall{Op: OpClaimTerm, Label: "catalog", Owner: "b"}) },
		func(r *singletonsRig) {
			r.source.ask(SourceCall{Op: OpClaimTerm, Label: "catalog", Owner: "b"})
			r.refuse = func(c SourceCall) error {
				if c.Op == OpClaimSeq {
					return fmt.Errorf("catalog: %w", generation.ErrOverflow)
				}
				return nil
			}
		},
		func(r *singletonsRig) {
			r.source.ask(SourceCall{Op: OpClaimTerm, Label: "catalog", Owner: "b"})
			delete(r.source.own, "catalog")
		},
	} {
		r := newSingletonsRig(t, "a", "b")
		r.start("catalog", Leader())
		spoil(r)
		r.end("a", "catalog", "")
		r.pass(time.Second)
		r.is("catalog", SingletonActive, "a", 3, 0)
	}
}

// A start that the source cannot number is granted a term, and the instance that has it.
func TestAStartThatTheSourceCannotNumberIsGrantedATerm(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.start("catalog", Leader())
	r.refuse = func(c SourceCall) error {
		if c.Op == OpClaimSeq {
			return generation.ErrOverflow
		}
		return nil
	}
	r.start("catalog", Leader())
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"catalog 1.0 a", "catalog 2.0 a"}, r.started)
}

// Requests that have waited for the source are checked again when it has answered.
func TestWhatWaitsForTheSourceIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "z", "b:worker")
	r.holdCalls = true
	r.start("catalog", Role("worker"))
	moved, stopped := r.move("catalog"), r.stop("catalog")
	r.answerNext()
	r.answerNext()
	require.Equal(t, "b", r.answered(moved).Owner)
	r.answerNext()
	require.NoError(t, r.answers[stopped].Err)
	require.Contains(t, r.answers, stopped)
	r.none("catalog")
}

// A label that both a spec and the source have is the spec's, until that is removed.
func TestASingletonWhoseLabelIsASpecsWaits(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.start("catalog", Leader())
	r.crash("a")
	r.journal = map[string]record{"catalog": {Spec: Spec{Label: "catalog", Type: "kept"}}}
	r.add(99, "b")
	r.boot()
	r.pass(time.Minute)
	require.Equal(t, []string{"b"}, r.running("catalog"))
	require.Contains(t, r.is("catalog", SingletonOwnerless, "", 1, 0).Error, "remove it")
	r.ask(func(to hosting.Token) Input { return Remove{Token: to, Label: "catalog"} })
	r.pass(time.Minute)
	r.is("catalog", SingletonActive, "b", 2, 0)
}
