package tenure

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newer is the error of a claim that the claim with that epoch refuses.
type newer uint64

func (newer) Error() string         { return "too late" }
func (n newer) NewestEpoch() uint64 { return uint64(n) }

func gen(term, seq uint64) Generation { return Generation{Term: term, Seq: seq} }

var own, child = Claim{Path: "/user/one/instance", ID: "one"}, Claim{Path: "/user/one/instance/child", ID: "child"}

func TestWithoutATenureNothingIsLimitedOrReported(t *testing.T) {
	none := Of(t.Context())
	least, below, err := none.Bounds()
	require.NoError(t, err)
	require.Zero(t, least)
	require.Zero(t, below)
	require.Equal(t, newer(7), none.Refused(own, newer(7)))
	none.Claimed(own, 7)
	none.Fenced()
	none.LeftTimers("one", time.Now())
	require.False(t, none.IsOf(""))
	require.Zero(t, none.Now())
}

func TestClaimsRaiseTheGenerationAndStayInItsTerm(t *testing.T) {
	var raised []Generation
	held := New(own.Path, gen(3, 1), Hooks{Claimed: func(_ Claim, started, now Generation) {
		require.Equal(t, gen(3, 1), started)
		raised = append(raised, now)
	}})
	under := Of(With(t.Context(), held))
	require.Same(t, held, under)
	under.Fenced()
	under.Claimed(own, 3<<32|5)
	under.Claimed(child, 3<<32|2)
	require.Equal(t, []Generation{gen(3, 1), gen(3, 5), gen(3, 5)}, raised)
	least, below, err := under.Bounds()
	require.NoError(t, err)
	require.Equal(t, []uint64{3<<32 | 5, 4 << 32}, []uint64{least, below})
	_, _, err = New(own.Path, gen(1<<32, 0), Hooks{}).Bounds()
	require.ErrorIs(t, err, ErrOverflow)
}

func TestTheFirstClaimOfAQuietInstanceMayBeRefused(t *testing.T) {
	for _, quiet := range []bool{true, false} {
		held := New(own.Path, gen(3, 1), Hooks{Quiet: quiet})
		require.Equal(t, errors.ErrUnsupported, held.Refused(own, errors.ErrUnsupported), "no later claim is to blame")
		err := held.Refused(own, newer(9<<32))
		require.Equal(t, quiet, errors.Is(err, ErrLater))
		by, failure := held.Outcome()
		require.Equal(t, gen(9, 0), by)
		require.NoError(t, failure)
		held.Claimed(own, 3<<32|2)
		require.Equal(t, newer(9<<32), held.Refused(own, newer(9<<32)), "it has claimed before")
	}
}

func TestARefusedActorOfAnInstanceEndsTheInstance(t *testing.T) {
	var failures []error
	held := New(own.Path, gen(3, 1), Hooks{Refused: func(err error) { failures = append(failures, err) }})
	require.Equal(t, ErrLater, held.Refused(child, newer(9<<32)))
	require.Equal(t, ErrLater, held.Refused(child, newer(5<<32)))
	by, failure := held.Outcome()
	require.Equal(t, gen(9, 0), by)
	require.Equal(t, []error{failure, failure}, failures, "that of the highest term counts")
	require.ErrorIs(t, failure, ErrFenced)
	require.EqualValues(t, 9<<32, Newest(failure))
	require.EqualError(t, failure, `persistence: fenced by a newer claim: "child" of /user/one/instance/child belongs to term 9`)
}

func TestAnInstanceIsKnownByItsPath(t *testing.T) {
	held := New(own.Path, gen(1, 1), Hooks{})
	require.True(t, held.IsOf(own.Path))
	require.False(t, held.IsOf(child.Path))
}

func TestTheOwnerHearsOfTimersThatAreLeft(t *testing.T) {
	left := map[string]time.Time{}
	due := time.Now()
	New(own.Path, gen(1, 1), Hooks{Left: func(id string, due time.Time) { left[id] = due }}).LeftTimers("cart", due)
	require.Equal(t, map[string]time.Time{"cart": due}, left)
}

func TestOnlyTheActorAtItsPathIsObserved(t *testing.T) {
	o := &Observer{Path: "/user/one"}
	ctx := WithObserver(t.Context(), o)
	require.Same(t, o, ObserverOf(ctx, "understudy://test/user/one"))
	require.Nil(t, ObserverOf(ctx, "understudy://test/user/one/child"))
	require.Nil(t, ObserverOf(t.Context(), "understudy://test/user/one"))
	require.Nil(t, Of(ctx), "it has no generation")
}

func TestTheErrorIsFinalAlsoWhenItIsWrapped(t *testing.T) {
	err := fmt.Errorf("append: %w", ErrFenced)
	require.ErrorIs(t, err, ErrFenced)
	var final interface{ Final() bool }
	require.True(t, errors.As(err, &final) && final.Final())
}
